/** Turns that go through Redis or Valkey, in a queue of BullMQ. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { IRedisClient, JobsOptions, Queue, QueueOptions, Worker } from 'bullmq';
import type { Log } from '#telemetry/log.ts';
import { redisOptions } from '../redis.ts';
import type { JobNotifications } from './notifications.ts';

export interface BullMqOptions {
  /** `redis://…` */
  readonly url: string;
  /** Those who have it in common have a database in common. */
  readonly name: () => Promise<string>;
  /** Whether turns are taken here, or only announced. */
  readonly receives: boolean;
  readonly log: Pick<Log, 'warn'>;
}

/** What all keys begin with, beside those of the counters; the braces make that a cluster keeps them on one node. */
const PREFIX = 'lectern:{jobs}';
/** How long Redis is waited for at once, in seconds: a server that hangs is noticed by its silence after that. */
const WAIT_S = 5;
const PING_MS = 2_000;
const SILENCE_MS = 1_000 * WAIT_S + PING_MS;
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2_000;
/** How long the end waits for what Redis is to be told still; what it was not told is found in the database. */
const PARTING_MS = 1_000;
/** An id that a process had taken out and not passed on when it was killed is put back after so long. */
const STALLED_MS = 5_000;
/** Under which word ids are taken out: nobody receives out two at once here. */
const WORD = 'turn';
/** Nothing of a turn stays in Redis when its id was taken out. */
const LEAVES_NOTHING = { removeOnComplete: true, removeOnFail: true } as const satisfies JobsOptions;

/** Goes on without Redis where it is away, and with it when it is there. Throws for an address that cannot be read. */
export function openBullMqNotifications({ url, name, receives, log }: BullMqOptions): JobNotifications {
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const closing = new AbortController();
  const { signal } = closing;
  let session: Session | undefined;

  async function keepOpen(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let isAway = false;
    // A Redis that is full, or may not be written to, can be reached and carries nothing.
    const onCarried = () => {
      isAway = false;
      pauseMs = FIRST_PAUSE_MS;
    };
    while (!signal.aborted) {
      try {
        session = await openSession(options, { name: await name(), receives, signal, onCarried });
        await session.lost;
      } catch (err) {
        if (!isAway && !signal.aborted) log.warn({ err }, 'turns of jobs do not come through Redis for the moment');
        isAway = true;
      }
      const ended = session;
      session = undefined;
      await ended?.close();
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
    }
  }
  const keeping = keepOpen();

  return {
    get healthy() {
      return session !== undefined;
    },
    announce: (jobId, inMs) => session?.announce(jobId, inMs),
    next: async (until) => session?.next(until),
    async close() {
      closing.abort(new Error('the queue is being closed'));
      await keeping;
    },
  };
}

/** What there is from a connection's beginning to its end; whatever was half done in it has no effect in the next. */
interface Session {
  /** Rejects when the connection breaks, or is to be closed. */
  readonly lost: Promise<never>;
  announce: JobNotifications['announce'];
  next: JobNotifications['next'];
  close(): Promise<void>;
}

interface SessionOptions {
  readonly name: string;
  readonly receives: boolean;
  readonly signal: AbortSignal;
  /** An id came or went. */
  readonly onCarried: () => void;
}

