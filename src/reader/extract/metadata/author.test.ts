import { describe, expect, test } from 'vitest';
import { findAuthorNames, looksLikeName, type NameStyle } from './author.ts';
import { createSiteNames } from './site-name.ts';

const site = createSiteNames(['Clay House'], 'https://www.clay.example/');
const people = (text: string, style?: NameStyle) => findAuthorNames([text], site, style).people;

describe('names in a byline', () => {
  test.each([
    ['Ada Reyes', ['Ada Reyes']],
    ['By Ada Reyes', ['Ada Reyes']],
    ['by: Ada Reyes and Ben Okafor', ['Ada Reyes', 'Ben Okafor']],
    ['Von Jörg Wendlandt', ['Jörg Wendlandt']],
    ['Par Hélène Aubry et Luc Petit', ['Hélène Aubry', 'Luc Petit']],
    ['作者：山田太郎', ['山田太郎']],
    ['Ada Reyes, Ben Okafor & Chen Bo', ['Ada Reyes', 'Ben Okafor', 'Chen Bo']],
    ['Ada Reyes, Ph.D.', ['Ada Reyes']],
    ['ADA REYES, AP Pottery Writer', ['ADA REYES']],
    ['Ada Reyes, Clay House', ['Ada Reyes']],
    ['Ada (Addie) Reyes', ['Ada Reyes']],
    ['Ada Reyes | Clay Weekly', ['Ada Reyes']],
    ['Ada Reyes, ada reyes', ['Ada Reyes']],
    ['mudlark77', ['mudlark77']],
    ['https://clay.example/ada', []],
    ['ada@clay.example', []],
    ['@ada', []],
    ['admin', []],
    ['Editorial Staff', []],
    ['Marketing and Event Coordinator', []],
    ['Clay House', []],
    ['clay.example', []],
    ['2024', []],
    ['x'.repeat(100_000), []],
    ['', []],
  ])('%s', (text, names) => expect(people(text)).toEqual(names));

  test('reverses a family name before a comma, in sources that use this form', () => {
    expect(people('Nakamura, Yui', { inverted: true })).toEqual(['Yui Nakamura']);
    expect(people('Yui Nakamura, Declan Byrne, Ann Lee', { inverted: true })).toHaveLength(3);
    expect(people('Yui Nakamura, PhD', { inverted: true })).toEqual(['Yui Nakamura']);
  });

  test('ends the name where the line continues', () => {
    const line = { isText: true };
    expect(people('Ada Reyes 39122 silver badges', line)).toEqual(['Ada Reyes']);
    expect(people('Ada Reyes in Faenza', line)).toEqual(['Ada Reyes']);
    expect(people('Ada Reyes - Updated today', line)).toEqual(['Ada Reyes']);
  });

  test('separates organizations from people, lists each name once and at most twenty', () => {
    expect(findAuthorNames(['Kiln Institute', 'Ada Reyes'], site)).toEqual({
      people: ['Ada Reyes'],
      organizations: ['Kiln Institute'],
    });
    const many = Array.from({ length: 40 }, (_, at) => `Person ${at}`);
    expect(findAuthorNames(many, site).people).toHaveLength(20);
  });
});

test('recognizes names in free text', () => {
  for (const name of ['Ada Reyes', 'Ludwig van der Ven', 'J. R. Clay', '山田太郎', "Declan O'Brien"]) {
    expect(looksLikeName(name), name).toBe(true);
  }
  for (const text of ['Ada', 'the potter', 'Kilns: a guide', 'Read more!', 'One Two Three Four Five Six']) {
    expect(looksLikeName(text), text).toBe(false);
  }
});
