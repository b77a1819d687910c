/**
 * Counts tokens of cl100k_base and truncates text to a number of tokens. The vocabulary is large, so each thread loads
 * it once, on demand. Text that is identical to a special token counts as plain text.
 *
 * Byte-pair merging takes quadratic time for an unbroken run of characters. A run of one kind (letters, marks, white
 * space) is therefore split every 256 characters; each split adds at most one token to the count.
 */

interface Encoding {
  encode(text: string): number[];
  /** The UTF-8 bytes of a token, or the text that they are; `undefined` for a number that is no token. */
  bytesOf(token: number): string | readonly number[] | undefined;
}

let encoding: Encoding | undefined;
let loading: Promise<void> | undefined;

/** Loads the vocabulary, which the functions below need. Repeated calls return the same promise. */
export function loadTokens(): Promise<void> {
  loading ??= load();
  return loading;
}

async function load(): Promise<void> {
  const [{ encode, setMergeCacheSize }, { default: ranks }] = await Promise.all([
    import('gpt-tokenizer/encoding/cl100k_base'),
    import('gpt-tokenizer/bpeRanks/cl100k_base'),
  ]);
  setMergeCacheSize(20_000);
  const asText = { disallowedSpecial: new Set<string>() };
  encoding = {
    encode: (text) => encode(text, asText),
    bytesOf: (token) => ranks[token],
  };
}

function loaded(): Encoding {
  if (!encoding) throw new Error('loadTokens() must have finished first');
  return encoding;
}

/**
 * The words that cl100k_base encodes separately
 * (https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py).
 */
const WORDS =
  /'(?:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s/giu;
/**
 * Longest word whose number of tokens is cached. V8 copies slices up to this length, so that a cached word does not
 * keep its page in memory.
 */
const MAX_CACHED_UNITS = 12;
const MAX_CACHED_WORDS = 20_000;
const tokensOfWord = new Map<string, number>();

/** Number of tokens in a text. Few words make up most of a text, so their numbers of tokens are cached. */
export function countTokens(text: string): number {
  const { encode } = loaded();
  let count = 0;
  for (const piece of tokenizerPieces(text)) {
    for (const word of piece.match(WORDS) ?? []) {
      let tokens = tokensOfWord.get(word);
      if (tokens === undefined) {
        tokens = encode(word).length;
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

/** Returns the first `limit` tokens of a text. A character that would be split by the cut is dropped. */
export function keepTokens(text: string, limit: number): string {
  const { encode, bytesOf } = loaded();
  const byteLength = (token: number): number => {
    const bytes = bytesOf(token)!;
    return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
  };
  let left = limit;
  let kept = 0;
  for (const piece of tokenizerPieces(text)) {
    const tokens = encode(piece);
    if (tokens.length <= left) {
      left -= tokens.length;
      kept += piece.length;
      continue;
    }
    let bytes = 0;
    for (let at = 0; at < left; at++) bytes += byteLength(tokens[at]!);
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
  const parts: Buffer[] = [];
  for (const token of tokens) {
    const bytes = bytesOf(token);
    if (bytes === undefined) return undefined;
    parts.push(Buffer.from(bytes as string));
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
    if (run > MAX_RUN && !isTrailSurrogate(text, at)) {
      yield text.slice(start, at);
      start = at;
      run = 1;
    }
  }
  if (start < text.length) yield text.slice(start);
}

/**
 * Whether any run of one kind exceeds the limit. Only every 256th character of ordinary text is tested: an overlong run
 * includes one of the tested characters and extends back to the previous one.
 */
function hasLongRun(text: string): boolean {
  let start = 0;
  while (start + MAX_RUN < text.length) {
    let at = start + MAX_RUN;
    const kind = kindOf(text.charCodeAt(at));
    while (at > start && kindOf(text.charCodeAt(at - 1)) === kind) at--;
    if (at === start) return true;
    start = at;
  }
  return false;
}

const isTrailSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
