/**
 * HTTP transport to one model server. A request has one timeout for all attempts. It is retried if the server is busy
 * or unreachable, which is safe because all requests are idempotent. A circuit breaker stops requests to a failing
 * server. Errors never contain the server's messages, its URL or its key.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Breaker, createBreaker, type Ticket } from '#concurrency/breaker.ts';
import { createSlots } from '#concurrency/slots.ts';
import { Problem, type ProblemName, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import type { TrustedOptions, TrustedResponse } from '#net/trusted.ts';
import { malformed } from './answers.ts';
import type { ProtocolRequest, Reply, UrlStyle } from './protocol.ts';

/** The `fetch` function that the backend needs, for servers configured by the operator (src/net/trusted.ts). */
export type RemoteFetch = (url: URL | string, options?: TrustedOptions) => Promise<TrustedResponse>;

export interface TransportOptions {
  readonly url: string;
  readonly address: UrlStyle;
  readonly key?: string | undefined;
  readonly fetch: RemoteFetch;
  /** Timeout of a request, including all attempts, measured from when it obtains a slot. */
  readonly timeoutMs: number;
  readonly parallel: number;
  readonly onChange?: ((state: 'open' | 'closed') => void) | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Maximum size of the response, in bytes. */
  readonly maxBytes: number;
}

export interface Transport {
  /**
   * Throws RequestRefusedError if the server rejects the request. Otherwise throws the problems listed in
   * src/models/backend.ts, or the signal's reason.
   */
  send(ask: ProtocolRequest, options: SendOptions): Promise<Reply>;
  /** Aborts requests in progress and rejects later ones. */
  close(): void;
}

/** The server rejected the request, for example because it is too long or refers to something unknown. */
export class RequestRefusedError extends Problem {
  readonly httpStatus: number;
  /** Whether the server reported that one text, or all texts together, exceed its limit. */
  readonly tooLong: boolean;

  constructor(httpStatus: number, tooLong: boolean) {
    super('DownstreamServiceFailureError', { message: refusalMessage(httpStatus) });
    this.httpStatus = httpStatus;
    this.tooLong = tooLong;
  }
}

const MAX_TRIES = 3;
const FIRST_PAUSE_MS = 200;
/** If the server requests a longer pause, the request fails instead of waiting. */
const LONGEST_PAUSE_MS = 5_000;
const RETRY_AFTER_S = 5;
/** Maximum number of bytes read from an error response. */
const MAX_REFUSAL_BYTES = 16 * 1024;

export function createTransport(options: TransportOptions): Transport {
  const { url, address, key, fetch, timeoutMs, parallel, onChange } = options;
  const base = new URL(url);
  const slots = createSlots(parallel);
  const breaker = createBreaker({
    failures: 5,
    firstMs: 1_000,
    longestMs: 30_000,
    now: () => performance.now(),
    refusal: unavailable,
    onChange,
  });
  const limits = new Set<Limit>();
  let closed = false;

  async function send(ask: ProtocolRequest, { signal, maxBytes }: SendOptions): Promise<Reply> {
    const to = endpointUrl(base, address, ask.path);
    const json = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const release = await slots.take(signal);
    const limit = createLimit(signal, timeoutMs);
    limits.add(limit);
    if (closed) limit.end(shuttingDown());
    try {
      return await sendWithRetries(breaker, limit, () =>
        sendOnce(fetch, to, {
          method: json === undefined ? 'GET' : 'POST',
          headers: {
            accept: 'application/json',
            ...(json !== undefined && { 'content-type': 'application/json' }),
            ...(key && { authorization: `Bearer ${key}` }),
          },
          ...(json !== undefined && { body: json }),
          signal: limit.signal,
          timeoutMs: timeoutMs + 1_000,
          maxBytes,
        }),
      );
    } finally {
      limits.delete(limit);
      limit.leave();
      release();
    }
  }

  return {
    send,
    close() {
      closed = true;
      for (const limit of limits) limit.end(shuttingDown());
    },
  };
}

/** Failure of one attempt. */
class Failure extends Error {
  readonly problem: Problem;
  /** Whether the circuit breaker counts the failure, because the server seems broken or unreachable. */
  readonly counts: boolean;
  /** Pause that the server requested. */
  readonly pauseMs: number | undefined;
  readonly again: boolean;

  constructor(given: Problem, { counts, again, pauseMs }: { counts: boolean; again: boolean; pauseMs?: number }) {
    super(given.message, { cause: given.cause });
    this.problem = given;
    this.counts = counts;
    this.again = again;
    this.pauseMs = pauseMs;
  }
}

const unavailable = (leftMs: number) =>
  problem('ServiceNodeResourceDrainError', {
    message: 'The model server is temporarily unavailable; try again',
    retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
  });

async function sendWithRetries(breaker: Breaker, limit: Limit, work: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    limit.signal.throwIfAborted();
    const ticket = breaker.enter();
    try {
      const reply = await work();
      ticket.succeeded();
      return reply;
    } catch (error) {
      report(ticket, limit, error);
      if (limit.signal.aborted) throw limit.signal.reason;
      if (!(error instanceof Failure)) throw error;
      const jitterMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
      const pauseMs = Math.max(error.pauseMs ?? 0, jitterMs);
      if (!error.again || tries === MAX_TRIES || pauseMs > Math.min(LONGEST_PAUSE_MS, limit.leftMs())) {
        throw error.problem;
      }
      await pause(pauseMs, undefined, { signal: limit.signal }).catch(() => {});
    }
  }
}

