/** Creates the snippet of a result: the part of a passage that contains most of the query's terms, as one line. */
import { markdownToPlainText } from '../text/plain-text.ts';
import { findTerms } from '../text/terms.ts';

const LENGTH_UNITS = 260;
/** Weight of a repeated occurrence of a term; its first occurrence has weight 1. */
const REPEAT_VALUE = 0.2;
const LEAD_UNITS = 40;

/** Empty for a passage without words. If the passage contains none of the terms, the snippet is its beginning. */
export function makeSnippet(markdown: string, terms: ReadonlySet<string>, language: string | undefined): string {
  const text = markdownToPlainText(withoutHeadings(markdown)).replace(/\s+/g, ' ').trim();
  if (text.length <= LENGTH_UNITS) return text;
  const from = startOf(text, [...findTerms(text, terms, language)]);
  const end = Math.min(text.length, wordEnd(text, from + LENGTH_UNITS));
  return `${from > 0 ? '… ' : ''}${text.slice(from, end).trim()}${end < text.length ? ' …' : ''}`;
}

/** Drops headings, which results show separately, unless the passage contains nothing else. */
function withoutHeadings(markdown: string): string {
  const rest = markdown.replace(/^ {0,3}#{1,6}[ \t].*$/gm, '');
  return rest.trim() === '' ? markdown : rest;
}

type Place = ReturnType<typeof findTerms> extends Generator<infer P> ? P : never;

/** Returns the start of the window that contains the most distinct terms. */
function startOf(text: string, places: readonly Place[]): number {
  let best = 0;
  let first = 0;
  const inside = new Map<string, number>();
  let worth = 0;
  let start = 0;
  const change = (term: string, by: 1 | -1) => {
    const before = inside.get(term) ?? 0;
    const value = (count: number) => (count > 0 ? 1 + REPEAT_VALUE * Math.min(2, count - 1) : 0);
    worth += value(before + by) - value(before);
    inside.set(term, before + by);
  };
  for (const place of places) {
    change(place.term, 1);
    while (place.end - places[first]!.start > LENGTH_UNITS - LEAD_UNITS) change(places[first++]!.term, -1);
    if (worth > best + 1e-9) {
      best = worth;
      start = places[first]!.start;
    }
  }
  return best > 0 ? sentenceStart(text, start) : 0;
}

/** Returns the start of the sentence if it is near, otherwise the start of a word. */
function sentenceStart(text: string, place: number): number {
  const from = Math.max(0, place - LEAD_UNITS);
  if (from === 0) return 0;
  const lead = text.slice(from, place);
  const sentence = Math.max(lead.lastIndexOf('. '), lead.lastIndexOf('? '), lead.lastIndexOf('! '));
  if (sentence >= 0) return from + sentence + 2;
  const space = lead.indexOf(' ');
  return space >= 0 ? from + space + 1 : place;
}

/** Moves the end back to the end of a word, unless that word is long. */
function wordEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(' ', end);
  return space > end - LEAD_UNITS ? space : end;
}