async function openSession(
  options: ReturnType<typeof redisOptions>,
  { name, receives, signal, onCarried }: SessionOptions,
): Promise<Session> {
  const [{ createNodeRedisClient, Queue, Worker }, { createClient }] = await Promise.all([
    import('bullmq'),
    import('@redis/client'),
  ]);
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy: false } });
  const { lost, lose } = loss(signal);
  client.on('error', lose);
  const connection = createNodeRedisClient(client);
  heedErrors(connection, lose);
  const shared: QueueOptions = {
    connection,
    prefix: PREFIX,
    // It would ask Redis to keep everything, which nothing here depends on.
    skipVersionCheck: true,
    // Notes of what happened, for listeners that there are none of.
    streams: { events: { maxLen: 0 } },
  };
  let queue: Queue | undefined;
  let taking: Taking | undefined;
  const announced = new Set<Promise<unknown>>();

  function announce(jobId: string, inMs: number): void {
    const added: Promise<unknown> = queue!
      .add('turn', null, { ...LEAVES_NOTHING, jobId, delay: Math.max(0, inMs) })
      .then(onCarried, lose)
      .finally(() => announced.delete(added));
    announced.add(added);
  }

  /** Tells what others are to know, over a connection that is whole. */
  async function part(): Promise<void> {
    const id = await taking?.close(true);
    if (id !== undefined) announce(id, 0);
    await Promise.all(announced);
  }

  async function close(): Promise<void> {
    if (client.isReady) await Promise.race([part(), sleep(PARTING_MS, undefined, { ref: false })]);
    else await taking?.close(false);
    lose(new Error('the connection is being closed'));
    await queue?.close();
    if (client.isOpen) client.destroy();
  }

  try {
    await Promise.race([connection.connect(), lost]);
    queue = new Queue(name, shared);
    queue.on('error', lose);
    await Promise.race([queue.waitUntilReady(), lost]);
    if (receives) {
      const worker = new Worker(name, null, {
        ...{ ...shared, connection },
        ...{ drainDelay: WAIT_S, lockDuration: STALLED_MS, stalledInterval: STALLED_MS },
      });
      worker.on('error', lose);
      taking = takingFrom(worker, { lost, lose, onCarried });
      await Promise.race([worker.waitUntilReady(), lost]);
      await worker.startStalledCheckTimer();
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { lost, announce, next: (until) => taking!.next(until), close };
}

/**
 * BullMQ stops to listen to a connection, and to the copy of it that it waits on, before they are ended; an error of theirs
 * that nobody hears would end the process.
 */
function heedErrors(connection: IRedisClient, lose: (error: unknown) => void): void {
  connection.on('error', lose);
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...args) => {
    const copy = duplicate(...args);
    heedErrors(copy, lose);
    return copy;
  };
}

function loss(signal: AbortSignal) {
  let lose: (reason: unknown) => void = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    lose = reject;
  });
  const onAbort = () => lose(signal.reason);
  signal.addEventListener('abort', onAbort);
  lost.catch(() => signal.removeEventListener('abort', onAbort));
  return { lost, lose };
}

interface TakingOptions extends Pick<Session, 'lost'>, Pick<SessionOptions, 'onCarried'> {
  readonly lose: (reason: unknown) => void;
}

interface Taking {
  next: JobNotifications['next'];
  /** Over a connection that is whole: the id that was taken out and that nobody waited for any more. */
  close(isWhole: boolean): Promise<string | undefined>;
}

/** Ids are taken out one at a time, and are out of Redis before they are passed on: the lease is what counts from then on. */
function takingFrom(worker: Worker, { lost, lose, onCarried }: TakingOptions): Taking {
  let fetching: Promise<string | undefined> | undefined;
  let giveUp: () => void = () => {};
  let isOver = false;
  const stop = () => {
    isOver = true;
    giveUp();
  };
  lost.catch(stop);

  async function fetch(): Promise<string | undefined> {
    const job = await worker.getNextJob(WORD);
    onCarried();
    // One that could not be removed comes once more.
    await job?.moveToCompleted(null, WORD, false).catch(() => {});
    return job?.id;
  }

  return {
    next: (until) =>
      new Promise((resolve) => {
        giveUp = () => resolve(undefined);
        // The same listener again is not added again.
        until.addEventListener('abort', stop);
        if (isOver || until.aborted) return stop();
        fetching = fetch();
        fetching.then((id) => {
          if (isOver) return;
          fetching = undefined;
          resolve(id);
        }, lose);
      }),
    async close(isWhole) {
      stop();
      await worker.close(true);
      return isWhole ? fetching?.catch(() => undefined) : undefined;
    },
  };
}
