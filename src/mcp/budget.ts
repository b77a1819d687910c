/** As much of a text as a model has room for, cut where a block ends, with the place to go on from. */
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';

export const DEFAULT_TOKENS = 8_000;
export const MIN_TOKENS = 500;
export const MAX_TOKENS = 100_000;

/** Hardly any text has fewer tokens than one in so many characters; a run that does is cut a little sooner. */
const CHARACTERS_PER_TOKEN = 16;

export interface Excerpt {
  readonly text: string;
  /** Where the piece begins and ends, in characters (UTF-16) of the whole. */
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
}

/** The piece of `whole` from `offset` on that has at most `maxTokens` tokens. */
export async function takeExcerpt(whole: string, offset: number, maxTokens: number): Promise<Excerpt> {
  await loadTokens();
  const start = characterStart(whole, Math.min(offset, whole.length));
  const window = whole.slice(start, characterStart(whole, start + maxTokens * CHARACTERS_PER_TOKEN));
  // One character may be several tokens; without any there would be no end.
  const kept = Math.max(keepTokens(window, maxTokens).length, Math.min(window.length, 1));
  const last = characterStart(whole, start + kept) === start + kept ? start + kept : start + kept + 1;
  const end = last < whole.length ? start + findCut(whole.slice(start, last)) : last;
  const text = whole.slice(start, end);
  return { text, start, end, tokens: countTokens(text) };
}

/** The place, or the one before it where that would part the halves of a character. */
const characterStart = (text: string, at: number): number =>
  at > 0 && at < text.length && isHalf(text, at - 1, 0xd800) && isHalf(text, at, 0xdc00) ? at - 1 : at;

const isHalf = (text: string, at: number, kind: number) => (text.charCodeAt(at) & 0xfc00) === kind;

/**
 * Where to cut a text that goes on: after its last block, else its last line, else its last word. A border in the first
 * half would waste too much room.
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

/** The end of the last empty line that is not within fenced code; 0 when there is none. */
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
  /** Tokens of what stands around it. */
  readonly overheadTokens: number;
}

/**
 * How many tokens each of several texts may have of `tokens` together, with what stands around it: as many as it needs
 * when that is less than its even share, and what such texts leave over goes to the others.
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

/** The tokens of a text, or `most` when it has as many or more. */
const countUpTo = (text: string, most: number) =>
  Math.min(most, countTokens(text.slice(0, most * CHARACTERS_PER_TOKEN)));
