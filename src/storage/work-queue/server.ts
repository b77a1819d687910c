/**
 * The server's side of the queue of requests: adds requests, waits for their answers, cancels those whose callers left,
 * and returns requests of killed workers to the queue.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RemoteWork } from '#concurrency/remote-work.ts';
import { QueueFullError } from '#concurrency/task-queue.ts';
import { type Problem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { createAttachments, INLINE_BYTES } from './attachments.ts';
import { BLOCK_S, openQueueConnection, PREFIX, type QueueConnection, queueAway } from './connection.ts';
import { type KindCounts, readCounts } from './counts.ts';
import { attachmentOf, decodeMessage, encodeValue, requestLost } from './messages.ts';
import { CANCEL, LEAVE, SUBMIT, WATCH } from './scripts.ts';
import { QUEUE_TIMES, type QueueTimes } from './times.ts';

export interface WorkQueueOptions {
  /** `redis://…` */
  readonly url: string;
  /** Kinds of requests that this process sends. */
  readonly kinds: readonly string[];
  /** Maximum number of waiting requests of one kind, of all servers together. */
  readonly maxWaiting: number;
  /** Maximum time that a request waits for a worker. */
  readonly maxWaitMs: number;
  /** Store of large requests and answers; Redis if unset. */
  readonly blobs?: Blobs | undefined;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Called after each request, with the time from its start to its answer. */
  readonly onRequest?: ((kind: string, outcome: RequestOutcome, ms: number) => void) | undefined;
  readonly times?: QueueTimes | undefined;
}

/** `refused`: the queue was full, no worker was running, or none became free in time. */
export type RequestOutcome = 'done' | 'failed' | 'refused' | 'cancelled' | 'away';

export interface WorkQueue {
  work<Request, Answer>(kind: string): RemoteWork<Request, Answer>;
  /** For each kind; empty while Redis is away. */
  counts(): Promise<readonly KindCounts[]>;
  readonly healthy: boolean;
  /** Cancels all requests. */
  close(): Promise<void>;
}

interface Pending {
  readonly resolve: (message: Buffer) => void;
  readonly reject: (error: unknown) => void;
  isSubmitted: boolean;
  /** Since when Redis no longer has the request. Its answer may be on the way. */
  missingSince: number | undefined;
}

const ID_LENGTH = 36;
const RETRY_AFTER_S = 5;
const PAUSE_MS = 200;
/** Interval of the removal of old objects, in renewals. */
const SWEEP_EVERY = 60;

