/** Reads a text into words and ids, in steps, up to a number of tokens or in windows of that many tokens. */

import type { YieldIfDue } from '#concurrency/yielder.ts';
import type { Lexicon, Word } from './lexicon.ts';
import { UNKNOWN } from './pieces.ts';
import { WordWalk } from './words.ts';

/** A text, or the part of it that was kept. */
export interface ReadText {
  readonly ids: readonly number[];
  /** The words, up to the one of the last id. */
  readonly words: readonly Word[];
}

export interface ReadOptions {
  /** Unset: the whole text is kept. */
  readonly maxTokens?: number | undefined;
  readonly yieldIfDue: YieldIfDue;
}

export interface TextReader {
  /** Reads the whole text and keeps its first `maxTokens` ids. `fullTokens` is the number of all its ids. */
  read(text: string, options: ReadOptions): Promise<{ readonly kept: ReadText; readonly fullTokens: number }>;
  /** Splits the text into windows of at most `maxTokens` ids each. An empty text is one empty window. */
  readWindows(text: string, options: ReadOptions): Promise<ReadText[]>;
}

export function createTextReader(lexicon: Lexicon): TextReader {
  return {
    async read(text, { maxTokens = Number.POSITIVE_INFINITY, yieldIfDue }) {
      const ids: number[] = [];
      const words: Word[] = [];
      let fullTokens = 0;
      let last = -1;
      const walk = new WordWalk(text, {
        word(own, isRun) {
          const word = lexicon.word(own, isRun);
          if (ids.length < maxTokens) words.push(word);
          for (let at = 0; at < word.ids.length; at++) {
            const id = word.ids[at]!;
            // Neighbouring unknown characters are one id.
            if (id === UNKNOWN && last === UNKNOWN) continue;
            last = id;
            fullTokens++;
            if (ids.length < maxTokens) ids.push(id);
          }
        },
      });
      await finish(walk, yieldIfDue);
      return { kept: { ids, words }, fullTokens };
    },
    async readWindows(text, { maxTokens = Number.POSITIVE_INFINITY, yieldIfDue }) {
      const windows: { ids: number[]; words: Word[] }[] = [{ ids: [], words: [] }];
      const walk = new WordWalk(text, {
        word(own, isRun) {
          const word = lexicon.word(own, isRun);
          let window = windows.at(-1)!;
          // A word begins a new window if it would be split, unless it is longer than a window.
          if (window.ids.length > 0 && window.ids.length + word.ids.length > maxTokens) {
            window = { ids: [], words: [] };
            windows.push(window);
          }
          window.words.push(word);
          for (const id of word.ids) {
            if (window.ids.length >= maxTokens) {
              window = { ids: [], words: [] };
              windows.push(window);
            }
            window.ids.push(id);
          }
        },
      });
      await finish(walk, yieldIfDue);
      return windows;
    },
  };
}

/** Number of UTF-16 units of text per step. */
const STEP_UNITS = 16_384;

async function finish(walk: WordWalk, yieldIfDue: YieldIfDue): Promise<void> {
  while (!walk.step(STEP_UNITS)) await yieldIfDue();
}
