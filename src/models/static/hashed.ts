/**
 * The hashed part of a vector: each feature of the text is added to one of 768 slots, according to its count and
 * weight.
 */
import { createSignOf, FeatureReader } from './features.ts';
import type { WordVisitor } from './words.ts';

export const HASHED = 768;
/** Weight of n-grams; whole words are weighted by their idf. */
export const WINDOW_WEIGHT = 5;

/** Looks up the idf of a word by the two hashes of `<word>`. */
export interface Idf {
  of(crc: number, other: number): number;
}

/** Parses lines of `word<tab>idf`. All other words have the value `unseen`. */
export function readIdf(text: string, unseen: number): Idf {
  const lines = text.split('\n');
  const mask = 2 ** Math.ceil(Math.log2(lines.length * 2)) - 1;
  const crcs = new Int32Array(mask + 1);
  const others = new Int32Array(mask + 1);
  const values = new Float64Array(mask + 1);
  const slotOf = (crc: number, other: number): number => {
    let slot = (crc ^ other) & mask;
    while (values[slot] !== 0 && (crcs[slot] !== crc || others[slot] !== other)) slot = (slot + 1) & mask;
    return slot;
  };
  const reader = new FeatureReader();
  for (const line of lines) {
    const tab = line.indexOf('\t');
    if (tab < 0) continue;
    const value = Number(line.slice(tab + 1));
    if (!(value > 0)) throw new Error('a word of the idf table has no weight');
    reader.read(
      line.slice(0, tab),
      false,
      (crc, other) => {
        const slot = slotOf(crc, other);
        crcs[slot] = crc;
        others[slot] = other;
        values[slot] = value;
      },
      false,
    );
  }
  return {
    of(crc, other) {
      const value = values[slotOf(crc, other)]!;
      return value === 0 ? unseen : value;
    },
  };
}

/** A larger table is not reused for the next text. */
const MAX_KEPT_SLOTS = 2 ** 16;

/** Counts the features of one text at a time. */
export class FeatureCounts implements WordVisitor {
  readonly #idf: Idf;
  readonly #reader = new FeatureReader();
  readonly #signOf = createSignOf();
  // Random for each table, so that no one can craft a text whose features all collide.
  readonly #crcFactor = randomOdd();
  readonly #otherFactor = randomOdd();
  #mask = 0;
  #shift = 0;
  #crcs = new Int32Array(0);
  #others = new Int32Array(0);
  #counts = new Float64Array(0);
  #weights = new Float64Array(0);
  /** Slots in order of first use. */
  #used = new Int32Array(0);
  #size = 0;

  constructor(idf: Idf) {
    this.#idf = idf;
    this.#allocate(1024);
  }

  begin(): void {
    if (this.#mask >= MAX_KEPT_SLOTS) this.#allocate(1024);
    for (let at = 0; at < this.#size; at++) this.#counts[this.#used[at]!] = 0;
    this.#size = 0;
  }

  word(text: string, from: number, to: number, unspaced: boolean): void {
    this.#reader.read(text.slice(from, to).toLowerCase(), unspaced, this.#add);
  }

  /** Adds the weighted counts to the slots, without normalization. */
  addTo(slots: Float64Array): void {
    for (let at = 0; at < this.#size; at++) {
      const slot = this.#used[at]!;
      const count = this.#counts[slot]!;
      const value = (count >= 1 ? 1 + Math.log(count) : count) * this.#weights[slot]!;
      slots[(this.#crcs[slot]! >>> 0) % HASHED]! += value;
    }
  }

  readonly #add = (crc: number, other: number, bytes: number, count: number, whole: boolean): void => {
    const slot = this.#slotOf(crc, other);
    if (this.#counts[slot]! > 0) {
      this.#counts[slot]! += count;
      return;
    }
    this.#crcs[slot] = crc;
    this.#others[slot] = other;
    this.#counts[slot] = count;
    this.#weights[slot] = this.#signOf(crc, bytes) * (whole ? this.#idf.of(crc, other) : WINDOW_WEIGHT);
    this.#used[this.#size++] = slot;
    if (this.#size * 2 > this.#mask) this.#grow();
  };

  #slotOf(crc: number, other: number): number {
    let slot = (Math.imul(crc, this.#crcFactor) + Math.imul(other, this.#otherFactor)) >>> this.#shift;
    while (this.#counts[slot]! > 0 && (this.#crcs[slot] !== crc || this.#others[slot] !== other)) {
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }

  #allocate(slots: number): void {
    this.#mask = slots - 1;
    this.#shift = Math.clz32(slots - 1);
    this.#crcs = new Int32Array(slots);
    this.#others = new Int32Array(slots);
    this.#counts = new Float64Array(slots);
    this.#weights = new Float64Array(slots);
    this.#used = new Int32Array(slots);
    this.#size = 0;
  }

  #grow(): void {
    const [crcs, others, counts, weights, used, size] = [
      this.#crcs,
      this.#others,
      this.#counts,
      this.#weights,
      this.#used,
      this.#size,
    ];
    this.#allocate((this.#mask + 1) * 4);
    for (let at = 0; at < size; at++) {
      const old = used[at]!;
      const slot = this.#slotOf(crcs[old]!, others[old]!);
      this.#crcs[slot] = crcs[old]!;
      this.#others[slot] = others[old]!;
      this.#counts[slot] = counts[old]!;
      this.#weights[slot] = weights[old]!;
      this.#used[this.#size++] = slot;
    }
  }
}

const randomOdd = (): number => Math.floor(Math.random() * 2 ** 32) | 1;
