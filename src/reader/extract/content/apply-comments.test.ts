import { expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { applyComments } from './apply-comments.ts';

const SENTENCE = 'The harbour office counted the boats, and found two more than had left.';

/** Whether comments with this number of sentences stay below a text of six, at this probability of every block. */
function keepsComments(sentences: number, probability: number): boolean {
  const html = `<main><h1>Boats</h1><p>${SENTENCE.repeat(6)}</p></main>
    <div class="comments">${`<p>${SENTENCE}</p>`.repeat(sentences)}</div>`;
  const surveyed = survey(find(parseDocument(html), 'body')!, createClassReader());
  const keep = new Uint8Array(surveyed.blocks.length).fill(1);
  const probabilities = new Float32Array(keep.length).fill(probability);
  applyComments(surveyed, keep, undefined, () => ({ isThread: false, mayHaveComments: true, probabilities }));
  return keep.at(-1) === 1;
}

test('comments below an article are removed', () => {
  expect(keepsComments(3, 0.95)).toBe(false);
  expect(keepsComments(20, 0.6)).toBe(false);
});

test('comments that are most of the choice stay if they are surely content', () => {
  expect(keepsComments(20, 0.95)).toBe(true);
});

test('comments that are a section each are removed together, or stay together', () => {
  const post = (number: number) => `<article class="comment"><p>${number} ${SENTENCE}</p></article>`;
  const kept = (html: string) => {
    const surveyed = survey(find(parseDocument(html), 'body')!, createClassReader());
    const keep = new Uint8Array(surveyed.blocks.length).fill(1);
    const probabilities = new Float32Array(keep.length).fill(0.6);
    applyComments(surveyed, keep, undefined, () => ({ isThread: false, mayHaveComments: true, probabilities }));
    return surveyed.blocks.filter((_, at) => keep[at]).length;
  };
  const posts = [1, 2, 3, 4].map(post).join('');
  expect(kept(`<main><h1>Boats</h1><p>${SENTENCE.repeat(6)}</p>${posts}</main>`)).toBe(2);
  expect(kept(`<main><h1>Boats</h1>${posts}</main>`)).toBe(5);
});
