/** Links, in the four link styles, and the references to footnotes. */
import { attribute, ELEMENT, type Element, following, type Node, TEXT } from '#html/node.ts';
import { resolveUrl } from '../../extract/content/links.ts';
import { citation } from '../citations.ts';
import { fragmentOf, isBacklink } from '../footnotes.ts';
import type { Mark } from '../inline.ts';
import { withoutControls } from '../one-line.ts';
import { type Enter, type Leave, SKIP, type State } from '../state.ts';
import { isSafeLink, linkTitle, safeDestination } from '../url.ts';
import { BLOCK_NAMES } from './names.ts';

const leaveLink: Leave = (state) => state.inline.close();

export const anchor: Enter = (state, element) => {
  const href = attribute(element, 'href');
  if (href === null) return null;
  state.anchors += 1;
  const label = state.footnotes.references.get(element);
  if (label !== undefined) {
    state.inline.raw(`[^${label}]`);
    return SKIP;
  }
  if (isPermalink(state, element, href) || isInNote(state, element)) return SKIP;
  const { retainLinks, linkStyle, baseUrl } = state.options;
  if (retainLinks === 'none') return SKIP;
  if (retainLinks === 'text' || state.inline.isOpen('link')) return null;
  const url = resolveUrl(href, baseUrl);
  if (url === null || !isSafeLink(url)) return null;
  const where = whereToLink(state, element);
  if (retainLinks === 'gpt-oss') {
    if (/^mailto:/i.test(url)) return null;
    state.inline.open(citedMark(state, url, where));
  } else if (linkStyle === 'discarded') return null;
  else state.inline.open(linkMark(state, element, url, where));
  return leaveLink;
};

/** Records the link when it is first written. */
function shown(state: State, url: string, id?: number): (label: string) => void {
  let isRecorded = false;
  return (label) => {
    if (isRecorded) return;
    isRecorded = true;
    state.links.push(id === undefined ? { text: label, url } : { id, text: label, url });
  };
}

function citedMark(state: State, url: string, wanted: Mark['wanted']): Mark {
  const id = state.anchors;
  return { kind: 'link', name: 'a', ...citation(id, url, state.pageHost), wanted, written: shown(state, url, id) };
}

function linkMark(state: State, element: Element, url: string, wanted: Mark['wanted']): Mark {
  const { linkStyle, linkReferenceStyle } = state.options;
  const destination = safeDestination(withoutControls(url));
  const address = destination + state.clean(linkTitle(attribute(element, 'title')));
  const record = shown(state, url);
  if (linkStyle !== 'referenced')
    return { kind: 'link', name: 'a', open: '[', close: `](${address})`, wanted, written: record };
  if (linkReferenceStyle === 'collapsed' || linkReferenceStyle === 'shortcut') {
    const close = linkReferenceStyle === 'collapsed' ? '][]' : ']';
    const written = (label: string) => {
      record(label);
      state.definitions.push(`[${label}]: ${address}`);
    };
    return { kind: 'link', name: 'a', open: '[', close, wanted, written };
  }
  return numberedMark(state, address, record, wanted);
}

/** `[text][1]`; the number is assigned when the link is actually written. */
function numberedMark(state: State, address: string, record: (label: string) => void, wanted: Mark['wanted']): Mark {
  const number = state.nextReference + 1;
  const take = () => {
    if (wanted && !wanted()) return false;
    state.nextReference = number;
    return true;
  };
  const written = (label: string) => {
    record(label);
    if (state.options.linkReferenceStyle === 'full') state.definitions.push(`[${number}]: ${address}`);
  };
  return { kind: 'link', name: 'a', open: '[', close: `][${number}]`, wanted: take, written };
}

/**
 * Decides where to write a link around blocks. It is written once: around the heading among them, else around the
 * first block with content. Undefined for a link within a line.
 */
function whereToLink(state: State, element: Element): Mark['wanted'] {
  if (state.singleLine > 0) return undefined;
  const around = blocksInside(element);
  if (around === 'none') return undefined;
  let used = false;
  return () => {
    if (used || (around === 'heading' && state.heading === 0)) return false;
    used = true;
    return true;
  };
}

function blocksInside(element: Element): 'none' | 'blocks' | 'heading' {
  let found: 'none' | 'blocks' = 'none';
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type !== ELEMENT) continue;
    if (/^h[1-6]$/.test(node.name)) return hasText(node) ? 'heading' : 'blocks';
    if (BLOCK_NAMES.has(node.name)) found = 'blocks';
  }
  return found;
}

function hasText(element: Element): boolean {
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT && /\S/.test(node.value)) return true;
  }
  return false;
}

const SIGNS = /^(?:[\s#¶§🔗⚓]|\ufe0f|\u200b)*$/u;

/** Whether the link is the permalink sign beside a heading. */
function isPermalink(state: State, element: Element, href: string): boolean {
  if (state.heading === 0 || fragmentOf(href, state.options.pageUrl) === null) return false;
  const only = element.first;
  if (!only) return true;
  return only.type === TEXT && !only.next && SIGNS.test(only.value);
}

const isInNote = (state: State, element: Element): boolean =>
  state.openNotes > 0 && isBacklink(element, state.options.pageUrl, state.footnotes);
