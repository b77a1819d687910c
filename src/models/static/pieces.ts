/**
 * The unigram vocabulary of the built-in model: splits a word into the pieces with the greatest sum of scores (Viterbi
 * algorithm). It returns the same ids as @huggingface/tokenizers, also for paths that differ only by rounding.
 */
import { buildTrie, type Trie } from '../tokenizers/trie.ts';

/** Id of an unknown character. */
export const UNKNOWN = 0;
/** How much less than the worst piece an unknown character scores. */
const UNKNOWN_PENALTY = 10;

export interface Vocabulary {
  /** Returns the ids of a word's pieces. Neighbouring unknown characters are one id. */
  encode(word: string): number[];
}

export function createVocabulary(pieces: readonly (readonly [piece: string, score: number])[]): Vocabulary {
  const trie = buildTrie(pieces.map(([text], id) => ({ text, continuing: false, id })).slice(UNKNOWN + 1));
  const scores = Float64Array.from(pieces, ([, score]) => score);
  scores[UNKNOWN] = scores.reduce((least, score) => Math.min(least, score)) - UNKNOWN_PENALTY;
  const lattice = new Lattice(trie, scores);
  return { encode: (word) => lattice.encode(word) };
}

/** All ways to split one word at a time, as nodes in arrays that are reused. */
class Lattice {
  readonly #trie: Trie;
  readonly #scores: Float64Array;
  #nodes = 0;
  #ids = new Int32Array(256);
  /** The best sum of scores of a path that ends with the node. */
  #sums = new Float64Array(256);
  /** The node before it on that path. */
  #previous = new Int32Array(256);
  /** The next node that ends at the same position, in the order in which they were added. */
  #next = new Int32Array(256);
  /** The first and the last node that ends at each position. */
  #first = new Int32Array(256);
  #last = new Int32Array(256);

  constructor(trie: Trie, scores: Float64Array) {
    this.#trie = trie;
    this.#scores = scores;
  }

  encode(word: string): number[] {
    this.#begin(word.length);
    for (let at = 0; at < word.length; ) {
      const point = word.codePointAt(at)!;
      const width = point > 0xffff ? 2 : 1;
      this.#addFrom(word, at, width);
      at += width;
    }
    return this.#path(word.length);
  }

  #begin(length: number): void {
    this.#nodes = 0;
    if (this.#first.length <= length) {
      this.#first = new Int32Array((length + 1) * 2);
      this.#last = new Int32Array((length + 1) * 2);
    }
    this.#first.fill(-1, 0, length + 1);
  }

  /** Adds a node for each piece that starts at a position, and for the character there if it is unknown. */
  #addFrom(word: string, from: number, width: number): void {
    let node = this.#trie.root;
    let isKnown = false;
    for (let at = from; at < word.length; at++) {
      node = this.#trie.child(node, word.charCodeAt(at));
      if (node < 0) break;
      const id = this.#trie.idAt(node);
      if (id < 0) continue;
      this.#add(id, from, at + 1);
      if (at + 1 === from + width) isKnown = true;
    }
    if (!isKnown) this.#add(UNKNOWN, from, from + width);
  }

  #add(id: number, from: number, to: number): void {
    const node = this.#nodes++;
    if (node === this.#ids.length) this.#grow();
    const score = this.#scores[id]!;
    let best = -1;
    let sum = score;
    if (from > 0) {
      for (let before = this.#first[from]!; before >= 0; before = this.#next[before]!) {
        const with_ = this.#sums[before]! + score;
        if (best < 0 || with_ > sum) {
          best = before;
          sum = with_;
        }
      }
    }
    this.#ids[node] = id;
    this.#sums[node] = sum;
    this.#previous[node] = best;
    this.#next[node] = -1;
    if (this.#first[to] === -1) this.#first[to] = node;
    else this.#next[this.#last[to]!] = node;
    this.#last[to] = node;
  }

  #path(end: number): number[] {
    let node = -1;
    for (let last = this.#first[end]!; last >= 0; last = this.#next[last]!) {
      if (node < 0 || this.#sums[last]! > this.#sums[node]!) node = last;
    }
    const ids: number[] = [];
    for (; node >= 0; node = this.#previous[node]!) {
      const id = this.#ids[node]!;
      if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id);
    }
    return ids.reverse();
  }

  #grow(): void {
    const size = this.#ids.length * 2;
    const larger = <T extends Int32Array | Float64Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#ids = larger(new Int32Array(size), this.#ids);
    this.#sums = larger(new Float64Array(size), this.#sums);
    this.#previous = larger(new Int32Array(size), this.#previous);
    this.#next = larger(new Int32Array(size), this.#next);
  }
}
