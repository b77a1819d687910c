/** Asking a service: one request with a time limit and a bound, and every way it can go wrong as one failure. */
import { Problem } from '#errors.ts';
import { cleanData } from '#html/characters.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Hit } from './hit.ts';
import type { EngineName } from './provider.ts';
import type { SearchQuery } from './query.ts';
import type { ProviderRow } from './settings.ts';

/** More than this no list has, whatever a service answers. */
export const MAX_HITS = 100;
const MAX_ANSWER_BYTES = 4_000_000;
/** What failed within this may be asked again: it cost nobody time. */
const QUICK_MS = 1_000;

/** A service that did not serve. The message is for the log: it names no address and no key. */
export class ProviderError extends Error {
  /** How long it asks to be left alone, in ms; 0 when it does not. */
  readonly restMs: number;
  /** Whether the next request may well be served. */
  readonly isTransient: boolean;

  constructor(message: string, { restMs = 0, passing = false }: { restMs?: number; passing?: boolean } = {}) {
    super(message);
    this.restMs = restMs;
    this.isTransient = passing;
  }
}

export type AskProvider = (
  row: ProviderRow,
  query: SearchQuery,
  options: { readonly signal: AbortSignal; readonly engine?: EngineName | undefined },
) => Promise<Hit[]>;

/** Rejects with ProviderFailure or the signal's reason. What fails at once and in passing is asked once more. */
export const createAskProvider =
  ({ fetch, userAgent }: { readonly fetch: TrustedFetch; readonly userAgent: string }): AskProvider =>
  async (row, query, { signal, engine }) => {
    const { provider, timeoutMs } = row;
    const settings = { ...row.settings, engine };
    const failed = (error: unknown, passing: boolean): unknown => {
      if (signal.aborted) return signal.reason;
      return error instanceof Problem ? new ProviderError(error.message.replace(SUBJECT, ''), { passing }) : error;
    };
    const once = async () => {
      const { url, ...request } = provider.request(query, settings);
      const headers = { 'user-agent': userAgent, ...request.headers };
      const options = { ...request, headers, signal, timeoutMs, maxBytes: MAX_ANSWER_BYTES };
      const answer = await fetch(url, options).catch((error: unknown) => {
        throw failed(error, true);
      });
      if (answer.status !== 200) {
        answer.discard();
        throw refusal(answer.status, answer.headers['retry-after']);
      }
      const said = await answer.json().catch((error: unknown) => {
        throw failed(error, false);
      });
      // What a service found is shown beside pages: no more of it is hidden than of them.
      return cleanData(provider.parse(said, query, settings).slice(0, MAX_HITS));
    };
    const startedAt = performance.now();
    return once().catch((error: unknown) => {
      const quick = performance.now() - startedAt < QUICK_MS;
      if (quick && !signal.aborted && error instanceof ProviderError && error.isTransient) return once();
      throw error;
    });
  };

/** How the failures of the way to services begin. */
const SUBJECT = /^A service needed for this request /;

function refusal(status: number, retryAfter: string | undefined): ProviderError {
  if (status === 401 || status === 403) return new ProviderError(`refuses the key, or the format (status ${status})`);
  if (status === 402 || status === 429) {
    const restS = Math.min(Number(retryAfter) || STANDARD_REST_S, MAX_REST_S);
    return new ProviderError(`has had enough requests (status ${status})`, { restMs: restS * 1_000 });
  }
  return new ProviderError(`answered with status ${status}`, { passing: status >= 500 });
}

/** What a service is left alone for that does not say how long, and at most. */
const STANDARD_REST_S = 10;
const MAX_REST_S = 3_600;
