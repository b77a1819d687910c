/**
 * Tests of the rows of the two documents in this folder. `npm run docs` parses the calls below from the source and
 * generates `docs/reference/conformance.md` from them, so section, words and notes must be string literals.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type SeedName, seedRows } from '../../scripts/seeds.ts';

/** Timeout for a busy machine. Tests normally end much earlier. */
const LONG_MS = 120_000;
const ROOT = path.resolve(import.meta.dirname, '../..');

export interface SeedTests {
  /**
   * Tests everything that a row states, from outside: over HTTP, WebSocket or gRPC. `beyond` describes what this
   * product does in addition to the row.
   */
  row(section: string, words: string, test: () => Promise<void> | void, beyond?: string): void;
  /** A row that tests in other files cover: their titles, keyed by file. These tests must also work from outside. */
  elsewhere(section: string, words: string, tests: Readonly<Record<string, readonly string[]>>, beyond?: string): void;
  /** A row without a testable statement, such as one that leaves a decision open: `choice` describes the decision. */
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
      it(`${section} ${words}`, { timeout: LONG_MS }, test);
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
