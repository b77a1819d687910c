/** Code: inline spans, and fenced blocks with their language. */
import { attribute, type Child, ELEMENT, type Element, find, following, type Node, TEXT, textOf } from '#html/node.ts';
import { resolveUrl } from '../../extract/content/links.ts';
import { codeLanguageOf, onlyCodeChild } from '../code-language.ts';
import { codeText } from '../code-text.ts';
import { isBlank } from '../inline.ts';
import { type ConversionState, type EnterHandler, SKIP } from '../state.ts';
import { isSafeLink } from '../url.ts';
import { anchor } from './link.ts';

export const pre: EnterHandler = (state, element) => {
  const content = state.clean(codeText(element));
  if (isNumberColumn(element, content)) return SKIP;
  const language = codeLanguageOf(element);
  // A single line in `pre > code` becomes a span (docs/reference/wire/reader.md, Markdown). It becomes a block if the
  // pre is the only content of its block, or if the line ends in a line break.
  if (language === '' && !content.includes('\n') && onlyCodeChild(element)) writeSpan(state, content);
  else writeBlock(state, content, language);
  return SKIP;
};

const NUMBERS = /^\s*\d+(?:\s+\d+)+\s*$/;

/** Whether the pre contains only the numbers of the lines in the pre of the next cell, one after the other. */
function isNumberColumn(element: Element, content: string): boolean {
  const cell = element.parent;
  if (cell?.type !== ELEMENT || cell.name !== 'td' || !NUMBERS.test(content)) return false;
  const beside = cell.next?.type === ELEMENT ? find(cell.next, 'pre') : null;
  if (!beside) return false;
  const numbers = content.trim().split(/\s+/).map(Number);
  const areConsecutive = numbers.every((number, at) => number === numbers[0]! + at);
  // The first line break after a start tag is not in the tree.
  return areConsecutive && Math.abs(linesOf(content) - linesOf(textOf(beside))) <= 1;
}

const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** Code without a pre element: the lines of a viewer, in a table or in divisions. */
export const codeLines: EnterHandler = (state, element) => {
  writeBlock(state, state.clean(codeText(element)), codeLanguageOf(element));
  return SKIP;
};

export const code: EnterHandler = (state, element) => {
  const content = state.clean(codeText(element));
  if (state.singleLine === 0 && isAlone(element)) {
    const language = codeLanguageOf(element);
    if (language !== '' || content.trim().includes('\n')) {
      writeBlock(state, content, language);
      return SKIP;
    }
  }
  const link = soleLink(element);
  if (link && !state.inline.isOpen('link')) {
    const leave = anchor(state, link);
    if (leave !== SKIP) state.inline.codeSpan(content);
    if (leave !== SKIP) leave?.(state, link);
  } else {
    state.inline.codeSpan(content);
    countAnchors(state, element);
  }
  return SKIP;
};

function writeSpan(state: ConversionState, content: string): void {
  state.flush();
  state.inline.codeSpan(content);
  state.flush();
}

/** Writes a fenced code block, or a span if everything must be on a single line. */
function writeBlock(state: ConversionState, content: string, language: string): void {
  if (state.singleLine > 0) {
    writeSpan(state, content);
    return;
  }
  state.flush();
  if (isBlank(content)) return;
  let fence = '```';
  for (const { 0: run } of content.matchAll(/`{3,}/g))
    if (run.length >= fence.length) fence = '`'.repeat(run.length + 1);
  // Multi-line code gets a blank line before it even in tight lists, because otherwise some parsers would drop its line
  // breaks.
  state.blocks.announce(
    'code',
    state.blocks.previous === 'text' && content.trimEnd().includes('\n') ? true : undefined,
  );
  const end = content.endsWith('\n') ? '' : '\n';
  state.blocks.write(`${fence}${language}\n${content}${end}${fence}`);
}

const isNothing = (node: Child): boolean => (node.type === TEXT ? isBlank(node.value) : node.type !== ELEMENT);

/** Whether a block contains only this element. */
function isAlone(element: Element): boolean {
  const { parent } = element;
  if (
    !parent ||
    (parent.type === ELEMENT && !/^(?:div|p|section|figure|article|body|li|td|dd|blockquote)$/.test(parent.name))
  ) {
    return false;
  }
  for (let node = element.prev; node; node = node.prev) if (!isNothing(node)) return false;
  for (let node = element.next; node; node = node.next) if (!isNothing(node)) return false;
  return true;
}

/** The link that contains the whole text of the code span, or null. */
function soleLink(element: Element): Element | null {
  const { first } = element;
  if (!first || first.next || first.type !== ELEMENT || first.name !== 'a') return null;
  const url = resolveUrl(attribute(first, 'href') ?? '', 'http://localhost/');
  return attribute(first, 'href') !== null && url !== null && isSafeLink(url) ? first : null;
}

/** Links inside code are written as text, but are still numbered. */
function countAnchors(state: ConversionState, element: Element): void {
  for (let node: Node | null = following(element, element); node; node = following(node, element)) {
    if (node.type === ELEMENT && node.name === 'a' && attribute(node, 'href') !== null) state.anchors += 1;
  }
}
