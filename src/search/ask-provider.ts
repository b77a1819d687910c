/** Sends a query to a search provider, with a timeout and a size limit. Every failure becomes a ProviderError. */
import { Problem } from '#errors.ts';
import { cleanStrings } from '#html/characters.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Hit } from './hit.ts';
import type { EngineName, ProviderRequest } from './provider.ts';
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
  /** What callers are told. */
  readonly reason: FailureReason;

  constructor(
    message: string,
    {
      restMs = 0,
      isTransient = false,
      reason = 'failed',
    }: { restMs?: number; isTransient?: boolean; reason?: FailureReason } = {},
  ) {
    super(message);
    this.restMs = restMs;
    this.isTransient = isTransient;
    this.reason = reason;
  }
}

export type FailureReason = 'failed' | 'refused' | 'rate limit' | 'too slow' | 'limits unknown';

export type AskProvider = (
  row: ProviderRow,
  query: SearchQuery,
  options: {
    readonly signal: AbortSignal;
    readonly engine?: EngineName | undefined;
    /** Called if a response with hits asks for a pause. */
    readonly onRest?: ((restMs: number) => void) | undefined;
  },
) => Promise<Hit[]>;

export interface AskTools {
  readonly fetch: TrustedFetch;
  readonly userAgent: string;
  /** The operator's mail address, for services that ask for one. */
  readonly email?: string | undefined;
}

/**
 * Creates a function that rejects with ProviderError or the signal's reason. It retries a quick, transient failure
 * once, except at a public source, whose limits count every request.
 */
export const createAskProvider =
  ({ fetch, userAgent, email }: AskTools): AskProvider =>
  async (row, query, { signal, engine, onRest }) => {
    const { provider, timeoutMs } = row;
    const settings = { ...row.settings, engine, email };
    const send = async ({ url, ...request }: ProviderRequest): Promise<unknown> => {
      const headers = { 'user-agent': userAgent, ...request.headers };
      const options = { ...request, headers, signal, timeoutMs, maxBytes: MAX_RESPONSE_BYTES };
      const answer = await fetch(url, options).catch((error: unknown) => {
        throw failureOf(error, signal, true);
      });
      if (answer.status !== 200) {
        answer.discard();
        throw refusal(answer.status, answer.headers, provider.source !== undefined);
      }
      const body = await (provider.format === 'text' ? answer.text() : answer.json()).catch((error: unknown) => {
        throw failureOf(error, signal, false);
      });
      const { error, restMs = 0 } = provider.inspect?.(body) ?? {};
      if (error !== undefined) throw new ProviderError(error, { restMs, reason: restMs > 0 ? 'rate limit' : 'failed' });
      if (restMs > 0) onRest?.(restMs);
      return body;
    };
    const once = async () => {
      let body = await send(provider.request(query, settings));
      if (provider.followUp) {
        const next = provider.followUp(body, query, settings);
        if (!next) return [];
        body = await send(next);
      }
      // Hits are shown together with pages, so invisible characters are removed from both.
      return cleanStrings(provider.parse(body, query, settings).slice(0, MAX_HITS));
    };
    const startedAt = performance.now();
    return once().catch((error: unknown) => {
      const quick = performance.now() - startedAt < QUICK_FAILURE_MS && !provider.source;
      if (quick && !signal.aborted && error instanceof ProviderError && error.isTransient) return once();
      throw error;
    });
  };

function failureOf(error: unknown, signal: AbortSignal, isTransient: boolean): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof Problem ? new ProviderError(error.message.replace(SUBJECT, ''), { isTransient }) : error;
}

/** Prefix of error messages from the trusted fetch. The log replaces it with the name of the provider. */
const SUBJECT = /^A service needed for this request /;

/** `isKeyless`: a 401 or 403 is not about a key, but refuses this server for some time. */
function refusal(status: number, headers: Readonly<Record<string, string>>, isKeyless: boolean): ProviderError {
  const askedMs = askedPause(headers);
  if (isKeyless && (status === 401 || status === 403)) {
    const restMs = Math.min(askedMs ?? REFUSED_MS, MAX_REST_MS);
    return new ProviderError(`refused the request (status ${status})`, { restMs, reason: 'refused' });
  }
  if (status === 401 || status === 403)
    return new ProviderError(`refused the key or the response format (status ${status}); check both in its settings`, {
      reason: 'refused',
    });
  if (status === 402 || status === 429) {
    const restMs = Math.min(askedMs ?? (isKeyless ? KEYLESS_REST_MS : DEFAULT_REST_MS), MAX_REST_MS);
    return new ProviderError(`limits the rate or quota of requests (status ${status})`, {
      restMs,
      reason: 'rate limit',
    });
  }
  const restMs = isKeyless && askedMs !== undefined ? Math.min(askedMs, MAX_REST_MS) : 0;
  return new ProviderError(`answered with status ${status}`, { isTransient: status >= 500, restMs });
}

/**
 * The pause that a response asks for, in ms: `Retry-After` in s or as a date, or the time at which the limit of GitHub
 * is reset.
 */
function askedPause(headers: Readonly<Record<string, string>>): number | undefined {
  const after = headers['retry-after']?.trim();
  if (after) {
    const ms = /^\d+(?:\.\d+)?$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
    if (ms > 0) return ms;
  }
  const reset = Number(headers['x-ratelimit-reset']) * 1_000 - Date.now();
  return headers['x-ratelimit-remaining'] === '0' && reset > 0 ? reset : undefined;
}

/** How long a rate-limited provider gets no requests: the defaults without Retry-After, and the maximum. */
const DEFAULT_REST_MS = 10_000;
const KEYLESS_REST_MS = 60_000;
const REFUSED_MS = 600_000;
const MAX_REST_MS = 3_600_000;
