/**
 * Fits texts into a token budget: creates excerpts that end at a block boundary, and divides tokens fairly between
 * texts.
 */
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';

export const DEFAULT_TOKENS = 8_000;
export const MIN_TOKENS = 500;
export const MAX_TOKENS = 100_000;

/**
 * Upper bound on the characters per token, which limits how much text is tokenized. Text with longer tokens is cut
 * slightly too early.
 */
const CHARACTERS_PER_TOKEN = 16;

export interface Excerpt {
  readonly text: string;
  /** Start and end offsets in the whole text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
}

/** Returns the excerpt of `whole` that starts at `offset` and has at most `maxTokens` tokens. */
export async function takeExcerpt(whole: string, offset: number, maxTokens: number): Promise<Excerpt> {
  await loadTokens();
  const start = characterStart(whole, Math.min(offset, whole.length));
  const window = whole.slice(start, characterStart(whole, start + maxTokens * CHARACTERS_PER_TOKEN));
  // At least one character, even if it exceeds the budget: an empty excerpt would never make progress.
  const keptLength = Math.max(keepTokens(window, maxTokens).length, Math.min(window.length, 1));
  const last =
    characterStart(whole, start + keptLength) === start + keptLength ? start + keptLength : start + keptLength + 1;
  const end = last < whole.length ? start + findCut(whole.slice(start, last)) : last;
  const text = whole.slice(start, end);
  return { text, start, end, tokens: countTokens(text) };
}

/** Returns `at`, or the position before it if `at` would split a surrogate pair. */
const characterStart = (text: string, at: number): number =>
  at > 0 && at < text.length && isHalf(text, at - 1, 0xd800) && isHalf(text, at, 0xdc00) ? at - 1 : at;

const isHalf = (text: string, at: number, kind: number) => (text.charCodeAt(at) & 0xfc00) === kind;

/**
 * Finds the position at which to cut a text that continues: after its last block, else its last line, else its last
 * word. Cuts in the first half are not considered, because they would waste too much of the budget.
 */
function findCut(text: string): number {
  const least = text.length / 2;
  const block = lastBlockEnd(text);
  if (block > least) return block;
  for (const sign of ['\n', ' ']) {
    const at = text.lastIndexOf(sign) + 1;
    if (at > least) return at;
  }
  return text.length;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Returns the end of the last empty line outside fenced code; 0 if there is none. */
function lastBlockEnd(text: string): number {
  let last = 0;
  let open = '';
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at);
    if (found < 0) break;
    const line = text.slice(at, Math.min(found, at + 100));
    const sign = FENCE.exec(line)?.[1];
    if (sign && !open) open = sign;
    else if (sign?.startsWith(open)) open = '';
    else if (!open && line.trim() === '' && found - at < 100) last = found + 1;
    at = found + 1;
  }
  return last;
}

export interface TokenClaim {
  readonly text: string;
  /** Number of tokens in the text added around it. */
  readonly overheadTokens: number;
}

/**
 * Divides `tokens` between texts, including their overhead. A text that needs less than an equal share receives what it
 * needs. The rest is divided between the other texts (max-min fairness).
 */
export function divideTokens(sharers: readonly TokenClaim[], tokens: number): number[] {
  const needs = sharers.map(({ text, overheadTokens }) => countUpTo(text, tokens) + overheadTokens);
  const shares = new Array<number>(needs.length).fill(0);
  let left = tokens;
  const bySize = [...needs.keys()].sort((a, b) => needs[a]! - needs[b]!);
  for (const [done, at] of bySize.entries()) {
    shares[at] = Math.min(needs[at]!, Math.floor(left / (bySize.length - done)));
    left -= shares[at]!;
  }
  return shares;
}

/** Counts the tokens of a text, up to `most`. */
const countUpTo = (text: string, most: number) =>
  Math.min(most, countTokens(text.slice(0, most * CHARACTERS_PER_TOKEN)));
