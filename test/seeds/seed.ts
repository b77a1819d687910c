/**
 * Tests of the rows of the two documents in this folder. `npm run docs` reads the calls below from the source and
 * makes `docs/reference/conformance.md` of them, so section, words and notes are string literals.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type SeedName, seedRows } from '../../scripts/seeds.ts';

/** Enough for a busy machine. */
const TIMEOUT_MS = 120_000;
const ROOT = path.resolve(import.meta.dirname, '../..');

export interface SeedTests {
  /**
   * A test of everything that a row states, from outside: over HTTP, WebSocket or gRPC. `beyond` says what this
   * product does more than the row asks for.
   */
  row(section: string, words: string, test: () => Promise<void> | void, beyond?: string): void;
  /** A row that tests in other files hold true: their titles by file. They too must test from outside. */
  elsewhere(section: string, words: string, tests: Readonly<Record<string, readonly string[]>>, beyond?: string): void;
  /** A row that states nothing to test, such as a choice that it leaves open: `choice` says what was chosen. */
  open(section: string, words: string, choice: string): void;
}

function seedTests(seed: SeedName): SeedTests {
  const rows = new Set(seedRows(seed).map(({ section, words }) => `${section} ${words}`));
  const known = (section: string, words: string) => {
    if (!rows.has(`${section} ${words}`)) throw new Error(`No such row in section ${section}: ${words}`);
  };
  return {
    row(section, words, test) {
      known(section, words);
      it(`${section} ${words}`, test, TIMEOUT_MS);
    },
    elsewhere(section, words, tests) {
      known(section, words);
      it(`${section} ${words}`, () => {
        for (const [file, titles] of Object.entries(tests)) {
          const text = readFileSync(path.join(ROOT, file), 'utf8');
          for (const title of titles) expect(text, file).toContain(title);
        }
      });
    },
    open: known,
  };
}

/** The reader, search and model host. */
export const hosted = seedTests('hosted');
/** The flow gateway. */
export const flow = seedTests('flow');