function report(ticket: Ticket, limit: Limit, error: unknown): void {
  if (limit.timedOut()) ticket.failed();
  else if (limit.signal.aborted) ticket.abandoned();
  else if (error instanceof Failure && error.counts) ticket.failed();
  // The server responded, so it is not down.
  else ticket.succeeded();
}

async function sendOnce(fetch: RemoteFetch, to: URL, options: TrustedOptions): Promise<Reply> {
  let text: string;
  let response: TrustedResponse;
  try {
    response = await fetch(to, options);
    text = response.status === 200 ? await response.text() : await beginning(response);
  } catch (error) {
    throw networkFailure(error);
  }
  if (response.status !== 200) throw statusFailure(response, text);
  try {
    return { body: JSON.parse(text) as unknown, headers: response.headers };
  } catch {
    throw malformed('it is not valid JSON');
  }
}

/**
 * A problem with a cause is a network error. A problem without one comes from our own rules (region, size), and a retry
 * would not help.
 */
function networkFailure(error: unknown): unknown {
  if (error instanceof Problem && error.cause === undefined) return error;
  const message = 'The model server cannot be reached; try again';
  return new Failure(problem('ServiceNodeResourceDrainError', { message, retryAfter: RETRY_AFTER_S }, error), {
    counts: true,
    again: true,
  });
}

function statusFailure({ status, headers }: TrustedResponse, text: string): Failure | Problem {
  const retryAfter = retryAfterSeconds(headers['retry-after'], RETRY_AFTER_S);
  const unavailable = (name: ProblemName, message: string, counts: boolean) => {
    const requestedPause = headers['retry-after'] === undefined ? {} : { pauseMs: retryAfter * 1_000 };
    return new Failure(problem(name, { message, retryAfter }), { counts, again: true, ...requestedPause });
  };
  if (status === 429) {
    return unavailable('ServiceNodeResourceDrainError', 'The model server has no capacity left; try again', false);
  }
  if (status === 502 || status === 503) {
    return unavailable('ServiceNodeResourceDrainError', 'The model server is temporarily unavailable; try again', true);
  }
  if (status === 504) return unavailable('ServiceTimeoutError', 'The model server timed out', true);
  if (status >= 500) {
    const message = `The model server failed (status ${status})`;
    return new Failure(problem('DownstreamServiceFailureError', { message }), { counts: true, again: false });
  }
  return new RequestRefusedError(status, status === 413 || saysTooLong(text));
}

/** Error messages of common servers. They are matched but never shown. */
const TOO_LONG = [
  'too long',
  'too many tokens',
  'context length',
  'context window',
  'maximum allowed batch',
  'must have less than',
  'token_limit',
  'token limit',
  'tokens per request',
  'maximum input length',
  'maximum sequence length',
  'longer than the max',
];

function saysTooLong(text: string): boolean {
  const said = text.toLowerCase();
  return TOO_LONG.some((words) => said.includes(words));
}

function refusalMessage(status: number): string {
  if (status === 401 || status === 403) return 'The model server rejected the API key';
  if (status === 404) return `The model server does not know the model or the URL (status ${status})`;
  return `The model server rejected the request (status ${status})`;
}

async function beginning(response: TrustedResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= MAX_REFUSAL_BYTES) break;
  }
  response.discard();
  return Buffer.concat(pieces).toString('utf8', 0, MAX_REFUSAL_BYTES);
}

interface Limit {
  readonly signal: AbortSignal;
  timedOut(): boolean;
  leftMs(): number;
  end(reason: Problem): void;
  /** Clears the timer and removes the listener on the caller's signal. */
  leave(): void;
}

function createLimit(outer: AbortSignal, timeoutMs: number): Limit {
  const controller = new AbortController();
  const late = problem('ServiceTimeoutError', {
    message: `The model server did not respond within ${timeoutMs / 1000} s`,
  });
  const endMs = performance.now() + timeoutMs;
  const abort = () => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  outer.addEventListener('abort', abort, { once: true });
  if (outer.aborted) abort();
  return {
    signal: controller.signal,
    timedOut: () => controller.signal.reason === late,
    leftMs: () => endMs - performance.now(),
    end: (reason) => controller.abort(reason),
    leave() {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
}

const shuttingDown = () =>
  problem('ServiceNodeResourceDrainError', { message: 'The server is shutting down; try again', retryAfter: 1 });

/** Builds the URL of an endpoint. A query string in the operator's URL is retained. */
export function endpointUrl(base: URL, style: UrlStyle, path: string): URL {
  const to = new URL(base);
  let prefix = to.pathname.replace(/\/+$/, '');
  if (style === 'root') prefix = prefix.replace(/\/(?:v1|v2|api)$/, '');
  if (style === 'versioned' && prefix === '') prefix = '/v1';
  to.pathname = prefix + path;
  return to;
}
