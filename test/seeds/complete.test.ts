/** Every row of the documents in this folder has a test. */
import { expect, it } from 'vitest';
import { claimedRows, SEEDS, type SeedName, seedRows, unclaimedRows } from '../../scripts/seeds.ts';

it('every row of both documents is claimed by a test', () => {
  expect(unclaimedRows()).toEqual([]);
});

it('no row is claimed twice', () => {
  const keys = claimedRows().map(({ seed, section, words }) => `${seed} ${section} ${words}`);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

it.each(Object.keys(SEEDS) as SeedName[])('the rows of %s differ from each other', (seed) => {
  const keys = seedRows(seed).map(({ section, words }) => `${section} ${words}`);
  expect(keys.length).toBeGreaterThan(50);
  expect(new Set(keys).size).toBe(keys.length);
});
