import { expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { createTokenModel, hashOf, parseTokenModel, type TokenKind, writeTokenModel } from './token-model.ts';
import { createTokenWriter, scoreTokens, TOKEN_FEATURES } from './token-scores.ts';

const ROWS: readonly (readonly [TokenKind, string, number])[] = [
  ['own', 'teaser', -1],
  ['own', 'card', -0.5],
  ['around', 'main', 2],
  ['word', 'share', -3],
  ['pair', 'read more', -4],
  ['first', 'read', -0.25],
];

const surveyOf = (html: string) => survey(find(parseDocument(html), 'body')!, createClassReader());

it('is read as it was written', () => {
  const model = parseTokenModel(writeTokenModel(0.125, ROWS));
  expect(model.bias).toBe(0.125);
  for (const [kind, token, weight] of ROWS) expect(model.weights[kind].get(hashOf(kind, token))).toBe(weight);
  expect(model.weights.word.get(hashOf('word', 'read'))).toBe(0);
});

it('leaves out weights that round to zero', () => {
  expect(writeTokenModel(0, [['own', 'nav', 0.004]])).toBe('0.000');
});

it('finds every weight of a large table', () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => ['word', `w${at}`, at + 1] as const);
  const { weights } = createTokenModel(0, rows);
  for (const [kind, token, weight] of rows) expect(weights.word.get(hashOf(kind, token))).toBe(weight);
});

it('scores blocks by the names around them and by short texts', () => {
  const page = surveyOf(
    '<main><div class="card"><p class="teaser">Tea</p></div><p>Read more</p><p>Share</p></main><p>Tea</p>',
  );
  const { own, around, text } = scoreTokens(page, createTokenModel(1, ROWS));
  expect(page.blocks.map((block) => block.text)).toEqual(['Tea', 'Read more', 'Share', 'Tea']);
  expect([...own]).toEqual([-1.5, 0, 0, 0]);
  expect([...around]).toEqual([3, 3, 3, 1]);
  expect([...text]).toEqual([0, -4.25, -3, 0]);
});

it('reads no words of long texts', () => {
  const page = surveyOf(`<p>Share ${'and drink green tea '.repeat(4)}</p>`);
  expect([...scoreTokens(page, createTokenModel(0, ROWS)).text]).toEqual([0]);
});

it('writes the scores of a block and the means of the boxes around it', () => {
  const page = surveyOf('<main><div><p>Share</p><p>Tea</p></div></main>');
  const write = createTokenWriter(page, scoreTokens(page, createTokenModel(0, ROWS)));
  const row = new Float32Array(TOKEN_FEATURES.length);
  expect(write(row, 0, 0)).toBe(TOKEN_FEATURES.length);
  expect(Object.fromEntries(TOKEN_FEATURES.map((name, at) => [name, row[at]]))).toEqual({
    tokens: -1,
    'tokens.own': 0,
    'tokens.around': 2,
    'tokens.text': -3,
    'tokens.box': 0.5,
    'tokens.outer': 0.5,
  });
});
