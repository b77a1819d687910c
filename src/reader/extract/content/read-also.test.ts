/** References to other articles between the paragraphs of an article. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { FITTED_KINDS } from '../trees/page-features.ts';
import { discountReadAlso } from './read-also.ts';

const readClass = createClassReader();

function probabilityOf(html: string, kind = 'article'): number {
  const surveyed = survey(find(parseDocument(`<body>${html}`), 'body')!, readClass);
  const probabilities = new Float32Array(surveyed.blocks.length).fill(0.9);
  discountReadAlso(
    surveyed,
    Float32Array.from(FITTED_KINDS, (name) => (name === kind ? 1 : 0)),
    probabilities,
  );
  return probabilities[0]!;
}

const link = '<a href="/a">Salt in the glaze</a>';

describe('a reference to another article', () => {
  test.each([
    `Also read: ${link}`,
    `READ MORE: ${link}`,
    `Related: ${link}`,
    `<b>» Related story:</b> ${link}`,
    `Lesen Sie auch: ${link}`,
    `Le puede interesar: ${link}`,
    `PUEDES VER: ${link}`,
    `À lire aussi : ${link}`,
    `Leggi anche: ${link}`,
    `Czytaj też: ${link}`,
    `Читайте также: ${link}`,
    `Baca juga: ${link}`,
    '延伸閱讀：<a href="/a">陶窯的火與海邊的鹽</a>',
    '関連記事：<a href="/a">窯の火と海辺の塩の話</a>',
  ])('%s', (html) => {
    expect(probabilityOf(`<p>${html}</p>`)).toBeLessThan(0.1);
  });
});

describe('anything else', () => {
  test.each([
    ['a sentence', `<p>Read more about salt in ${link}.</p>`],
    ['a recommendation without a link', '<p>Recommended: dry pine for the last hours of a firing.</p>'],
    ['a long text', `<p>Also read: ${link} ${'and what the potters of the coast say about it '.repeat(4)}</p>`],
    ['mostly text', `<p>See also: the chapter on clay in the second volume of the handbook, ${link}</p>`],
  ])('%s', (_, html) => {
    expect(probabilityOf(html)).toBeCloseTo(0.9);
  });

  test('a page that is no article', () => {
    expect(probabilityOf(`<p>See also: ${link}</p>`, 'documentation')).toBeCloseTo(0.9);
  });
});
