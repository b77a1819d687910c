/**
 * The hashed part of a vector: every word, and every window of a run, adds its features to three blocks of slots. What
 * a word adds depends on the word alone, so it is computed once for a cached word.
 */
import type { StaticConfig } from './files.ts';

/** Slots per block. A feature's hash has 8 bits for the slot and one for the sign, for each of three blocks. */
const BLOCK = 256;
export const HASHED = 3 * BLOCK;

/** What one word, or one window of a run, adds to the slots. */
export interface Term {
  /** Hashes of its features: the term itself, and then the n-grams of a word. */
  readonly hashes: Int32Array;
  /** Weight of the term itself. */
  readonly weight: number;
}

export interface TermMaker {
  /** The term of a word, without the mark of a word's start. */
  word(text: string): Term;
  /** The terms of a run's windows, in order, with repetitions. */
  windows(run: string): Term[];
  /** Adds the terms, weighted by their counts, to the slots. */
  addTo(slots: Float64Array, counts: ReadonlyMap<Term, number>): void;
}

export interface TermMakerOptions {
  readonly config: StaticConfig['hashed'];
  /** Returns the idf of a text that is exactly one known piece; undefined for others. */
  readonly idfOf: (text: string) => number | undefined;
  /** The mark of a word's start in the vocabulary. */
  readonly wordMark: string;
}

/** Windows of runs are kept by their text: there are few different ones. */
const MAX_WINDOWS = 50_000;

export function createTermMaker({ config, idfOf, wordMark }: TermMakerOptions): TermMaker {
  const known = new Map<string, Term>();
  const window = (text: string, weight: number): Term => {
    const found = known.get(text);
    if (found) return found;
    const made = {
      hashes: Int32Array.of(hashOf(text, 0, text.length)),
      weight: weight * (idfOf(text) ?? config.window_unseen),
    };
    if (known.size >= MAX_WINDOWS) known.clear();
    known.set(text, made);
    return made;
  };
  return {
    word(text) {
      const marked = wordMark + text;
      return {
        hashes: Int32Array.from([hashOf(marked, 0, marked.length), ...gramHashes(`<${text}>`, config.grams)]),
        weight: idfOf(marked) ?? config.unseen,
      };
    },
    windows(run) {
      const terms: Term[] = [];
      for (const [at, weight] of config.windows.entries()) {
        if (weight === 0) continue;
        for (let from = 0; from + at < run.length; from++) terms.push(window(run.slice(from, from + at + 1), weight));
      }
      return terms;
    },
    addTo(slots, counts) {
      for (const [{ hashes, weight }, count] of counts) {
        const factor = 1 + Math.log(count);
        addHash(slots, hashes[0]!, weight * factor);
        const gram = config.gram * factor;
        for (let at = 1; at < hashes.length; at++) addHash(slots, hashes[at]!, gram);
      }
    },
  };
}

function addHash(slots: Float64Array, hash: number, weight: number): void {
  slots[hash & 255]! += (hash & (1 << 8)) !== 0 ? weight : -weight;
  slots[BLOCK + ((hash >>> 9) & 255)]! += (hash & (1 << 17)) !== 0 ? weight : -weight;
  slots[2 * BLOCK + ((hash >>> 18) & 255)]! += (hash & (1 << 26)) !== 0 ? weight : -weight;
}

/** Hashes of all n-grams of a text, which are counted in characters. */
function gramHashes(text: string, lengths: readonly number[]): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) starts.push(at);
  starts.push(text.length);
  return lengths.flatMap((length) => {
    const hashes: number[] = [];
    for (let at = 0; at + length < starts.length; at++) hashes.push(hashOf(text, starts[at]!, starts[at + length]!));
    return hashes;
  });
}

/** FNV-1a over the UTF-16 units, finished with the steps of MurmurHash3. */
function hashOf(text: string, from: number, to: number): number {
  let hash = 2_166_136_261;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
