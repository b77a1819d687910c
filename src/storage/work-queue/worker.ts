/**
 * The worker's side of the queue of requests: takes requests while it has free slots, answers them, and renews their
 * leases. A request whose lease is not renewed is given to another worker.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import type { Attachments, WorkHandler } from '#concurrency/remote-work.ts';
import { Problem, problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { createAttachments } from './attachments.ts';
import { BLOCK_S, openQueueConnection, PREFIX, type QueueConnection } from './connection.ts';
import { type KindCounts, readCounts } from './counts.ts';
import { decodeMessage, encodeProblem, encodeValue, type Message } from './messages.ts';
import { GIVE_BACK, RENEW, REPLY, TAKE } from './scripts.ts';
import { QUEUE_TIMES, type QueueTimes } from './times.ts';

export interface ServedKind {
  readonly kind: string;
  /** Maximum number of requests that run at once. */
  readonly slots: number;
  /** Throws problems. Any other error is logged, and the caller gets InternalError. */
  readonly handler: WorkHandler;
}

export interface WorkServerOptions {
  readonly url: string;
  readonly blobs?: Blobs | undefined;
  readonly log: Pick<Log, 'warn' | 'info' | 'error'>;
  /** Called after each request, with its waiting time in the queue and the duration of the work. */
  readonly onServed?: ((kind: string, facts: ServedFacts) => void) | undefined;
  readonly times?: QueueTimes | undefined;
}

export interface ServedFacts {
  readonly outcome: 'done' | 'failed' | 'cancelled';
  readonly waitedMs: number;
  readonly ranMs: number;
}

export interface WorkServer {
  /** The handlers may read attachments of requests. */
  readonly attachments: Attachments;
  /** Starts to take requests. */
  serve(kinds: readonly ServedKind[]): Promise<void>;
  counts(): Promise<readonly KindCounts[]>;
  readonly healthy: boolean;
  /**
   * Takes no new requests and waits until those that run have been answered. After `drainMs`, the others are returned to
   * the queue.
   */
  close(drainMs: number): Promise<void>;
}

interface Taken {
  readonly id: string;
  readonly payload: Buffer;
  readonly waitedMs: number;
}

