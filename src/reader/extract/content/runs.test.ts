import { describe, expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { createPageContext } from '../trees/features.ts';
import { smoothRuns } from './runs.ts';

/** The smoothed probabilities of the blocks of a page, to two digits. */
function smoothed(html: string, probabilities: readonly number[]): number[] {
  const page = survey(find(parseDocument(html), 'body')!, createClassReader());
  expect(page.blocks).toHaveLength(probabilities.length);
  const { signatures, records } = createPageContext(page);
  const found = smoothRuns(page, signatures, records, Float32Array.from(probabilities));
  return [...found].map((one) => Math.round(one * 100) / 100);
}

describe('blocks in a run get one probability', () => {
  it('items of a list', () => {
    expect(smoothed('<ul><li>one<li>two<li>six</ul>', [0.9, 0.5, 0.1])).toEqual([0.5, 0.5, 0.5]);
  });

  it('two items of a list, and two rows', () => {
    expect(smoothed('<ul><li>one<li>two</ul>', [0.9, 0.1])).toEqual([0.5, 0.5]);
    expect(smoothed('<table><tr><td>one<tr><td>two</table>', [0.9, 0.1])).toEqual([0.5, 0.5]);
  });

  it('the same line of each card', () => {
    const card = '<div class="card"><h3>Tea</h3><span class="price">9</span></div>';
    expect(smoothed(card.repeat(3), [0.9, 0.2, 0.5, 0.2, 0.1, 0.2])).toEqual([0.5, 0.2, 0.5, 0.2, 0.5, 0.2]);
  });

  it('two reviews, with their paragraphs', () => {
    const review = (text: string) => `<div class="review"><h3>Tea</h3><p>${text}</p></div>`;
    const reviews =
      review('It is just as good as the one before.') + review('Ten cups of it, and still no stain anywhere.');
    expect(smoothed(reviews, [0.9, 0.9, 0.1, 0.1])).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  it('long items count more than short ones', () => {
    const [first] = smoothed('<ul><li>one two three four five six<li>two</ul>', [0.9, 0.1]);
    expect(first).toBeGreaterThan(0.5);
  });
});

describe('blocks outside runs keep their own', () => {
  it('paragraphs', () => {
    expect(smoothed('<p>one</p><p>two</p><p>six</p>', [0.9, 0.5, 0.1])).toEqual([0.9, 0.5, 0.1]);
  });

  it('items with another class', () => {
    const list = '<ul><li>one<li>two<li class="advert">six</ul>';
    expect(smoothed(list, [0.9, 0.9, 0.1])).toEqual([0.9, 0.9, 0.1]);
  });

  it('columns and two boxes', () => {
    const column = `<div class="column"><h3>${'word '.repeat(200)}</h3></div>`;
    expect(smoothed(column.repeat(3), [0.9, 0.5, 0.1])).toEqual([0.9, 0.5, 0.1]);
    expect(smoothed('<div class="a">one</div><div class="a">two</div>', [0.9, 0.1])).toEqual([0.9, 0.1]);
  });
});

it('probabilities of 0 and 1 count with finite log odds', () => {
  expect(smoothed('<ul><li>one<li>two</ul>', [1, 0])).toEqual([0.5, 0.5]);
});
