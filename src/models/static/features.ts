/**
 * Features of words: the word itself and its character n-grams. Each feature is represented by two independent hashes
 * of its UTF-8 bytes: the CRC-32, which selects the slot, and a second hash, which resolves collisions.
 */

/** Called for each feature with its hashes, its length in bytes, its count, and whether it is a whole word. */
export type FeatureSink = (crc: number, other: number, bytes: number, count: number, whole: boolean) => void;

interface Window {
  readonly characters: number;
  readonly count: number;
}

// Defined by the model (see the README in the folder of the model's files).
const SPACED: readonly Window[] = [
  { characters: 3, count: 0.3 },
  { characters: 4, count: 0.3 },
  { characters: 5, count: 0.3 },
];
const UNSPACED: readonly Window[] = [
  { characters: 1, count: 0.3 },
  { characters: 2, count: 1 },
  { characters: 3, count: 0.6 },
];

const CRC_TABLE = new Int32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
const OTHER_START = 0x811c9dc5 | 0;
const OTHER_FACTOR = 0x01000193;

export class FeatureReader {
  #bytes = new Uint8Array(256);
  /** Start offset of each character, plus a final entry for the end. */
  #starts = new Int32Array(256);
  #characters = 0;

  /**
   * Passes every feature of the word to `sink`, in a fixed order. If `windows` is false, passes only the whole word.
   */
  read(word: string, unspaced: boolean, sink: FeatureSink, windows = true): void {
    if (unspaced) {
      this.#fill(word, false);
      if (windows) this.#windows(UNSPACED, sink);
    } else {
      this.#fill(word, true);
      this.#whole(sink);
      if (windows) this.#windows(SPACED, sink);
    }
  }

  #fill(word: string, brackets: boolean): void {
    const units = word.length + 2;
    if (this.#starts.length < units + 1) {
      this.#bytes = new Uint8Array(units * 3);
      this.#starts = new Int32Array(units + 1);
    }
    const bytes = this.#bytes;
    const starts = this.#starts;
    let length = 0;
    let characters = 0;
    if (brackets) {
      starts[characters++] = length;
      bytes[length++] = 0x3c;
    }
    for (let at = 0; at < word.length; at++) {
      starts[characters++] = length;
      const unit = word.charCodeAt(at);
      if (unit < 0x80) {
        bytes[length++] = unit;
        continue;
      }
      let point = unit;
      if (unit >= 0xd800 && unit <= 0xdbff) {
        point = word.codePointAt(at)!;
        at++;
      }
      if (point < 0x800) {
        bytes[length++] = 0xc0 | (point >> 6);
      } else {
        if (point < 0x10000) {
          bytes[length++] = 0xe0 | (point >> 12);
        } else {
          bytes[length++] = 0xf0 | (point >> 18);
          bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
        }
        bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
      }
      bytes[length++] = 0x80 | (point & 0x3f);
    }
    if (brackets) {
      starts[characters++] = length;
      bytes[length++] = 0x3e;
    }
    starts[characters] = length;
    this.#characters = characters;
  }

  #whole(sink: FeatureSink): void {
    const end = this.#starts[this.#characters]!;
    let crc = -1;
    let other = OTHER_START;
    for (let at = 0; at < end; at++) {
      const byte = this.#bytes[at]!;
      crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255]!;
      other = Math.imul(other ^ byte, OTHER_FACTOR);
    }
    sink(~crc, other, end, 1, true);
  }

  #windows(windows: readonly Window[], sink: FeatureSink): void {
    const bytes = this.#bytes;
    const starts = this.#starts;
    for (let first = 0; first < this.#characters; first++) {
      const begin = starts[first]!;
      let at = begin;
      let crc = -1;
      let other = OTHER_START;
      for (const { characters, count } of windows) {
        const last = first + characters;
        if (last > this.#characters) break;
        const end = starts[last]!;
        for (; at < end; at++) {
          const byte = bytes[at]!;
          crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255]!;
          other = Math.imul(other ^ byte, OTHER_FACTOR);
        }
        sink(~crc, other, end - begin, count, false);
      }
    }
  }
}

/**
 * Computes the sign of a feature, which depends on whether crc32('#' + feature) is odd. CRC is linear, so the effect of
 * a prefix byte depends only on the number of bytes after it.
 */
export function createSignOf(): (crc: number, bytes: number) => 1 | -1 {
  // The difference that the prefix '#' makes to the register, propagated through zero bytes.
  let difference = -1 ^ ((-1 >>> 8) ^ CRC_TABLE[(-1 ^ 0x23) & 255]!);
  let parities = new Uint8Array(256);
  let known = 0;
  return (crc, bytes) => {
    if (bytes >= parities.length) {
      const larger = new Uint8Array(bytes * 2);
      larger.set(parities);
      parities = larger;
    }
    while (known <= bytes) {
      parities[known++] = difference & 1;
      difference = (difference >>> 8) ^ CRC_TABLE[difference & 255]!;
    }
    return ((crc ^ parities[bytes]!) & 1) === 1 ? 1 : -1;
  };
}
