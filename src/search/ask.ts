/** Asking a service: one request with a time limit and a bound, and every way it can go wrong as one failure. */
import { Problem } from '#errors.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Hit } from './hit.ts';
import type { EngineName } from './provider.ts';
import type { SearchQuery } from './query.ts';
import type { ProviderRow } from './settings.ts';

/** More than this no list has, whatever a service answers. */
export const MAX_HITS = 100;
const MAX_ANSWER_BYTES = 4_000_000;
/** Failures within this may be asked again: they cost nothing. */
const QUICK_MS = 1_000;

/** A service that did not serve. The message is for the log: it names no address and no key. */
export class ProviderFailure extends Error {
  /** How long it asks to be left alone. */
  readonly restMs: number | undefined;

  constructor(message: string, restMs?: number) {
    super(message);
    this.restMs = restMs;
  }
}

export type Ask = (
  row: ProviderRow,
  query: SearchQuery,
  options: { readonly signal: AbortSignal; readonly engine?: EngineName | undefined },
) => Promise<Hit[]>;

/** Rejects with ProviderFailure or the signal's reason. */
export const createAsk =
  ({ fetch, userAgent }: { readonly fetch: TrustedFetch; readonly userAgent: string }): Ask =>
  async (row, query, { signal, engine }) => {
    const { provider, timeoutMs } = row;
    const settings = { ...row.settings, engine };
    const once = async () => {
      const { url, ...request } = provider.request(query, settings);
      const headers = { 'user-agent': userAgent, ...request.headers };
      const answer = await fetch(url, { ...request, headers, signal, timeoutMs, maxBytes: MAX_ANSWER_BYTES });
      if (answer.status !== 200) {
        answer.discard();
        throw refusal(answer.status, answer.headers['retry-after']);
      }
      return provider.parse(await answer.json(), query, settings).slice(0, MAX_HITS);
    };
    const startedAt = performance.now();
    try {
      return await once();
    } catch (error) {
      const passing = error instanceof ProviderFailure ? error.restMs === 0 : error instanceof Problem;
      if (signal.aborted || !passing || performance.now() - startedAt > QUICK_MS) throw told(error, signal);
    }
    return await once().catch((error: unknown) => {
      throw told(error, signal);
    });
  };

function refusal(status: number, retryAfter: string | undefined): ProviderFailure {
  if (status === 401 || status === 403) return new ProviderFailure(`refuses the key, or the format (status ${status})`);
  if (status === 402 || status === 429) {
    const seconds = Number(retryAfter);
    return new ProviderFailure(`has had enough requests (status ${status})`, Math.min(seconds || 10, 3_600) * 1000);
  }
  return new ProviderFailure(`answered with status ${status}`, status >= 500 ? 0 : undefined);
}

function told(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof ProviderFailure) return error;
  return error instanceof Problem
    ? new ProviderFailure(error.message.replace(/^A service needed for this request /, ''))
    : error;
}
