/** Helpers shared by the tests of explanations: a page with its explanation, and checks that apply to every page. */
import { expect } from 'vitest';
import { type Document, ELEMENT, type Element, following, TEXT } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { compileSelectors, selectAll } from '#html/select.ts';
import type { Explanation } from './explanation.ts';
import { NON_TEXT_ELEMENTS } from './extract/blocks/survey.ts';
import { readableText } from './extract/content/removal-log.ts';
import type { GivenOptions } from './options/options.ts';
import { renderHtml } from './render.suite.ts';

export interface Explained {
  readonly document: Document;
  readonly content: string;
  readonly explanation: Explanation;
}

export function explained(html: string, given: GivenOptions = {}): Explained {
  const { page } = renderHtml(html, { ...given, explain: true });
  return { document: parseDocument(html), content: page.content ?? '', explanation: page.explanation! };
}

export const letters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '');

export function theOne({ document }: Explained, selector: string): Element {
  const found = selectAll(document, compileSelectors(selector));
  expect(found, selector).toHaveLength(1);
  return found[0]!;
}

/** The text of an element, without scripts and similar elements. */
function readIn(element: Element): string {
  let text = '';
  for (let node = following(element, element); node; ) {
    const isSilent: boolean = node.type === ELEMENT && NON_TEXT_ELEMENTS.has(node.name);
    if (node.type === TEXT) text += node.value;
    node = following(node, element, isSilent);
  }
  return text;
}

/** Checks that each selector matches one element, and that this element contains the text of the entry. */
export function checkSelectors(page: Explained): void {
  const { removed, blocks } = page.explanation;
  for (const { selector, text, step } of removed) {
    expect(text.length).toBeLessThanOrEqual(100);
    const holder = theOne(page, selector);
    if (step === 'cut') continue;
    expect([letters(readableText(holder)), letters(readIn(holder))].join(' ')).toContain(letters(text));
  }
  for (const { selector } of blocks) theOne(page, selector);
}

/** Checks that each line of the Markdown belongs to one block. */
export function checkLines({ content, explanation }: Pick<Explained, 'content' | 'explanation'>): void {
  const lines = content.split('\n');
  const taken = new Set<number>();
  let last = 0;
  for (const { line, lines: count, text } of explanation.blocks) {
    expect(line).toBeGreaterThan(last);
    expect(count).toBeGreaterThan(0);
    last = line + count - 1;
    expect(last).toBeLessThanOrEqual(lines.length);
    for (let at = line; at <= last; at++) taken.add(at);
    expect(lines[line - 1]!.trim()).not.toBe('');
    expect(lines[last - 1]!.trim()).not.toBe('');
    expect(lines[line - 1]!.startsWith(text)).toBe(true);
  }
  for (const [at, line] of lines.entries()) {
    if (!taken.has(at + 1) && !isOurs(line)) expect(line.trim(), `line ${at + 1}`).toBe('');
  }
  expect(explanation.blocks).toHaveLength(explanation.blockCount);
}

/** Lines that do not come from an element of the page: front matter, and the title of a whole page. */
const isOurs = (line: string) =>
  line === '---' || /^(?:title|description|url|publishedTime|lang|warning): "/.test(line);
