import { expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { chooseBlocks } from '../content/choose-blocks.ts';
import { FEATURES } from './features.ts';
import { featureInWords, prepareAttribution, signsAgainst } from './signs.ts';
import { parseTrees } from './trees.ts';

test('every feature has a description', () => {
  const bare = FEATURES.filter((name) => featureInWords(name) === name);
  expect(bare).toEqual([]);
});

test('describes features of a block, but not those shared by all blocks of a page', () => {
  expect(featureInWords('part.nav')).toBe('whether it is in a box named like “nav”');
  expect(featureInWords('in.footer')).toBe('whether it is in <footer>');
  expect(featureInWords('pageWords')).toBeNull();
});

/** A row of features; unnamed ones are 0. */
const rowOf = (values: Record<string, number>) => Float32Array.from(FEATURES, (name) => values[name] ?? 0);

test('orders signs by their negative contribution to the score', () => {
  const trees = parseTrees(
    '(linkDensity<0.5 1 -1)\n(in.nav<0.1 0.2 (words<2 -0.4 -0.6))\n(commas<1 -0.1 0.1)\n(pageWords<5 -9 9)',
    FEATURES,
  );
  const signs = (values: Record<string, number>) => signsAgainst(rowOf(values), prepareAttribution(trees));
  expect(signs({ linkDensity: 1, 'in.nav': 0.2, words: 3, commas: 2 })).toEqual([
    'how much of it is links',
    'whether it is in <nav>',
    'its length',
  ]);
  expect(signs({ commas: 2 })).toEqual([]);
  expect(signs({})).toEqual(['its punctuation']);
});

test('finds three signs against a legal notice with the fitted trees', () => {
  const prose =
    '<p>There is a sentence here, and another one. It goes on for a while, so that it reads like prose.</p>';
  const html = `<main><h1>Pots</h1>${prose.repeat(6)}</main><footer><p>All rights reserved</p></footer>`;
  const surveyed = survey(parseDocument(html), createClassReader());
  const facts = {
    title: 'Pots',
    types: new Set<string>(),
    path: '/',
    pathAndQuery: '/',
    isRoot: true,
    hasUrl: true,
    urlParts: 0,
    urlDepth: 0,
  };
  const { featuresOf } = chooseBlocks(surveyed, facts);
  expect(signsAgainst(featuresOf(surveyed.blocks.length - 1))).toHaveLength(3);
});
