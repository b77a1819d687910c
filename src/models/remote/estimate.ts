/**
 * Tokens of texts whose tokenizer is elsewhere: counted with another vocabulary (cl100k_base), so an estimate for all
 * models but those that use that one.
 */
import { setImmediate as turn } from 'node:timers/promises';

/** What counts and cuts; loaded before it is used. */
export interface TokenCounter {
  load(): Promise<void>;
  count(text: string): number;
  /** The first `limit` tokens. */
  keep(text: string, limit: number): string;
}

/** What most encoders put around a text. */
export const SPECIAL_TOKENS = 2;

/** Characters that are counted before others get their turn: some ms. */
const CHARACTERS_A_TURN = 50_000;

/** Lets others in between, some ms apart. */
function createYielder(signal: AbortSignal): (characters: number) => Promise<void> | undefined {
  let done = 0;
  return (characters) => {
    done += characters;
    if (done < CHARACTERS_A_TURN) return undefined;
    done = 0;
    return turn().then(() => signal.throwIfAborted());
  };
}

/** Of each text, special tokens included. */
export async function estimate(tokens: TokenCounter, texts: readonly string[], signal: AbortSignal): Promise<number[]> {
  signal.throwIfAborted();
  await tokens.load();
  const pause = createYielder(signal);
  const counts: number[] = [];
  for (const text of texts) {
    let count = SPECIAL_TOKENS;
    // Where a long text is cut, a token may become two.
    for (let at = 0; at < text.length; at += CHARACTERS_A_TURN) {
      const piece = text.slice(at, at + CHARACTERS_A_TURN);
      count += tokens.count(piece);
      await pause(piece.length);
    }
    counts.push(count);
  }
  return counts;
}

/** As many characters as so many tokens of ordinary text have at most. */
const charactersOf = (count: number) => count * 8;

/** The text in pieces of at most so many tokens, in time linear in its length. */
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
    // A single character may be more tokens than there is room for.
    const piece = tokens.keep(ahead, limit) || ahead.slice(0, 2);
    pieces.push(piece);
    at += piece.length;
    await pause(ahead.length);
  }
  return pieces.length ? pieces : [''];
}

/** Unpaired surrogates are no text to a server; nor is the empty string to many, and a space gives the same tokens. */
export function sendable(text: string): string {
  return text === '' ? ' ' : text.replace(/\p{Surrogate}/gu, '\ufffd');
}
