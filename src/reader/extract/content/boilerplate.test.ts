/** Landmarks and names that mark boilerplate, and callouts that only look like it. */
import { expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { findBoilerplate, keepOutsideBoilerplate } from './boilerplate.ts';

const readClass = createClassReader();

function isKept(html: string): boolean {
  const surveyed = survey(find(parseDocument(`<body><p>Kilns</p>${html}`), 'body')!, readClass);
  const keep = keepOutsideBoilerplate(surveyed, findBoilerplate(surveyed, true));
  return surveyed.blocks.some(({ text }, at) => keep[at] && text === 'Mind the heat.');
}

test.each([
  '<main><aside class="starlight-aside starlight-aside--caution"><p>Mind the heat.</p></aside></main>',
  '<article><div class="note" role="note"><p>Mind the heat.</p></div></article>',
])('a callout inside the content is none: %s', (html) => expect(isKept(html)).toBe(true));

test.each([
  '<aside class="note"><p>Mind the heat.</p></aside>',
  '<div role="note"><p>Mind the heat.</p></div>',
  '<main><aside class="related"><p>Mind the heat.</p></aside></main>',
  '<main><aside><p>Mind the heat.</p><a href="/a">All our kilns and what they cost</a></aside></main>',
])('other asides and notes are: %s', (html) => expect(isKept(html)).toBe(false));
