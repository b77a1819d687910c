/** One call over HTTP: tries again what may pass, ends when it is told to or takes too long, and fails in one shape. */
import { errorFromResponse, isRecord, LecternError, LecternUnreachable, streamCut } from './errors.ts';
import { chunksOf } from './events.ts';
import { type FaceName, type Places, resolveFaceUrls } from './face-urls.ts';
import { type CallLimits, createCallLimits } from './limits.ts';

export interface ClientOptions {
  /**
   * The reader's address; `http://127.0.0.1:3000` when not given. The other faces follow from it: `r.` becomes `s.`, `api.`
   * and `flow.`, a port the next three.
   */
  readonly baseUrl?: string | undefined;
  /** Where single faces are, when that does not follow from `baseUrl`. */
  readonly urls?: Partial<Places> | undefined;
  readonly apiKey?: string | undefined;
  /** Instead of the one of the platform. */
  readonly fetch?: typeof fetch | undefined;
  /** How often a call is tried again: 2 when not given. */
  readonly retries?: number | undefined;
  /** For each call, with all its tries: 240,000 when not given, none for streams and jobs. 0: none. */
  readonly timeoutMs?: number | undefined;
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What can be said with each call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Told the headers of the answer: `x-stale-copy`, `x-search-notice` and others. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

export interface RequestSpec {
  readonly face: FaceName;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with its type. */
  readonly body?: Blob;
  /** Whether doing it twice is as good as doing it once. */
  readonly idempotent?: boolean;
  /** Streams and jobs, which take as long as they take. */
  readonly untimed?: boolean;
  /** A status that is an answer although it is 400 or more. */
  readonly acceptedStatus?: number;
  /** Whether what is asked for may be at another address: pictures are. */
  readonly followRedirects?: boolean;
}

export interface Transport {
  /** Throws LecternError; what the signal was aborted with, when that is why it ended. */
  json<T>(ask: RequestSpec, call?: CallOptions): Promise<T>;
  text(ask: RequestSpec, call?: CallOptions): Promise<string>;
  bytes(
    ask: RequestSpec,
    call?: CallOptions,
  ): Promise<{ bytes: Uint8Array; type: string; targetStatus?: number; warning?: string }>;
  /** The body as it comes. Leaving it ends the call. */
  stream(ask: RequestSpec, call?: CallOptions): AsyncGenerator<Uint8Array>;
}

/** Longer than the longest that a server works on one page. */
const DEFAULT_TIMEOUT_MS = 240_000;
const DEFAULT_RETRIES = 2;

export function createTransport(options: ClientOptions): Transport {
  const places = resolveFaceUrls(options.baseUrl, options.urls);
  const { retries = DEFAULT_RETRIES } = options;
  const apiKey = options.apiKey?.trim();
  // Said here: what `fetch` says has the key in it.
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('The API key has characters that no key has');
  // Looked up at each call: programs replace it.
  const send: typeof fetch = options.fetch ?? ((...given) => globalThis.fetch(...given));

  function urlOf({ face, path }: RequestSpec): string {
    const place = places[face];
    if (place !== undefined) return place + path;
    throw new TypeError(
      `Where the face "${face}" is does not follow from ${options.baseUrl}: give it as \`urls.${face}\``,
    );
  }

  function requestOf(ask: RequestSpec, call: CallOptions, signal: AbortSignal | undefined): RequestInit {
    const headers = new Headers({
      accept: ask.accept ?? 'application/json',
      ...(ask.json !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    });
    for (const [name, value] of Object.entries({ ...options.headers, ...call.headers })) headers.set(name, value);
    const body = ask.json !== undefined ? JSON.stringify(ask.json) : ask.body;
    // What is sent is for that server alone.
    const redirect = ask.followRedirects ? 'follow' : 'manual';
    return {
      method: ask.method ?? 'GET',
      headers,
      redirect,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    };
  }

  /** The answer to a try, once its head is there and it is no failure. */
  async function start(ask: RequestSpec, call: CallOptions, limits: CallLimits): Promise<Response> {
    const url = urlOf(ask);
    const request = requestOf(ask, call, limits.signal);
    let response: Response;
    try {
      response = await send(url, request);
    } catch (error) {
      throw limits.ended() ?? new LecternUnreachable(url, error);
    }
    if (response.ok || response.status === ask.acceptedStatus) {
      call.onHeaders?.(response.headers);
      return response;
    }
    if (response.type === 'opaqueredirect' || isRedirect(response.status)) throw await redirectError(response, url);
    const text = await response.text().catch(() => '');
    throw limits.ended() ?? errorFromResponse(response.status, response.headers, text);
  }

  /** Tries until it works, or until trying again is of no use. */
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
          throw limits.ended() ?? (error instanceof LecternError ? error : new LecternUnreachable(urlOf(ask), error));
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
            wanted: 'a stream of events',
            body: await response.text(),
          });
        }
        if (!response.body) return;
        try {
          yield* chunksOf(response.body);
        } catch (error) {
          throw limits.ended() ?? streamCut(error);
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
const typeOf = ({ headers }: Response) => headers.get('content-type') ?? 'no type';

interface Expected {
  readonly url: string;
  readonly wanted: string;
  readonly body: string;
}

function unexpectedAnswer(response: Response, { url, wanted, body }: Expected, cause?: unknown): LecternError {
  const message = `The answer of ${url} is not ${wanted} but ${typeOf(response)}: is this a Lectern server?`;
  return new LecternError(
    { message, code: 'BAD_ANSWER', status: response.status, body: body.slice(0, 1000) },
    { cause },
  );
}

/** Those that name another address (RFC 9110, section 15.4). */
const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

async function redirectError(response: Response, url: string): Promise<LecternError> {
  await response.body?.cancel();
  // Browsers tell nobody where to.
  const place = response.headers.get('location') ?? 'another address';
  const message = `${url} leads to ${place}: give the address where the server is`;
  return new LecternError({ message, code: 'BAD_ANSWER', status: response.status || undefined });
}

/** What an answer carries in `data`. Throws `BAD_ANSWER` when that is something else: another server answers in JSON too. */
export function dataOf<T>(answer: { readonly data: T }, isRight: (data: unknown) => boolean): T {
  if (isRecord(answer) && isRight(answer.data)) return answer.data;
  const message = 'The answer has not the shape of a Lectern server';
  throw new LecternError({ message, code: 'BAD_ANSWER', body: answer });
}

/** Failures that the server said or shows to be passing. */
function isRetryable(error: unknown, idempotent: boolean): boolean {
  if (error instanceof LecternUnreachable) return idempotent || wasNeverSent(error);
  if (!(error instanceof LecternError)) return false;
  const { status, code } = error;
  // What stands before the server says these without a code; the server itself, when its time was over, would need it again.
  const isBefore = code === undefined && (status === 502 || status === 504);
  return status === 429 || status === 503 || (idempotent && isBefore);
}

/** Of connections that never stood, so that nothing can have been done: in Node and Deno, and in Bun. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ConnectionRefused'];

function wasNeverSent({ cause }: LecternUnreachable): boolean {
  const { code } = ((cause as { cause?: unknown } | undefined)?.cause ?? cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && NOT_CONNECTED.includes(code);
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** A server that asks for more is not waited for: its caller decides. */
const MAX_RETRY_AFTER_MS = 65_000;

/** Random, so that clients that were refused together do not come back together. */
function pauseMs(tries: number, askedMs: number | undefined): number | undefined {
  if (askedMs !== undefined) return askedMs > MAX_RETRY_AFTER_MS ? undefined : askedMs + Math.random() * FIRST_PAUSE_MS;
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