interface Running {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

const PAUSE_MS = 200;
const REPLY_ATTEMPTS = 10;
const REPLY_PAUSE_MS = 500;
const STOP_MS = 5_000;
/** Interval of the removal of old objects, in renewals. */
const SWEEP_EVERY = 60;

export async function openWorkServer({
  url,
  blobs,
  log,
  onServed = () => {},
  times: { renewMs, leaseMs, keepMs } = QUEUE_TIMES,
}: WorkServerOptions): Promise<WorkServer> {
  const [connection, data] = await Promise.all([openQueueConnection(url), openQueueConnection(url)]);
  const attachments = createAttachments(data, blobs);
  const worker = randomUUID();
  const running = new Map<string, Running>();
  const waits: QueueConnection[] = [];
  const draining = new AbortController();
  const closing = new AbortController();
  const loops: Promise<void>[] = [];
  let kinds: readonly ServedKind[] = [];
  let isAway = false;

  async function take(kind: string): Promise<Taken | undefined> {
    const found = (await connection.run(TAKE, kind, worker, leaseMs, keepMs)) as [Buffer, Buffer, number] | null;
    return found ? { id: String(found[0]), payload: found[1], waitedMs: found[2] } : undefined;
  }

  /** Takes requests of one kind. Each kind has its own connection, because it blocks while there are no requests. */
  async function takeAll(served: ServedKind, wait: QueueConnection): Promise<void> {
    const own = new Set<Promise<void>>();
    while (!draining.signal.aborted) {
      try {
        if (own.size >= served.slots) {
          await Promise.race(own);
          continue;
        }
        const taken = await take(served.kind);
        if (!taken) {
          await wait.send(['BLPOP', `${PREFIX}:${served.kind}:wake`, String(BLOCK_S)]);
          continue;
        }
        // It arrived while this worker began to drain.
        if (draining.signal.aborted) {
          await connection.run(GIVE_BACK, taken.id, worker);
          return;
        }
        const done: Promise<void> = start(served, taken).finally(() => own.delete(done));
        own.add(done);
      } catch {
        await sleep(PAUSE_MS, undefined, { signal: draining.signal }).catch(() => {});
      }
    }
  }

  function start(served: ServedKind, taken: Taken): Promise<void> {
    const controller = new AbortController();
    const done = answer(served, taken, controller.signal).finally(() => running.delete(taken.id));
    running.set(taken.id, { controller, done });
    return done;
  }

  async function answer({ kind, handler }: ServedKind, { id, payload, waitedMs }: Taken, signal: AbortSignal) {
    const startedAt = performance.now();
    let outcome: ServedFacts['outcome'] = 'done';
    let message: Message;
    try {
      const value = await handler(await decodeMessage(payload, attachments), signal);
      message = await encodeValue(value, attachments);
    } catch (error) {
      outcome = 'failed';
      message = { bytes: encodeProblem(problemOf(error, kind, signal)), attachment: undefined };
    }
    const isSent = !signal.aborted && (await reply(id, message.bytes, signal));
    if (!isSent && message.attachment) await attachments.remove(message.attachment).catch(() => {});
    if (!isSent) outcome = 'cancelled';
    onServed(kind, { outcome, waitedMs, ranMs: performance.now() - startedAt });
  }

  function problemOf(error: unknown, kind: string, signal: AbortSignal): Problem {
    if (error instanceof Problem) return error;
    if (!signal.aborted) log.error({ err: error, kind }, 'a request of another server failed');
    return problem('InternalError');
  }

  async function reply(id: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
    const text = Buffer.concat([Buffer.from(id), bytes]);
    for (let attempt = 1; attempt <= REPLY_ATTEMPTS && !signal.aborted; attempt++) {
      try {
        return (await connection.run(REPLY, id, worker, text, keepMs)) === 1;
      } catch {
        await sleep(REPLY_PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }

  async function renew(): Promise<void> {
    const takes = draining.signal.aborted ? 0 : 1;
    const names = kinds.map(({ kind }) => kind);
    try {
      const lost = await connection.run(
        ...([RENEW, worker, leaseMs, keepMs, takes, names.length, ...names, ...running.keys()] as const),
      );
      if (isAway) log.info('the queue of requests answers again');
      isAway = false;
      for (const id of lost as Buffer[])
        running.get(String(id))?.controller.abort(new Error('the request was cancelled'));
    } catch (error) {
      if (!isAway) log.warn({ err: (error as Problem).cause }, 'the queue of requests is away: reconnecting');
      isAway = true;
    }
  }

  async function keepRenewing(): Promise<void> {
    for (let round = 1; !closing.signal.aborted; round++) {
      await sleep(renewMs, undefined, { signal: closing.signal }).catch(() => {});
      if (closing.signal.aborted) return;
      await renew();
      if (round % SWEEP_EVERY === 0) await attachments.sweep().catch(() => {});
    }
  }

  /** Returns what is still running to the queue, and aborts it here. */
  async function giveBack(): Promise<void> {
    for (const [id, { controller }] of running) {
      await connection.run(GIVE_BACK, id, worker).catch(() => {});
      controller.abort(new Error('the worker is shutting down'));
    }
  }

  const ended = () => Promise.all([...running.values()].map(({ done }) => done));

  return {
    attachments,
    async serve(served) {
      kinds = served;
      await renew();
      loops.push(keepRenewing());
      for (const kind of served) {
        const wait = await openQueueConnection(url);
        waits.push(wait);
        loops.push(takeAll(kind, wait));
      }
    },
    counts: () =>
      readCounts(
        connection,
        kinds.map(({ kind }) => kind),
      ),
    get healthy() {
      return connection.healthy && !isAway;
    },
    async close(drainMs) {
      draining.abort(new Error('the worker is shutting down'));
      await renew();
      // Ends the blocking waits.
      for (const wait of waits) wait.close();
      await atMost(drainMs, ended());
      await giveBack();
      closing.abort(new Error('the worker is shutting down'));
      // Work that ignores its signal ends with the process.
      await atMost(STOP_MS, Promise.all([ended(), ...loops]));
      for (const open of [connection, data]) open.close();
    },
  };
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await within(ms, work).catch((error: unknown) => {
    if (!(error instanceof DeadlineExceededError)) throw error;
  });
}
