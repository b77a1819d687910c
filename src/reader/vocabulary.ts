/**
 * A vocabulary of byte-pair encoding, in a compact form: a file of all tokens, and one table to look them up. Loading it
 * takes a fraction of the time and memory of a map with a string for each token, which matters because every thread
 * has its own.
 */

export interface Vocabulary {
  /** Number of tokens of a word, which is a piece of text that the vocabulary's pattern does not split. */
  count(word: string): number;
  /** The tokens of a word. */
  encode(word: string): number[];
  /** The UTF-8 bytes of a token; `undefined` for a number that is no token. */
  bytesOf(token: number): Uint8Array | undefined;
}

/**
 * Packs a vocabulary in the format of tiktoken: a line for each token, with its bytes in base64 and its number. The
 * packed form is the number of tokens (32 bits, little-endian), the length of each (8 bits), and the bytes of all.
 * Throws an Error if the numbers are not consecutive or a token is too long.
 */
export function packVocabulary(tiktoken: string): Uint8Array {
  const tokens = tiktoken
    .trim()
    .split('\n')
    .map((line, at) => {
      const [bytes = '', number] = line.split(' ');
      if (Number(number) !== at) throw new Error(`The vocabulary has no token ${at}`);
      return Buffer.from(bytes, 'base64');
    });
  const lengths = tokens.map(({ length }, at) => {
    if (length === 0 || length > 0xff) throw new Error(`Token ${at} has ${length} bytes`);
    return length;
  });
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeUInt32LE(tokens.length);
  return Buffer.concat([count, Buffer.from(lengths), ...tokens]);
}

const COUNT_BYTES = 4;

/** Opens a packed vocabulary. Every byte must be a token, so that every text has tokens. */
export function openVocabulary(packed: Uint8Array): Vocabulary {
  const size = new DataView(packed.buffer, packed.byteOffset).getUint32(0, true);
  const lengths = packed.subarray(COUNT_BYTES, COUNT_BYTES + size);
  const bytes = packed.subarray(COUNT_BYTES + size);
  const starts = new Uint32Array(size);
  // At most half full, so that few tokens share a place.
  const table = new Int32Array(2 ** Math.ceil(Math.log2(2 * size)));
  const mask = table.length - 1;
  for (let token = 0, start = 0; token < size; token++) {
    starts[token] = start;
    const end = start + lengths[token]!;
    let place = hash(bytes, start, end) & mask;
    while (table[place] !== 0) place = (place + 1) & mask;
    table[place] = token + 1;
    start = end;
  }

  /** The token with the bytes from `from` to `to`, or NONE. */
  function tokenOf(word: Uint8Array, from: number, to: number): number {
    const length = to - from;
    for (let place = hash(word, from, to) & mask; ; place = (place + 1) & mask) {
      const token = table[place]! - 1;
      if (token < 0) return NONE;
      if (lengths[token] !== length) continue;
      const start = starts[token]!;
      let at = 0;
      while (at < length && bytes[start + at] === word[from + at]) at++;
      if (at === length) return token;
    }
  }

  // Reused for each word: its bytes, where its parts begin, and the token of each part with the part after it.
  let word = new Uint8Array(256);
  let parts = new Int32Array(word.length + 1);
  let pairs = new Int32Array(word.length + 1);

  /** Splits a word into parts that are tokens. Returns the number of parts. */
  function split(text: string): number {
    const most = text.length * MAX_BYTES_PER_UNIT;
    if (most > word.length) {
      word = new Uint8Array(2 * most);
      parts = new Int32Array(word.length + 1);
      pairs = new Int32Array(word.length + 1);
    }
    const length = writeUtf8(text, word);
    parts[0] = 0;
    parts[1] = length;
    if (length === 0 || tokenOf(word, 0, length) !== NONE) return length && 1;
    let count = length;
    for (let at = 0; at <= length; at++) parts[at] = at;
    for (let at = 0; at + 1 < count; at++) pairs[at] = tokenOf(word, at, at + 2);
    for (;;) {
      // The pair with the lowest number is merged, the first of equal ones.
      let best = -1;
      let lowest = NONE;
      for (let at = 0; at + 1 < count; at++) {
        if (pairs[at]! < lowest) {
          lowest = pairs[at]!;
          best = at;
        }
      }
      if (best < 0) return count;
      parts.copyWithin(best + 1, best + 2, count + 1);
      pairs.copyWithin(best, best + 1, count - 1);
      count--;
      if (best + 1 < count) pairs[best] = tokenOf(word, parts[best]!, parts[best + 2]!);
      if (best > 0) pairs[best - 1] = tokenOf(word, parts[best - 1]!, parts[best + 1]!);
    }
  }

  return {
    count: split,
    encode(text) {
      const count = split(text);
      return Array.from({ length: count }, (_, at) => tokenOf(word, parts[at]!, parts[at + 1]!));
    },
    bytesOf(token) {
      const start = starts[token];
      return start === undefined ? undefined : bytes.subarray(start, start + lengths[token]!);
    },
  };
}

/** Greater than every token. */
const NONE = 0x7fffffff;
const MAX_BYTES_PER_UNIT = 3;

/** FNV-1a (https://www.rfc-editor.org/rfc/rfc9923), with its high bits mixed into the low ones, which are used. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0x811c9dc5;
  for (let at = from; at < to; at++) sum = Math.imul(sum ^ bytes[at]!, 0x01000193);
  return sum ^ (sum >>> 15);
}

const encoder = new TextEncoder();

/** Writes a text as UTF-8. Returns the number of bytes. */
function writeUtf8(text: string, into: Uint8Array): number {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) return encoder.encodeInto(text, into).written;
    into[at] = code;
  }
  return text.length;
}
