/** Sends a query to a search provider, with a timeout and a size limit. Every failure becomes a ProviderError. */
import { Problem } from '#errors.ts';
import { cleanStrings } from '#html/characters.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Hit } from './hit.ts';
import type { EngineName } from './provider.ts';
import type { SearchQuery } from './query.ts';
import type { ProviderRow } from './settings.ts';

/** Maximum number of hits from one response. */
export const MAX_HITS = 100;
const MAX_RESPONSE_BYTES = 4_000_000;
/** A request that failed within this time, in milliseconds, is retried once. */
const QUICK_FAILURE_MS = 1_000;

/** A provider failed. The message is for the log and contains neither the URL nor the key. */
export class ProviderError extends Error {
  /** How long to send no requests to the provider, in ms; 0 if unknown. */
  readonly restMs: number;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;

  constructor(message: string, { restMs = 0, isTransient = false }: { restMs?: number; isTransient?: boolean } = {}) {
    super(message);
    this.restMs = restMs;
    this.isTransient = isTransient;
  }
}

export type AskProvider = (
  row: ProviderRow,
  query: SearchQuery,
  options: { readonly signal: AbortSignal; readonly engine?: EngineName | undefined },
) => Promise<Hit[]>;

/**
 * Creates a function that rejects with ProviderError or the signal's reason. It retries a quick, transient failure
 * once.
 */
export const createAskProvider =
  ({ fetch, userAgent }: { readonly fetch: TrustedFetch; readonly userAgent: string }): AskProvider =>
  async (row, query, { signal, engine }) => {
    const { provider, timeoutMs } = row;
    const settings = { ...row.settings, engine };
    const failed = (error: unknown, isTransient: boolean): unknown => {
      if (signal.aborted) return signal.reason;
      return error instanceof Problem ? new ProviderError(error.message.replace(SUBJECT, ''), { isTransient }) : error;
    };
    const once = async () => {
      const { url, ...request } = provider.request(query, settings);
      const headers = { 'user-agent': userAgent, ...request.headers };
      const options = { ...request, headers, signal, timeoutMs, maxBytes: MAX_RESPONSE_BYTES };
      const answer = await fetch(url, options).catch((error: unknown) => {
        throw failed(error, true);
      });
      if (answer.status !== 200) {
        answer.discard();
        throw refusal(answer.status, answer.headers['retry-after']);
      }
      const body = await answer.json().catch((error: unknown) => {
        throw failed(error, false);
      });
      // Hits are shown together with pages, so invisible characters are removed from both.
      return cleanStrings(provider.parse(body, query, settings).slice(0, MAX_HITS));
    };
    const startedAt = performance.now();
    return once().catch((error: unknown) => {
      const quick = performance.now() - startedAt < QUICK_FAILURE_MS;
      if (quick && !signal.aborted && error instanceof ProviderError && error.isTransient) return once();
      throw error;
    });
  };

/** Prefix of error messages from the trusted fetch. The log replaces it with the name of the provider. */
const SUBJECT = /^A service needed for this request /;

function refusal(status: number, retryAfter: string | undefined): ProviderError {
  if (status === 401 || status === 403)
    return new ProviderError(`refused the key or the response format (status ${status}); check both in its settings`);
  if (status === 402 || status === 429) {
    const restS = Math.min(Number(retryAfter) || DEFAULT_REST_S, MAX_REST_S);
    return new ProviderError(`limits the rate or quota of requests (status ${status})`, { restMs: restS * 1_000 });
  }
  return new ProviderError(`answered with status ${status}`, { isTransient: status >= 500 });
}

/** How long a rate-limited provider gets no requests: the default without Retry-After, and the maximum. */
const DEFAULT_REST_S = 10;
const MAX_REST_S = 3_600;
