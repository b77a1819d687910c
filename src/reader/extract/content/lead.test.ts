/** The lead of an article stays although its probability is below the threshold. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';
import { keepLead } from './lead.ts';

const TEXT =
  'The kiln takes nine hours to reach its heat, and a whole night to lose it again, and nobody opens the door before morning, however much they want to see the glaze.';
const LEAD = 'A potter near the coast fires her kiln with driftwood, and the salt shows in the glaze.';
const readClass = createClassReader();

/** Whether the block with `lead` is kept, if its probability is `probability` and the threshold is 0.6. */
function isKept(html: string, { probability = 0.45, kind = 'article' } = {}): boolean {
  const surveyed = survey(find(parseDocument(html), 'body')!, readClass);
  const size = surveyed.blocks.length;
  const at = surveyed.blocks.findIndex(({ text }) => text.startsWith('A potter'));
  const keep = new Uint8Array(size);
  keep[surveyed.blocks.findIndex(({ text }) => text === TEXT)] = 1;
  const kinds = Float32Array.from(FITTED_KINDS, (name) => (name === kind ? 1 : 0));
  const probabilities = new Float32Array(size).fill(probability);
  const choice: Partial<Choice> = { kinds, probabilities, threshold: 0.6 };
  keepLead(surveyed, keep, new Uint8Array(surveyed.elements.length), choice as Choice);
  expect(keep.reduce((sum, one) => sum + one, 0)).toBe(keep[at] ? 2 : 1);
  return keep[at] === 1;
}

const page = (between: string, title = '<h1>Driftwood</h1>') =>
  `<body><article>${title}${between}<p>${TEXT}</p></article>`;

describe('a summary before the text of an article', () => {
  test('stays', () => {
    expect(isKept(page(`<p>${LEAD}</p>`))).toBe(true);
    expect(isKept(page(`<p>By Ada Kiln</p><div class="intro">${LEAD}</div><p>1 May</p>`))).toBe(true);
  });

  test.each([
    ['its probability is low', page(`<p>${LEAD}</p>`), { probability: 0.3 }],
    ['the page is a list', page(`<p>${LEAD}</p>`), { kind: 'listing' }],
    ['there is no title before it', page(`<p>${LEAD}</p>`, ''), {}],
    ['it is no sentence', page(`<p>${LEAD.slice(0, -1)}</p>`), {}],
    ['it is a caption', page(`<figure><figcaption>${LEAD}</figcaption></figure>`), {}],
    ['it consists of links', page(`<p><a href="/a">${LEAD}</a></p>`), {}],
    ['it is in a part for subscriptions', page(`<div class="newsletter"><p>${LEAD}</p></div>`), {}],
  ])('goes if %s', (_, html, options) => {
    expect(isKept(html, options)).toBe(false);
  });
});
