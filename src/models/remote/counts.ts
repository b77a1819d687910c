/** Exact counts of a server that tells them, asked for only where an estimate could be wrong about the limit. */
import type { TokenCounter } from './estimate.ts';
import { countOf, malformed } from './fields.ts';
import { runsOf, together } from './requests.ts';
import type { Server } from './server.ts';
import { RequestRefusedError } from './transport.ts';

export interface CountedText {
  readonly text: string;
  /** An estimate. */
  readonly tokens: number;
}

/** Other vocabularies make up to so many times the tokens of the estimate; below, no text can be too long. */
export const SURE_SHARE = 0.4;
/** What is estimated to be so many times too long is too long. */
const SURELY_TOO_LONG = 4;
const BYTES_A_TOKEN = 512;

export interface ExactCounts {
  /** Each text's tokens: exact where that matters and the server can, the estimate elsewhere. */
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
    if (counts.length !== texts.length || counts.includes(undefined)) throw malformed('its counts are no counts');
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
        const exact = await together(
          signal,
          runs.map((run) => (end) => ask(run, end)),
        );
        for (const [at, value] of exact.flat().entries()) counts[doubtful[at]!.index] = value!;
      } catch (error) {
        if (!(error instanceof RequestRefusedError)) throw error;
        // A gateway in front may not let it through; the estimate has to do.
        known = error.tooLong;
      }
      return counts;
    },
  };
}

/** Cut to what is left of `maxTokens` beside the special tokens, where the tokens were found to be another number. */
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