/** Waits some seconds for Redis, then continues without it. Throws if the URL is invalid. */
export async function openWorkQueue({
  url,
  kinds,
  maxWaiting,
  maxWaitMs,
  blobs,
  log,
  onRequest = () => {},
  times: { renewMs, leaseMs, keepMs, lostMs } = QUEUE_TIMES,
}: WorkQueueOptions): Promise<WorkQueue> {
  const [connection, replies, data] = await Promise.all([
    openQueueConnection(url),
    openQueueConnection(url),
    openQueueConnection(url),
  ]);
  const attachments = createAttachments(data, blobs);
  const server = randomUUID();
  const pending = new Map<string, Pending>();
  const closing = new AbortController();
  let awaySince: number | undefined;

  async function submit(kind: string, id: string, payload: Uint8Array): Promise<void> {
    // The request outlives its longest wait, so that its worker and its server decide when it ends.
    const args = [kind, id, maxWaiting, maxWaitMs + keepMs, server, payload, leaseMs];
    const outcome = String(await connection.run(SUBMIT, ...args));
    if (outcome !== 'ok') throw refusal(kind, outcome);
  }

  const check = (kind: string) => submit(kind, '', Buffer.alloc(0));

  async function send(kind: string, request: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (closing.signal.aborted) throw closing.signal.reason;
    const id = randomUUID();
    const message = await encodeRequest(kind, request);
    let answer: Buffer | undefined;
    try {
      answer = await answerTo(kind, id, message.bytes, signal);
      return await decodeMessage(answer, attachments);
    } finally {
      for (const name of [message.attachment, answer && attachmentOf(answer)]) {
        if (name !== undefined) attachments.remove(name).catch(() => {});
      }
    }
  }

  async function encodeRequest(kind: string, request: unknown) {
    // A large request is not uploaded if it would be refused.
    if (sizeOf(request) > INLINE_BYTES) await check(kind);
    return encodeValue(request, attachments);
  }

  async function answerTo(kind: string, id: string, payload: Buffer, signal: AbortSignal): Promise<Buffer> {
    let stopWaiting = () => {};
    const answer = new Promise<Buffer>((resolve, reject) => {
      pending.set(id, { resolve, reject, isSubmitted: false, missingSince: undefined });
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => void refuseWaiting(kind, id, reject), maxWaitMs);
      stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        pending.delete(id);
      };
    });
    answer.catch(() => {});
    let isAnswered = false;
    try {
      signal.throwIfAborted();
      await submit(kind, id, payload);
      const entry = pending.get(id);
      if (entry) entry.isSubmitted = true;
      const reply = await answer;
      isAnswered = true;
      return reply;
    } finally {
      stopWaiting();
      if (!isAnswered) connection.run(CANCEL, kind, id, 0).catch(() => {});
    }
  }

  async function refuseWaiting(kind: string, id: string, reject: (error: unknown) => void): Promise<void> {
    // While Redis is away, `watch` rejects the request.
    const removed = await connection.run(CANCEL, kind, id, 1).catch(() => 0);
    if (removed === 1) reject(refusal(kind, 'no free worker'));
  }

  async function readReplies(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const found = await replies.send(['BLPOP', `${PREFIX}:replies:${server}`, String(BLOCK_S)]);
        const reply = (found as [Buffer, Buffer] | null)?.[1];
        if (reply) pending.get(String(reply.subarray(0, ID_LENGTH)))?.resolve(reply.subarray(ID_LENGTH));
      } catch {
        await sleep(PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  async function watch(): Promise<void> {
    const submitted = [...pending].filter(([, { isSubmitted }]) => isSubmitted).map(([id]) => id);
    try {
      const args = [server, leaseMs, keepMs, keepMs, kinds.length, ...kinds, ...submitted];
      const gone = (await connection.run(WATCH, ...args)) as Buffer[];
      if (awaySince !== undefined) log.info('the queue of work for other machines answers again');
      awaySince = undefined;
      noteMissing(submitted, new Set(gone.map(String)));
    } catch (error) {
      if (awaySince === undefined)
        log.warn({ err: (error as Problem).cause }, 'the queue of work for other machines is away');
      awaySince ??= performance.now();
      if (performance.now() - awaySince >= lostMs) for (const { reject } of pending.values()) reject(queueAway());
    }
  }

  /** A request that no longer exists has been answered, unless Redis lost it: then its answer never arrives. */
  function noteMissing(submitted: readonly string[], gone: ReadonlySet<string>): void {
    for (const id of submitted) {
      const entry = pending.get(id);
      if (!entry) continue;
      entry.missingSince = gone.has(id) ? (entry.missingSince ?? performance.now()) : undefined;
      if (entry.missingSince !== undefined && performance.now() - entry.missingSince >= lostMs)
        entry.reject(requestLost());
    }
  }

  async function keepWatching(): Promise<void> {
    for (let round = 1; !closing.signal.aborted; round++) {
      await sleep(renewMs, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return;
      await watch();
      if (round % SWEEP_EVERY === 0) await attachments.sweep().catch(() => {});
    }
  }

  // A worker takes only requests of a running server, so the server registers before it sends any.
  await watch();
  const loops = Promise.all([readReplies(), keepWatching()]);

  return {
    work: <Request, Answer>(kind: string): RemoteWork<Request, Answer> => {
      const report = (outcome: RequestOutcome, startedAt: number) =>
        onRequest(kind, outcome, performance.now() - startedAt);
      return {
        attachments,
        async check() {
          const startedAt = performance.now();
          await check(kind).catch((error: unknown) => {
            report(outcomeOf(error), startedAt);
            throw error;
          });
        },
        async run(request, signal) {
          const startedAt = performance.now();
          try {
            const answer = (await send(kind, request, signal)) as Answer;
            report('done', startedAt);
            return answer;
          } catch (error) {
            report(signal.aborted ? 'cancelled' : outcomeOf(error), startedAt);
            throw error;
          }
        },
      };
    },
    counts: () => readCounts(connection, kinds),
    get healthy() {
      return connection.healthy && awaySince === undefined;
    },
    async close() {
      const reason = problem('ServiceNodeResourceDrainError', {
        message: 'The server is shutting down',
        retryAfter: 1,
      });
      closing.abort(reason);
      for (const { reject } of pending.values()) reject(reason);
      await leave(connection, server);
      for (const open of [connection, replies, data]) open.close();
      await loops;
    },
  };
}

const leave = async (connection: QueueConnection, server: string): Promise<void> => {
  if (connection.healthy) await connection.run(LEAVE, server).catch(() => {});
};

const outcomeOf = (error: unknown): RequestOutcome => {
  const { name, cause } = error as Problem;
  if (cause instanceof QueueFullError) return 'refused';
  return name === 'ServiceAwayError' ? 'away' : 'failed';
};

function refusal(kind: string, why: string): Problem {
  const message =
    why === 'full'
      ? `The queue of work of the kind ${kind} is full; try again later`
      : why === 'no worker'
        ? `No worker for work of the kind ${kind} is running; try again later`
        : `No worker for work of the kind ${kind} became free in time; try again later`;
  return problem('ServiceNodeResourceDrainError', { message, retryAfter: RETRY_AFTER_S }, new QueueFullError(why));
}

/** The size of the bytes in a request, without those of its texts. Exact sizes are known only after encoding. */
const sizeOf = (request: unknown): number =>
  ArrayBuffer.isView(request)
    ? request.byteLength
    : typeof request === 'object' && request !== null
      ? Object.values(request).reduce(
          (sum: number, value) => sum + (ArrayBuffer.isView(value) ? value.byteLength : 0),
          0,
        )
      : 0;
