/**
 * Token counts of texts whose tokenizer is on a remote server: estimates, and exact counts from servers that provide
 * them. Exact counts are requested only if the estimate is too close to the limit.
 */
import { createYielder } from '#concurrency/yielder.ts';
import { countOf, malformed } from './answers.ts';
import { runAll, runsOf } from './requests.ts';
import type { Server } from './server.ts';
import { RequestRefusedError } from './transport.ts';

/** Counts and truncates. `load` must be called first. */
export interface TokenCounter {
  load(): Promise<void>;
  count(text: string): number;
  /** Returns the text of the first `limit` tokens. */
  keep(text: string, limit: number): string;
}

/** Number of special tokens that most encoders add around a text. */
export const SPECIAL_TOKENS = 2;

/** Number of characters counted in one step, which takes a few milliseconds. */
const CHARACTERS_PER_STEP = 50_000;

/** Token count of each text, including special tokens. */
export async function estimate(tokens: TokenCounter, texts: readonly string[], signal: AbortSignal): Promise<number[]> {
  signal.throwIfAborted();
  await tokens.load();
  const yieldIfDue = createYielder(signal);
  const counts: number[] = [];
  for (const text of texts) {
    let count = SPECIAL_TOKENS;
    // A token that spans two pieces may be counted twice.
    for (let at = 0; at < text.length; at += CHARACTERS_PER_STEP) {
      const piece = text.slice(at, at + CHARACTERS_PER_STEP);
      count += tokens.count(piece);
      await yieldIfDue();
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
  const yieldIfDue = createYielder(signal);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const ahead = text.slice(at, at + charactersOf(limit));
    // A single character may have more tokens than `limit`.
    const piece = tokens.keep(ahead, limit) || ahead.slice(0, 2);
    pieces.push(piece);
    at += piece.length;
    await yieldIfDue();
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

export interface CountedText {
  readonly text: string;
  /** An estimate. */
  readonly tokens: number;
}

/**
 * A text whose estimate is below this share of the limit cannot be too long: other vocabularies produce at most 1 / 0.4
 * times as many tokens as the estimate.
 */
export const SURE_SHARE = 0.4;
/** A text whose estimate is at least this many times the limit is certainly too long. */
const SURELY_TOO_LONG = 4;
const BYTES_A_TOKEN = 512;

export interface ExactCounts {
  /** Returns the token count of each text: exact where it matters and the server supports it, otherwise estimated. */
  of(texts: readonly CountedText[], contextTokens: number, signal: AbortSignal): Promise<number[]>;
}

export function createExactCounts({ protocol, transport, limits }: Server, model: string): ExactCounts {
  const { count } = protocol;
  let known = count !== undefined;

  async function ask(texts: readonly CountedText[], signal: AbortSignal): Promise<(number | undefined)[]> {
    const tokens = texts.reduce((sum, text) => sum + text.tokens, 0);
    const request = count!.request(
      model,
      texts.map(({ text }) => text),
    );
    const reply = await transport.send(request, { signal, maxBytes: 65_536 + tokens * BYTES_A_TOKEN });
    const counts = count!.parse(reply).map(countOf);
    if (counts.length !== texts.length || counts.includes(undefined))
      throw malformed('its token counts are not numbers');
    return counts;
  }

  return {
    async of(texts, contextTokens, signal) {
      const counts = texts.map(({ tokens }) => tokens);
      if (!known) return counts;
      const doubtful = texts.flatMap(({ text, tokens }, index) =>
        tokens > contextTokens * SURE_SHARE && tokens < contextTokens * SURELY_TOO_LONG
          ? [{ text, tokens, index }]
          : [],
      );
      if (doubtful.length === 0) return counts;
      const runs = runsOf(doubtful, { ...limits(), inputs: Math.min(count!.inputs, limits().inputs) });
      try {
        const exact = await runAll(
          signal,
          runs.map((run) => (end) => ask(run, end)),
        );
        for (const [at, value] of exact.flat().entries()) counts[doubtful[at]!.index] = value!;
      } catch (error) {
        if (!(error instanceof RequestRefusedError)) throw error;
        // If a gateway blocks the request, the estimate is used.
        known = error.tooLong;
      }
      return counts;
    },
  };
}

/** Truncates a text to `maxTokens` minus special tokens, scaled by the ratio of the estimate to the exact count. */
export function cutTo(
  tokens: TokenCounter,
  text: CountedText,
  exact: number,
  maxTokens: number,
  special: number,
): string {
  const scale = Math.min(1, text.tokens / exact);
  return tokens.keep(text.text, Math.max(1, Math.floor((maxTokens - special) * scale)));
}
