import { expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { countLeftOut } from './left-out.ts';
import type { Selection } from './select-content.ts';

const words = (count: number) => 'word '.repeat(count);

/** Counts what is left out if all paragraphs with the class `kept` are chosen. */
function leftOut(body: string, comments?: Pick<NonNullable<Selection['comments']>, 'onRequest'>) {
  const surveyed = survey(find(parseDocument(body), 'body')!, createClassReader());
  const names = surveyed.blocks.map(({ owner }) => surveyed.classTexts[surveyed.classes[owner]!]);
  const keep = Uint8Array.from(names, (name) => (name === 'kept' ? 1 : 0));
  const removed = Uint8Array.from(names, (name) => (name === 'remark' ? 1 : 0));
  return countLeftOut(surveyed, {
    keep,
    confidence: 1,
    source: 'main',
    choice: null,
    ...(comments && { comments: { ...comments, removed, rule: '' } }),
  });
}

const kept = `<p class="kept">${words(150)}</p>`.repeat(2);
const other = (count: number) => `<p>${words(count)}</p>`;

it('counts words that were left out of the smallest element with most of the content', () => {
  expect(leftOut(`<div>${kept}${other(250)}</div>${other(900)}`)).toEqual({ words: 250, comments: 0 });
  expect(leftOut(`<div><div>${kept}</div>${other(250)}</div>`)).toBeNull();
});

it('returns null for a small share, for few words, and without content', () => {
  expect(leftOut(`<div>${kept}${kept}${other(250)}</div>`)).toBeNull();
  expect(leftOut(`<div><p class="kept">${words(50)}</p>${other(150)}</div>`)).toBeNull();
  expect(leftOut(`<div>${other(900)}</div>`)).toBeNull();
});

it('does not count boilerplate that landmarks mark', () => {
  expect(leftOut(`<div>${kept}<nav>${other(400)}</nav></div>`)).toBeNull();
});

it('counts comments unless the caller excluded them', () => {
  const html = `<div>${kept}${other(210)}<p class="remark">${words(60)}</p></div>`;
  expect(leftOut(html, { onRequest: false })).toEqual({ words: 270, comments: 60 });
  expect(leftOut(html, { onRequest: true })).toEqual({ words: 210, comments: 0 });
});
