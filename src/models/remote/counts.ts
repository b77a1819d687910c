/**
 * Exact token counts from servers that provide them. They are requested only if the estimate is too close to the limit.
 */
import type { TokenCounter } from './estimate.ts';
import { countOf, malformed } from './fields.ts';
import { runAll, runsOf } from './requests.ts';
import type { Server } from './server.ts';
import { RequestRefusedError } from './transport.ts';

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
