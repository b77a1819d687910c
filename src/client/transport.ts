/** One call over HTTP: retries transient failures, supports timeout and cancellation, and throws one class of error. */
import { errorFromResponse, isRecord, LecternError, LecternUnreachable, streamCut } from './errors.ts';
import { chunksOf } from './events.ts';
import { type FaceName, type Places, resolveFaceUrls } from './face-urls.ts';
import { type CallLimits, createCallLimits } from './limits.ts';

export interface ClientOptions {
  /**
   * URL of the reader; `http://127.0.0.1:3000` by default. The other faces follow from it: host `r.` becomes `s.`, `api.`
   * and `flow.`, or the port becomes the next three.
   */
  readonly baseUrl?: string | undefined;
  /** URLs of single faces that do not follow from `baseUrl`. */
  readonly urls?: Partial<Places> | undefined;
  readonly apiKey?: string | undefined;
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof fetch | undefined;
  /** Retries per call; 2 by default. */
  readonly retries?: number | undefined;
  /** Timeout of a call including retries; 240,000 by default, none for streams and jobs. 0 disables it. */
  readonly timeoutMs?: number | undefined;
  /** Sent with each call. */
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
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged with its media type. */
  readonly body?: Blob;
  /** Whether the request can be repeated safely. */
  readonly idempotent?: boolean;
  /** No default timeout: for streams and jobs. */
  readonly untimed?: boolean;
  /** A status of 400 or above that counts as success. */
  readonly acceptedStatus?: number;
  /** Whether to follow redirects: screenshots are stored at another URL. */
  readonly followRedirects?: boolean;
}

export interface Transport {
  /** Throws a LecternError, or the reason of the signal if the caller aborted it. */
  json<T>(ask: RequestSpec, call?: CallOptions): Promise<T>;
  text(ask: RequestSpec, call?: CallOptions): Promise<string>;
  bytes(
    ask: RequestSpec,
    call?: CallOptions,
  ): Promise<{ bytes: Uint8Array; type: string; targetStatus?: number; warning?: string }>;
  /** Yields the body as it arrives. Leaving the loop ends the call. */
  stream(ask: RequestSpec, call?: CallOptions): AsyncGenerator<Uint8Array>;
}

/** Longer than a server takes for one page. */
const DEFAULT_TIMEOUT_MS = 240_000;
const DEFAULT_RETRIES = 2;

export function createTransport(options: ClientOptions): Transport {
  const places = resolveFaceUrls(options.baseUrl, options.urls);
  const { retries = DEFAULT_RETRIES } = options;
  const apiKey = options.apiKey?.trim();
  // Checked here: the error of `fetch` would contain the key.
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('The API key contains invalid characters: only visible ASCII is allowed');
  // Looked up at each call, since programs may replace it.
  const send: typeof fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));

  function urlOf({ face, path }: RequestSpec): string {
    const place = places[face];
    if (place !== undefined) return place + path;
    throw new TypeError(`The URL of the face "${face}" does not follow from ${options.baseUrl}: set \`urls.${face}\``);
  }

  function requestOf(ask: RequestSpec, call: CallOptions, signal: AbortSignal | undefined): RequestInit {
    const headers = new Headers({
      accept: ask.accept ?? 'application/json',
      ...(ask.json !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    });
    for (const [name, value] of Object.entries({ ...options.headers, ...call.headers })) headers.set(name, value);
    const body = ask.json !== undefined ? JSON.stringify(ask.json) : ask.body;
    // Redirects are not followed by default: key and content are meant for this server only.
    const redirect = ask.followRedirects ? 'follow' : 'manual';
    return {
      method: ask.method ?? 'GET',
      headers,
      redirect,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    };
  }

  /** Makes one attempt. Returns the response once its headers arrive; throws for an error status. */
  async function start(ask: RequestSpec, call: CallOptions, limits: CallLimits): Promise<Response> {
    const url = urlOf(ask);
    const request = requestOf(ask, call, limits.signal);
    let response: Response;
    try {
      response = await send(url, request);
    } catch (error) {
      throw limits.abortReason() ?? new LecternUnreachable(url, error);
    }
    if (response.ok || response.status === ask.acceptedStatus) {
      call.onHeaders?.(response.headers);
      return response;
    }
    if (response.type === 'opaqueredirect' || isRedirect(response.status)) throw await redirectError(response, url);
    const text = await response.text().catch(() => '');
    throw limits.abortReason() ?? errorFromResponse(response.status, response.headers, text);
  }

  /** Retries until the call succeeds or fails permanently. */
  async function withRetries<T>(
    ask: RequestSpec,
    call: CallOptions,
    limits: CallLimits,
    read: (response: Response) => Promise<T>,
  ) {
    for (let tries = 0; ; tries++) {
      try {
        limits.check();
        return await read(await start(ask, call, limits));
      } catch (error) {
        if (tries >= retries || !isRetryable(error, ask.idempotent ?? false)) throw error;
        const waitMs = pauseMs(tries, (error as LecternError).retryAfterMs);
        if (waitMs === undefined || waitMs >= limits.leftMs()) throw error;
        await limits.wait(waitMs);
      }
    }
  }

  async function callAndRead<T>(
    ask: RequestSpec,
    call: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const limits = createCallLimits(call.signal, timeoutOf(ask, call));
    try {
      return await withRetries(ask, call, limits, async (response) => {
        try {
          return await read(response);
        } catch (error) {
          throw (
            limits.abortReason() ?? (error instanceof LecternError ? error : new LecternUnreachable(urlOf(ask), error))
          );
        }
      });
    } finally {
      limits.release();
    }
  }

  const timeoutOf = (ask: RequestSpec, call: CallOptions) =>
    call.timeoutMs ?? (ask.untimed ? undefined : (options.timeoutMs ?? DEFAULT_TIMEOUT_MS));

  return {
    json: <T>(ask: RequestSpec, call: CallOptions = {}) =>
      callAndRead(ask, call, (response) => jsonOf<T>(response, urlOf(ask))),
    text: (ask, call = {}) => callAndRead(ask, call, (response) => response.text()),
    bytes: (ask, call = {}) =>
      callAndRead(ask, call, async (response) => ({
        bytes: new Uint8Array(await response.arrayBuffer()),
        type: response.headers.get('content-type') ?? 'application/octet-stream',
        ...targetFacts(response.headers),
      })),
    async *stream(ask, call = {}) {
      const limits = createCallLimits(call.signal, timeoutOf({ ...ask, untimed: true }, call));
      try {
        const response = await withRetries(ask, call, limits, async (started) => started);
        const type = typeOf(response);
        if (ask.accept?.startsWith(EVENT_STREAM) && !type.startsWith(EVENT_STREAM)) {
          throw unexpectedAnswer(response, {
            url: urlOf(ask),
            wanted: 'an event stream',
            body: await response.text(),
          });
        }
        if (!response.body) return;
        try {
          yield* chunksOf(response.body);
        } catch (error) {
          throw limits.abortReason() ?? streamCut(error);
        }
      } finally {
        limits.release();
      }
    },
  };
}

