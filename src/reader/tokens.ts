/**
 * Counts tokens of cl100k_base and truncates text to a number of tokens. The vocabulary is large, so each thread loads
 * it once, on demand. Text that is identical to a special token counts as plain text.
 *
 * Byte-pair merging takes quadratic time for an unbroken run of characters. A run of one kind (letters, marks, white
 * space) is therefore split every 256 characters, and text without white space, such as a row of emoji and dashes, every
 * 1,024; each split adds at most one token to the count.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { openVocabulary, packVocabulary, type Vocabulary } from './vocabulary.ts';

let vocabulary: Vocabulary | undefined;
let loading: Promise<void> | undefined;

/** Loads the vocabulary, which the functions below need. Repeated calls return the same promise. */
export function loadTokens(): Promise<void> {
  loading ??= readVocabulary().then((packed) => {
    vocabulary = openVocabulary(packed);
  });
  return loading;
}

/** The build packs the vocabulary, see `scripts/bundle.mjs`. */
async function readVocabulary(): Promise<Uint8Array> {
  if (import.meta.url.endsWith('.js')) return readFile(new URL('./cl100k_base.bin', import.meta.url));
  const file = createRequire(import.meta.url).resolve('gpt-tokenizer/data/cl100k_base.tiktoken');
  return packVocabulary(await readFile(file, 'latin1'));
}

function loaded(): Vocabulary {
  if (!vocabulary) throw new Error('loadTokens() must have finished first');
  return vocabulary;
}

/**
 * The words that cl100k_base encodes separately
 * (https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py).
 */
const WORDS =
  /'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s/gu;
/**
 * Longest word whose number of tokens is cached. V8 copies slices up to this length, so that a cached word does not
 * keep its page in memory.
 */
const MAX_CACHED_UNITS = 12;
const MAX_CACHED_WORDS = 20_000;
const tokensOfWord = new Map<string, number>();

/** Number of tokens in a text. Few words make up most of a text, so their numbers of tokens are cached. */
export function countTokens(text: string): number {
  const { count: countWord } = loaded();
  let count = 0;
  for (const piece of tokenizerPieces(text)) {
    for (const word of piece.match(WORDS) ?? []) {
      let tokens = tokensOfWord.get(word);
      if (tokens === undefined) {
        tokens = countWord(word);
        if (word.length <= MAX_CACHED_UNITS) {
          if (tokensOfWord.size >= MAX_CACHED_WORDS) tokensOfWord.clear();
          tokensOfWord.set(word, tokens);
        }
      }
      count += tokens;
    }
  }
  return count;
}

/** The tokens of a text. */
export const encodeTokens = (text: string): number[] => [...tokenizerPieces(text)].flatMap(encodePiece);

/** The tokens of one of `tokenizerPieces`. */
function encodePiece(piece: string): number[] {
  const { encode } = loaded();
  return (piece.match(WORDS) ?? []).flatMap((word) => encode(word));
}

/** The UTF-8 bytes of a token; `undefined` for a number that is no token. */
export const bytesOfToken = (token: number): Uint8Array | undefined => loaded().bytesOf(token);

/** Returns the first `limit` tokens of a text. A character that would be split by the cut is dropped. */
export function keepTokens(text: string, limit: number): string {
  const { bytesOf } = loaded();
  let left = limit;
  let kept = 0;
  for (const piece of tokenizerPieces(text)) {
    const tokens = encodePiece(piece);
    if (tokens.length <= left) {
      left -= tokens.length;
      kept += piece.length;
      continue;
    }
    let bytes = 0;
    for (let at = 0; at < left; at++) bytes += bytesOf(tokens[at]!)!.length;
    return text.slice(0, kept) + wholeCharacters(piece, bytes);
  }
  return text;
}

/**
 * Returns the text of tokens; `undefined` if one of the numbers is no token. Bytes that are no whole character become
 * U+FFFD.
 */
export function decodeTokens(tokens: readonly number[]): string | undefined {
  const { bytesOf } = loaded();
  const parts: Uint8Array[] = [];
  for (const token of tokens) {
    const bytes = bytesOf(token);
    if (bytes === undefined) return undefined;
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString();
}

/** The characters of `text` that fit completely into its first `bytes` bytes of UTF-8. */
function wholeCharacters(text: string, bytes: number): string {
  let at = 0;
  for (let left = bytes; at < text.length; ) {
    const code = text.codePointAt(at)!;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (left < 0) break;
    at += code < 0x10000 ? 1 : 2;
  }
  return text.slice(0, at);
}

const MAX_RUN = 256;
const MAX_UNBROKEN = 1_024;
const MAX_PIECE = 1 << 16;
const SPACE = 0;
const MARK = 1;
const WORD = 2;

function kindOf(code: number): number {
  if (code <= 0x20 || code === 0xa0) return SPACE;
  if (code < 0x80) {
    const alphanumeric =
      (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
    return alphanumeric ? WORD : MARK;
  }
  return (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff0f) ? MARK : WORD;
}

/**
 * Splits the text inside overlong runs. Long pieces are also split before a space, because no token crosses that
 * boundary. Each piece can be tokenized in a short time.
 */
export function* tokenizerPieces(text: string): Generator<string> {
  if (text.length <= MAX_PIECE && !hasLongRun(text)) {
    yield text;
    return;
  }
  let start = 0;
  let run = 0;
  let unbroken = 0;
  let kind = -1;
  for (let at = 0; at < text.length; at++) {
    const now = kindOf(text.charCodeAt(at));
    if (now !== kind) {
      if (at - start >= MAX_PIECE && now === SPACE && kind === WORD) {
        yield text.slice(start, at);
        start = at;
      }
      kind = now;
      run = 0;
    }
    run += 1;
    unbroken = now === SPACE ? 0 : unbroken + 1;
    if ((run > MAX_RUN || unbroken > MAX_UNBROKEN) && !isTrailSurrogate(text, at)) {
      yield text.slice(start, at);
      start = at;
      run = 1;
      unbroken = 1;
    }
  }
  if (start < text.length) yield text.slice(start);
}

const hasLongRun = (text: string): boolean =>
  hasRun(text, MAX_RUN, (a, b) => kindOf(a) === kindOf(b)) ||
  hasRun(text, MAX_UNBROKEN, (a, b) => kindOf(a) !== SPACE && kindOf(b) !== SPACE);

/**
 * Whether any run of characters that belong together exceeds the limit. Only every so many characters of ordinary text
 * are tested: an overlong run includes one of the tested characters and extends back to the previous one.
 */
function hasRun(text: string, max: number, isSame: (a: number, b: number) => boolean): boolean {
  let start = 0;
  while (start + max < text.length) {
    let at = start + max;
    while (at > start && isSame(text.charCodeAt(at - 1), text.charCodeAt(at))) at--;
    if (at === start) return true;
    start = at;
  }
  return false;
}

const isTrailSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
