/** The posts of a thread are kept together. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { findSignatures } from '../blocks/signatures.ts';
import { survey } from '../blocks/survey.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import type { Choice } from './choose-blocks.ts';
import { keepPosts } from './posts.ts';

const readClass = createClassReader();
const LONG =
  'The kiln takes nine hours to reach its heat, and a whole night to lose it again, which nobody likes to wait for. ';

const post = (text: string, name = 'post-text') =>
  `<div class="post"><b class="author">Ada</b><div class="${name}">${text}</div><div class="tools">Reply to this</div></div>`;

/** The texts that are kept if the first post is chosen. */
function kept(posts: readonly string[], { kind = 'forum', probability = 0.1 } = {}): string[] {
  const surveyed = survey(find(parseDocument(`<body><div>${posts.join('')}</div>`), 'body')!, readClass);
  const { blocks } = surveyed;
  const keep = Uint8Array.from(blocks, ({ text }) => (text.startsWith('First') ? 1 : 0));
  const choice: Partial<Choice> = {
    kinds: Float32Array.from(FITTED_KINDS, (name) => (name === kind ? 1 : 0)),
    probabilities: new Float32Array(blocks.length).fill(probability),
    signatures: findSignatures(surveyed),
  };
  keepPosts(surveyed, keep, choice as Choice);
  return blocks.filter((_, at) => keep[at]).map(({ text }) => text.split(' ')[0]!);
}

const THREAD = [post(`First ${LONG.repeat(4)}`), post(`Second ${LONG}`), post(`Third ${LONG}`), post('Fourth')];

describe('posts', () => {
  test('are kept with the first one, without the names and controls around them', () => {
    expect(kept(THREAD)).toEqual(['First', 'Second', 'Third', 'Fourth']);
  });

  test('are judged for themselves if the structure is another', () => {
    expect(kept([...THREAD, post(`Advert ${LONG}`, 'promotion')])).not.toContain('Advert');
  });

  test.each([
    ['the page is no thread', THREAD, { kind: 'article' }],
    ['they are certain not to be content', THREAD, { probability: 0.01 }],
    ['most of them were not chosen', [post(`First ${LONG}`), ...THREAD.slice(1).flatMap((one) => [one, one, one])], {}],
    ['there are only two', THREAD.slice(0, 2), {}],
  ])('are not kept together if %s', (_, posts, options) => {
    expect(kept(posts, options)).toEqual(['First']);
  });
});
