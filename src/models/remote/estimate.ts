/**
 * Token estimates for texts whose tokenizer is on a remote server. They use the vocabulary cl100k_base, so they are
 * exact only for models with that vocabulary.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** Counts and truncates. `load` must be called first. */
export interface TokenCounter {
  load(): Promise<void>;
  count(text: string): number;
  /** Returns the text of the first `limit` tokens. */
  keep(text: string, limit: number): string;
}

/** Number of special tokens that most encoders add around a text. */
export const SPECIAL_TOKENS = 2;

/** Number of characters counted between two yields to the event loop, which takes a few milliseconds. */
const CHARACTERS_PER_STEP = 50_000;

/** Yields to the event loop every few milliseconds. */
function createYielder(signal: AbortSignal): (characters: number) => Promise<void> | undefined {
  let done = 0;
  return (characters) => {
    done += characters;
    if (done < CHARACTERS_PER_STEP) return undefined;
    done = 0;
    return turn().then(() => signal.throwIfAborted());
  };
}

/** Token count of each text, including special tokens. */
export async function estimate(tokens: TokenCounter, texts: readonly string[], signal: AbortSignal): Promise<number[]> {
  signal.throwIfAborted();
  await tokens.load();
  const pause = createYielder(signal);
  const counts: number[] = [];
  for (const text of texts) {
    let count = SPECIAL_TOKENS;
    // A token that spans two pieces may be counted twice.
    for (let at = 0; at < text.length; at += CHARACTERS_PER_STEP) {
      const piece = text.slice(at, at + CHARACTERS_PER_STEP);
      count += tokens.count(piece);
      await pause(piece.length);
    }
    counts.push(count);
  }
  return counts;
}

/** Maximum length, in characters, of ordinary text with this many tokens. */
const charactersOf = (count: number) => count * 8;

/** Splits a text into pieces of at most `limit` tokens, in linear time. */
export async function windows(
  tokens: TokenCounter,
  text: string,
  limit: number,
  signal: AbortSignal,
): Promise<string[]> {
  const pause = createYielder(signal);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const ahead = text.slice(at, at + charactersOf(limit));
    // A single character may have more tokens than `limit`.
    const piece = tokens.keep(ahead, limit) || ahead.slice(0, 2);
    pieces.push(piece);
    at += piece.length;
    await pause(ahead.length);
  }
  return pieces.length ? pieces : [''];
}

/**
 * Replaces lone surrogates, which servers reject, and the empty string, which many servers reject. The replacement for
 * the empty string is a space, which has the same token count.
 */
export function sanitizeText(text: string): string {
  return text === '' ? ' ' : text.replace(/\p{Surrogate}/gu, '\ufffd');
}
