/** Formats results as plain text (docs/reference/wire/search.md, Text answers). */

import { ownValue } from '#own-value.ts';
import { findStaleWarning } from '#reader/index.ts';
import type { Result } from './result.ts';

const LINES: readonly (readonly [label: string, value: (result: Result) => string | number | undefined])[] = [
  ['Title', ({ title }) => title],
  ['Source', ({ source }) => source],
  ['URL Source', ({ url }) => url],
  ['Image URL', ({ imageUrl }) => imageUrl],
  ['Description', ({ description }) => description],
  ['Published Time', ({ publishedTime }) => publishedTime],
  ['Image Width', ({ imageWidth }) => imageWidth],
  ['Image Height', ({ imageHeight }) => imageHeight],
  ['Date', ({ date }) => date],
  ['Favicon', ({ favicon }) => favicon],
  // The last two fields are specific to this project. The warning distinguishes a stale copy from a page that has just been read.
  ['Attribution', ({ attribution }) => attribution],
  ['Warning', ({ warning }) => findStaleWarning(warning)],
];

/** Formats all results, ending in a newline. `notice` is a line before them, which parsers of results skip. */
export const formatText = (results: readonly Result[], notice?: string): string =>
  `${notice ? `Notice: ${oneLine(notice)}\n\n` : ''}${results
    .map((result, index) => formatResult(result, `[${index + 1}]`))
    .join('\n\n')
    .trimEnd()}\n`;

function formatResult(result: Result, mark: string): string {
  const lines = LINES.flatMap(([label, value]) => {
    const text = value(result);
    return text === undefined ? [] : [`${mark} ${label}: ${oneLine(String(text))}`];
  });
  const { content, text, images, links } = result;
  const parts = [
    lines.join('\n'),
    content || text,
    images && summary(`${mark} Images:`, 'images', Object.entries(images), '!'),
    links &&
      summary(`${mark} Links/Buttons:`, 'buttons/links', Array.isArray(links) ? links : Object.entries(links), ''),
  ];
  return parts.filter(Boolean).join('\n\n');
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function summary(heading: string, what: string, entries: readonly (readonly [string, string])[], sign: string): string {
  if (!entries.length) return `${heading}\nThis page does not seem to contain any ${what}.`;
  const lines = entries.map(
    ([label, url]) =>
      `- ${sign}[${escaped(oneLine(label))}](${url.replace(/[()\s]/g, (sign) => ownValue(PERCENT, sign) ?? encodeURIComponent(sign))})`,
  );
  return [heading, ...lines].join('\n');
}

const PERCENT: Readonly<Record<string, string>> = { '(': '%28', ')': '%29' };

const escaped = (label: string) => label.replace(/[[\]\\]/g, '\\$&');
