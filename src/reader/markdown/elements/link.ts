/** Links, in the four link styles, and the references to footnotes. */
import { attribute, ELEMENT, type Element, find, following, type Node, TEXT } from '#html/node.ts';
import { resolveUrl } from '../../extract/content/links.ts';
import { citation } from '../citations.ts';
import { fragmentOf, isBacklink } from '../footnotes.ts';
import type { Mark } from '../inline.ts';
import { withoutControlCharacters } from '../one-line.ts';
import { shortText } from '../page-tools.ts';
import { type ConversionState, type EnterHandler, type LeaveHandler, SKIP } from '../state.ts';
import { encodeDestination, isSafeLink, linkTitle } from '../url.ts';
import { BLOCK_ELEMENTS } from './block-elements.ts';

const leaveLink: LeaveHandler = (state) => state.inline.close();

export const anchor: EnterHandler = (state, element) => {
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
  const shouldOpen = linkPlacement(state, element);
  if (retainLinks === 'gpt-oss') {
    if (/^mailto:/i.test(url)) return null;
    state.inline.open(citationMark(state, url, shouldOpen));
  } else if (linkStyle === 'discarded') return null;
  else state.inline.open(linkMark(state, element, url, shouldOpen));
  return leaveLink;
};

/** Records the link when it is first written. */
function shown(state: ConversionState, url: string, id?: number): (label: string) => void {
  let isRecorded = false;
  return (label) => {
    if (isRecorded) return;
    isRecorded = true;
    state.links.push(id === undefined ? { text: label, url } : { id, text: label, url });
  };
}

function citationMark(state: ConversionState, url: string, shouldOpen: Mark['shouldOpen']): Mark {
  const id = state.anchors;
  return {
    kind: 'link',
    name: 'a',
    ...citation(id, url, state.pageHost),
    shouldOpen,
    onWritten: shown(state, url, id),
  };
}

function linkMark(state: ConversionState, element: Element, url: string, shouldOpen: Mark['shouldOpen']): Mark {
  const { linkStyle, linkReferenceStyle } = state.options;
  const destination = encodeDestination(withoutControlCharacters(url));
  const destinationAndTitle = destination + state.clean(linkTitle(attribute(element, 'title')));
  const record = shown(state, url);
  if (linkStyle !== 'referenced')
    return { kind: 'link', name: 'a', open: '[', close: `](${destinationAndTitle})`, shouldOpen, onWritten: record };
  if (linkReferenceStyle === 'collapsed' || linkReferenceStyle === 'shortcut') {
    const close = linkReferenceStyle === 'collapsed' ? '][]' : ']';
    const onWritten = (label: string) => {
      record(label);
      state.definitions.push(`[${label}]: ${destinationAndTitle}`);
    };
    return { kind: 'link', name: 'a', open: '[', close, shouldOpen, onWritten };
  }
  return numberedMark(state, destinationAndTitle, record, shouldOpen);
}

/** `[text][1]`; the number is assigned when the link is actually written. */
function numberedMark(
  state: ConversionState,
  destinationAndTitle: string,
  record: (label: string) => void,
  shouldOpen: Mark['shouldOpen'],
): Mark {
  const number = state.nextReference + 1;
  const take = () => {
    if (shouldOpen && !shouldOpen()) return false;
    state.nextReference = number;
    return true;
  };
  const onWritten = (label: string) => {
    record(label);
    if (state.options.linkReferenceStyle === 'full') state.definitions.push(`[${number}]: ${destinationAndTitle}`);
  };
  return { kind: 'link', name: 'a', open: '[', close: `][${number}]`, shouldOpen: take, onWritten };
}

/**
 * Decides where to write a link around blocks. It is written only once: around the heading among them, else around the
 * first block with content. Undefined for a link within a line.
 */
function linkPlacement(state: ConversionState, element: Element): Mark['shouldOpen'] {
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
    if (BLOCK_ELEMENTS.has(node.name)) found = 'blocks';
  }
  return found;
}

function hasText(element: Element): boolean {
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type === TEXT && /\S/.test(node.value)) return true;
  }
  return false;
}

const SIGNS = /^(?:[\s#¶§◆🔗⚓]|\ufe0f|\u200b)*$/u;
const PERMALINK_CLASSES =
  /(?:^|\s)(?:headerlink|header-?(?:anchor|link)|heading-?(?:anchor|link)|hash-link|sl-anchor-link|anchor(?:-?link|js-link)?|permalink|direct-link)(?:\s|$)/i;
const PERMALINK_WORDS = /^(?:permalink|permanent link|direct link|link|anchor|section titled\b.*)$/i;

/**
 * Whether the link only leads to the place where it stands: the symbol next to a heading, a definition or a caption,
 * or a pilcrow.
 */
function isPermalink(state: ConversionState, element: Element, href: string): boolean {
  if (fragmentOf(href, state.options.pageUrl) === null) return false;
  const text = shortText(element);
  const isSign = SIGNS.test(text) && (text !== '' || !hasText(element));
  if (state.heading > 0 && isSign) return find(element, 'img') === null;
  if (text === '¶') return true;
  const isNamed = PERMALINK_CLASSES.test(attribute(element, 'class') ?? '');
  return isNamed && (isSign || PERMALINK_WORDS.test(text));
}

const isInNote = (state: ConversionState, element: Element): boolean =>
  state.openFootnotes > 0 && isBacklink(element, state.options.pageUrl, state.footnotes);
