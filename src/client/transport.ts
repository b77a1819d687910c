/** One call over HTTP: retries transient failures, supports timeout and cancellation, and throws one class of error. */
import { errorFromResponse, LecternError, LecternUnreachable, streamInterrupted } from './errors.ts';
import { chunksOf } from './events.ts';
import type { FaceName, Places } from './face-urls.ts';
import { type CallLimits, createCallLimits } from './limits.ts';
import { createRequestBuilder } from './requests.ts';
import { bytesOf, EVENT_STREAM, isRedirect, jsonOf, redirectError, requireEventStream } from './responses.ts';
import { isRetryable, pauseMs } from './retries.ts';

export interface ClientOptions {
  /**
   * URL of the reader; `http://127.0.0.1:3000` by default. The other URLs are derived from it: the host `r.` becomes
   * `s.`, `api.` and `flow.`, or the next three ports are used.
   */
  readonly baseUrl?: string | undefined;
  /** URLs of APIs that cannot be derived from `baseUrl`. */
  readonly urls?: Partial<Places> | undefined;
  readonly apiKey?: string | undefined;
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined;
  /** Retries per call; 2 by default. */
  readonly retries?: number | undefined;
  /** Timeout of a call including retries; 240,000 by default, none for streams and jobs. 0 disables it. */
  readonly timeoutMs?: number | undefined;
  /** Headers sent with each call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called with the response headers, such as `x-stale-copy` and `x-search-notice`. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

export interface RequestSpec {
  readonly face: FaceName;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
  /** A body to send as JSON. */
  readonly json?: unknown;
  /** A body to send unchanged. Its media type is that of the Blob. */
  readonly body?: Blob;
  /** Whether the request can be repeated safely. */
  readonly idempotent?: boolean;
  /** Disables the default timeout, for streams and jobs. */
  readonly untimed?: boolean;
  /** A status of 400 or above that counts as success. */
  readonly acceptedStatus?: number;
  /** Whether to follow redirects. Screenshots need this, because they are stored at another URL. */
  readonly followRedirects?: boolean;
}

export interface Transport {
  /** Throws a LecternError, or the reason of the signal if the caller aborted it. */
  json<T>(spec: RequestSpec, call?: CallOptions): Promise<T>;
  text(spec: RequestSpec, call?: CallOptions): Promise<string>;
  bytes(
    spec: RequestSpec,
    call?: CallOptions,
  ): Promise<{ bytes: Uint8Array; type: string; targetStatus?: number; warning?: string }>;
  /** Yields the body as it arrives. Leaving the loop ends the call. */
  stream(spec: RequestSpec, call?: CallOptions): AsyncGenerator<Uint8Array>;
}

/** Longer than a server needs for one page. */
const DEFAULT_TIMEOUT_MS = 240_000;
const DEFAULT_RETRIES = 2;

export function createTransport(options: ClientOptions): Transport {
  const { urlOf, requestOf } = createRequestBuilder(options);
  const { retries = DEFAULT_RETRIES } = options;
  // Looked up for each call, because programs may replace it.
  const send: typeof fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));

  /** Makes one attempt. Returns the response once its headers arrive; throws for an error status. */
  async function start(spec: RequestSpec, call: CallOptions, limits: CallLimits): Promise<Response> {
    const url = urlOf(spec);
    const request = requestOf(spec, call, limits.signal);
    let response: Response;
    try {
      response = await send(url, request);
    } catch (error) {
      throw limits.abortReason() ?? new LecternUnreachable(url, error);
    }
    if (response.ok || response.status === spec.acceptedStatus) {
      call.onHeaders?.(response.headers);
      return response;
    }
    if (response.type === 'opaqueredirect' || isRedirect(response.status)) throw await redirectError(response, url);
    const text = await response.text().catch(() => '');
    throw limits.abortReason() ?? errorFromResponse(response.status, response.headers, text);
  }

  /** Retries until the call succeeds or fails permanently. */
  async function withRetries<T>(
    spec: RequestSpec,
    call: CallOptions,
    limits: CallLimits,
    read: (response: Response) => Promise<T>,
  ) {
    for (let tries = 0; ; tries++) {
      try {
        limits.check();
        return await read(await start(spec, call, limits));
      } catch (error) {
        if (tries >= retries || !isRetryable(error, spec.idempotent ?? false)) throw error;
        const waitMs = pauseMs(tries, (error as LecternError).retryAfterMs);
        if (waitMs === undefined || waitMs >= limits.leftMs()) throw error;
        await limits.wait(waitMs);
      }
    }
  }

  async function callAndRead<T>(
    spec: RequestSpec,
    call: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const limits = createCallLimits(call.signal, timeoutOf(spec, call));
    try {
      return await withRetries(spec, call, limits, async (response) => {
        try {
          return await read(response);
        } catch (error) {
          throw (
            limits.abortReason() ?? (error instanceof LecternError ? error : new LecternUnreachable(urlOf(spec), error))
          );
        }
      });
    } finally {
      limits.release();
    }
  }

  const timeoutOf = (spec: RequestSpec, call: CallOptions) =>
    call.timeoutMs ?? (spec.untimed ? undefined : (options.timeoutMs ?? DEFAULT_TIMEOUT_MS));

  return {
    json: <T>(spec: RequestSpec, call: CallOptions = {}) =>
      callAndRead(spec, call, (response) => jsonOf<T>(response, urlOf(spec))),
    text: (spec, call = {}) => callAndRead(spec, call, (response) => response.text()),
    bytes: (spec, call = {}) => callAndRead(spec, call, bytesOf),
    async *stream(spec, call = {}) {
      const limits = createCallLimits(call.signal, timeoutOf({ ...spec, untimed: true }, call));
      try {
        const response = await withRetries(spec, call, limits, async (started) => started);
        if (spec.accept?.startsWith(EVENT_STREAM)) await requireEventStream(response, urlOf(spec));
        if (!response.body) return;
        try {
          yield* chunksOf(response.body);
        } catch (error) {
          throw limits.abortReason() ?? streamInterrupted(error);
        }
      } finally {
        limits.release();
      }
    },
  };
}