function targetFacts(headers: Headers) {
  const [status, warning] = [headers.get('x-target-status'), headers.get('x-warning')];
  return { ...(status !== null && { targetStatus: Number(status) }), ...(warning !== null && { warning }) };
}

async function jsonOf<T>(response: Response, url: string): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw unexpectedAnswer(response, { url, wanted: 'JSON', body: text }, cause);
  }
}

const EVENT_STREAM = 'text/event-stream';
const typeOf = ({ headers }: Response) => headers.get('content-type') ?? 'no content type';

interface Expected {
  readonly url: string;
  readonly wanted: string;
  readonly body: string;
}

function unexpectedAnswer(response: Response, { url, wanted, body }: Expected, cause?: unknown): LecternError {
  const message = `${url} answered with ${typeOf(response)} instead of ${wanted}: is this a Lectern server?`;
  return new LecternError(
    { message, code: 'BAD_ANSWER', status: response.status, body: body.slice(0, 1000) },
    { cause },
  );
}

/** Redirects with a Location (RFC 9110, section 15.4). */
const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

async function redirectError(response: Response, url: string): Promise<LecternError> {
  await response.body?.cancel();
  // Browsers hide the Location of a redirect.
  const location = response.headers.get('location') ?? 'another URL';
  const message = `${url} redirects to ${location}: use the URL of the server itself`;
  return new LecternError({ message, code: 'BAD_ANSWER', status: response.status || undefined });
}

/** Returns `data` of an answer. Throws `BAD_ANSWER` if it has another shape, as from a server that is not Lectern. */
export function dataOf<T>(answer: { readonly data: T }, isRight: (data: unknown) => boolean): T {
  if (isRecord(answer) && isRight(answer.data)) return answer.data;
  const message = 'The answer does not have the format of a Lectern answer: is this a Lectern server?';
  throw new LecternError({ message, code: 'BAD_ANSWER', body: answer });
}

/** Whether a failure is transient. */
function isRetryable(error: unknown, idempotent: boolean): boolean {
  if (error instanceof LecternUnreachable) return idempotent || wasNeverSent(error);
  if (!(error instanceof LecternError)) return false;
  const { status, code } = error;
  // Without a code, 502 and 504 come from a proxy in front of the server. The server's own 504 would time out again.
  const isFromProxy = code === undefined && (status === 502 || status === 504);
  return status === 429 || status === 503 || (idempotent && isFromProxy);
}

/** Codes of connections that were never established, so nothing was sent: in Node and Deno, and in Bun. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ConnectionRefused'];

function wasNeverSent({ cause }: LecternUnreachable): boolean {
  const { code } = ((cause as { cause?: unknown } | undefined)?.cause ?? cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && NOT_CONNECTED.includes(code);
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** The call fails if the server requests a longer wait: the caller decides. */
const MAX_RETRY_AFTER_MS = 65_000;

/** Back-off with jitter, so that clients refused together do not retry together. `undefined`: do not retry. */
function pauseMs(tries: number, retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs !== undefined)
    return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + Math.random() * FIRST_PAUSE_MS;
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
