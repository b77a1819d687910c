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

/** Of each text, special tokens included; long lists let others in between. */
export async function estimate(tokens: TokenCounter, texts: readonly string[], signal: AbortSignal): Promise<number[]> {
  signal.throwIfAborted();
  await tokens.load();
  const counts: number[] = [];
  let characters = 0;
  for (const text of texts) {
    characters += text.length;
    if (characters > CHARACTERS_A_TURN) {
      characters = 0;
      await turn();
      signal.throwIfAborted();
    }
    counts.push(tokens.count(text) + SPECIAL_TOKENS);
  }
  return counts;
}

/** More characters than so many tokens of ordinary text have. */
const charactersOf = (count: number) => count * 16;

/** The text in pieces of at most so many tokens, in time linear in its length. */
export function windows(tokens: TokenCounter, text: string, limit: number): string[] {
  const pieces: string[] = [];
  let at = 0;
  while (at < text.length) {
    const kept = tokens.keep(text.slice(at, at + charactersOf(limit)), limit);
    // A single character may be more tokens than there is room for.
    const piece = kept || text.slice(at, at + 2);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces.length ? pieces : [''];
}

/** Unpaired surrogates are no text to a server; nor is the empty string to many, and a space gives the same tokens. */
export function sendable(text: string): string {
  return text === '' ? ' ' : text.replace(/\p{Surrogate}/gu, '\ufffd');
}
