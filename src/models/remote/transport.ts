/**
 * The way to one model server: every request has a time limit for all its tries together, is tried again when the server
 * is busy or away (all that is asked here may be asked twice), and is held back by the breaker while that is known.
 * Nothing of what the server says, of its address or of its key is in a failure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Problem, type ProblemName, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import type { TrustedOptions, TrustedResponse } from '#net/trusted.ts';
import { type Breaker, createBreaker, type Ticket } from './breaker.ts';
import { malformed } from './fields.ts';
import type { AddressStyle, Ask, Reply } from './protocol.ts';
import { createSlots } from './slots.ts';

/** What the backend needs of a fetch for servers that the operator configured (src/net/trusted.ts). */
export type RemoteFetch = (url: URL | string, options?: TrustedOptions) => Promise<TrustedResponse>;

export interface TransportOptions {
  readonly url: string;
  readonly address: AddressStyle;
  readonly key?: string | undefined;
  readonly fetch: RemoteFetch;
  /** Of a request with all its tries, from when it has a slot. */
  readonly timeoutMs: number;
  readonly parallel: number;
  readonly onChange?: ((state: 'open' | 'closed') => void) | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Of the answer. */
  readonly maxBytes: number;
}

export interface Transport {
  /**
   * Throws Refused when the server will not have the request, other problems as src/models/backends/backend.ts names
   * them, or the reason of the signal.
   */
  send(ask: Ask, options: SendOptions): Promise<Reply>;
  /** Ends what is under way; nothing can be sent any more. */
  close(): void;
}

/** The server will not have this request: what may be right for one is too long or too much, or not known, there. */
export class RequestRefusedError extends Problem {
  readonly httpStatus: number;
  /** Whether it said that a text, or all of them together, is more than it takes. */
  readonly tooLong: boolean;

  constructor(httpStatus: number, tooLong: boolean) {
    super('DownstreamServiceFailureError', { message: refusalMessage(httpStatus) });
    this.httpStatus = httpStatus;
    this.tooLong = tooLong;
  }
}

const MAX_TRIES = 3;
const FIRST_PAUSE_MS = 200;
/** A server that wants more time than this is not waited for: the caller is told instead. */
const LONGEST_PAUSE_MS = 5_000;
const RETRY_AFTER_S = 5;
/** How much of a refusal is looked at. */
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
    onChange,
  });
  const limits = new Set<Limit>();
  let closed = false;

  async function send(ask: Ask, { signal, maxBytes }: SendOptions): Promise<Reply> {
    const to = addressOf(base, address, ask.path);
    const json = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const giveBack = await slots.take(signal);
    const limit = createLimit(signal, timeoutMs);
    limits.add(limit);
    if (closed) limit.end(gone());
    try {
      return await tried(breaker, limit, () =>
        once(fetch, to, {
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
      giveBack();
    }
  }

  return {
    send,
    close() {
      closed = true;
      for (const limit of limits) limit.end(gone());
    },
  };
}

/** What went wrong with one try. */
class Failure extends Error {
  readonly problem: Problem;
  /** Whether the server seems to be broken or away. */
  readonly counts: boolean;
  /** How long it wants to be left alone. */
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

async function tried(breaker: Breaker, limit: Limit, work: () => Promise<Reply>): Promise<Reply> {
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
  else if (limit.signal.aborted) ticket.left();
  else if (error instanceof Failure && error.counts) ticket.failed();
  // It answers; what it answers is another matter.
  else ticket.succeeded();
}

async function once(fetch: RemoteFetch, to: URL, options: TrustedOptions): Promise<Reply> {
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
    throw malformed('it is no JSON');
  }
}

/** A problem with a cause is the network's; one without is a rule of ours (the region, the size) and will stay. */
function networkFailure(error: unknown): unknown {
  if (error instanceof Problem && error.cause === undefined) return error;
  const message = 'The model server cannot be reached, try again';
  return new Failure(problem('ServiceNodeResourceDrainError', { message, retryAfter: RETRY_AFTER_S }, error), {
    counts: true,
    again: true,
  });
}

function statusFailure({ status, headers }: TrustedResponse, text: string): Failure | Problem {
  const retryAfter = retryAfterSeconds(headers['retry-after'], RETRY_AFTER_S);
  const away = (name: ProblemName, message: string, counts: boolean) => {
    const told = headers['retry-after'] === undefined ? {} : { pauseMs: retryAfter * 1_000 };
    return new Failure(problem(name, { message, retryAfter }), { counts, again: true, ...told });
  };
  if (status === 429) {
    return away('ServiceNodeResourceDrainError', 'The model server has no capacity left, try again', false);
  }
  if (status === 502 || status === 503) {
    return away('ServiceNodeResourceDrainError', 'The model server is away for the moment, try again', true);
  }
  if (status === 504) return away('ServiceTimeoutError', 'The model server took too long', true);
  if (status >= 500) {
    const message = `The model server failed (status ${status})`;
    return new Failure(problem('DownstreamServiceFailureError', { message }), { counts: true, again: false });
  }
  return new RequestRefusedError(status, status === 413 || saysTooLong(text));
}

/** As servers put it; only looked at, never shown. */
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
  if (status === 401 || status === 403) return 'The model server refused our key';
  if (status === 404) return `The model server does not know the model or the address (status ${status})`;
  return `The model server refused the request (status ${status})`;
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
  /** Lets go of the caller's signal and of the timer. */
  leave(): void;
}

function createLimit(outer: AbortSignal, timeoutMs: number): Limit {
  const controller = new AbortController();
  const late = problem('ServiceTimeoutError', {
    message: `The model server did not answer within ${timeoutMs / 1000} s`,
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

const gone = () =>
  problem('ServiceNodeResourceDrainError', { message: 'The server is going down, try again', retryAfter: 1 });

/** The address of an endpoint; a query that the operator gave stays. */
export function addressOf(base: URL, style: AddressStyle, path: string): URL {
  const to = new URL(base);
  let prefix = to.pathname.replace(/\/+$/, '');
  if (style === 'root') prefix = prefix.replace(/\/(?:v1|v2|api)$/, '');
  if (style === 'versioned' && prefix === '') prefix = '/v1';
  to.pathname = prefix + path;
  return to;
}
