/** Job notifications through a BullMQ queue in Redis or Valkey. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { IRedisClient, JobsOptions, Queue, QueueOptions, Worker } from 'bullmq';
import type { Log } from '#telemetry/log.ts';
import { redisOptions } from '../redis.ts';
import type { JobNotifications } from './notifications.ts';

export interface BullMqOptions {
  /** `redis://…` */
  readonly url: string;
  /** Name of the queue. Servers that share a queue share a database. */
  readonly name: () => Promise<string>;
  /** Whether this process receives notifications, or only announces jobs. */
  readonly receives: boolean;
  readonly log: Pick<Log, 'warn'>;
}

/** Prefix of all keys. The braces make a cluster store them on one node. */
const PREFIX = 'lectern:{jobs}';
/** Length of one blocking wait, in seconds. A server that sends nothing for longer than this is considered hung. */
const BLOCK_S = 5;
const PING_MS = 2_000;
const SILENCE_MS = 1_000 * BLOCK_S + PING_MS;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** How long closing waits for pending announcements. The database still lists jobs whose announcements are lost. */
const CLOSE_MS = 1_000;
/** If the process that fetched an id was killed, BullMQ requeues the id after this time. */
const STALLED_MS = 5_000;
/** BullMQ lock token. A constant is sufficient, because each worker fetches one id at a time. */
const TOKEN = 'turn';
/** Options that remove an entry from Redis once its id has been fetched. */
const REMOVE_WHEN_DONE = { removeOnComplete: true, removeOnFail: true } as const satisfies JobsOptions;

/** Connects in the background and reconnects as needed. Throws if the URL is invalid. */
export function openBullMqNotifications({ url, name, receives, log }: BullMqOptions): JobNotifications {
  const options = redisOptions(url, { pingMs: PING_MS, silenceMs: SILENCE_MS });
  const closing = new AbortController();
  const { signal } = closing;
  let session: Session | undefined;

  async function keepOpen(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let isWarned = false;
    // Reset only on traffic, because a full or read-only Redis accepts connections but delivers nothing.
    const onTraffic = () => {
      isWarned = false;
      pauseMs = FIRST_PAUSE_MS;
    };
    while (!signal.aborted) {
      try {
        session = await openSession(options, { name: await name(), receives, signal, onTraffic });
        await session.lost;
      } catch (err) {
        if (!isWarned && !signal.aborted)
          log.warn({ err }, 'job notifications through Redis are unavailable: workers poll the database');
        isWarned = true;
      }
      const ended = session;
      session = undefined;
      await ended?.close();
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
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
      closing.abort(new Error('the queue is closing'));
      await keeping;
    },
  };
}

/** State of one connection. Unfinished work is not transferred to the next connection. */
interface Session {
  /** Rejects when the connection is lost or is closing. */
  readonly lost: Promise<never>;
  announce: JobNotifications['announce'];
  next: JobNotifications['next'];
  close(): Promise<void>;
}

interface SessionOptions {
  readonly name: string;
  readonly receives: boolean;
  readonly signal: AbortSignal;
  /** Called after an id has been sent or received. */
  readonly onTraffic: () => void;
}

async function openSession(
  options: ReturnType<typeof redisOptions>,
  { name, receives, signal, onTraffic }: SessionOptions,
): Promise<Session> {
  const [{ createNodeRedisClient, Queue, Worker }, { createClient }] = await Promise.all([
    import('bullmq'),
    import('@redis/client'),
  ]);
  const client = createClient({ ...options, socket: { ...options.socket, reconnectStrategy: false } });
  const { lost, markLost } = createLossSignal(signal);
  client.on('error', markLost);
  const connection = createNodeRedisClient(client);
  listenForErrors(connection, markLost);
  const shared: QueueOptions = {
    connection,
    prefix: PREFIX,
    // The version check would warn about an eviction policy that does not matter here.
    skipVersionCheck: true,
    // The event stream is not used.
    streams: { events: { maxLen: 0 } },
  };
  let queue: Queue | undefined;
  let receiver: Receiver | undefined;
  const announced = new Set<Promise<unknown>>();

  function announce(jobId: string, inMs: number): void {
    const added: Promise<unknown> = queue!
      .add('turn', null, { ...REMOVE_WHEN_DONE, jobId, delay: Math.max(0, inMs) })
      .then(onTraffic, markLost)
      .finally(() => announced.delete(added));
    announced.add(added);
  }

  /** On a working connection, returns a fetched id to the queue and completes announcements. */
  async function finish(): Promise<void> {
    const id = await receiver?.close(true);
    if (id !== undefined) announce(id, 0);
    await Promise.all(announced);
  }

  async function close(): Promise<void> {
    if (client.isReady) await Promise.race([finish(), sleep(CLOSE_MS, undefined, { ref: false })]);
    else await receiver?.close(false);
    markLost(new Error('the connection is closing'));
    await queue?.close();
    if (client.isOpen) client.destroy();
  }

  try {
    await Promise.race([connection.connect(), lost]);
    queue = new Queue(name, shared);
    queue.on('error', markLost);
    await Promise.race([queue.waitUntilReady(), lost]);
    if (receives) {
      const worker = new Worker(name, null, {
        ...{ ...shared, connection },
        ...{ drainDelay: BLOCK_S, lockDuration: STALLED_MS, stalledInterval: STALLED_MS },
      });
      worker.on('error', markLost);
      receiver = createReceiver(worker, { lost, markLost, onTraffic });
      await Promise.race([worker.waitUntilReady(), lost]);
      await worker.startStalledCheckTimer();
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { lost, announce, next: (until) => receiver!.next(until), close };
}

/**
 * BullMQ removes its listeners from a connection and its duplicate before they are closed. Without a listener, a late
 * error would end the process.
 */
function listenForErrors(connection: IRedisClient, markLost: (error: unknown) => void): void {
  connection.on('error', markLost);
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...args) => {
    const copy = duplicate(...args);
    listenForErrors(copy, markLost);
    return copy;
  };
}

function createLossSignal(signal: AbortSignal) {
  let markLost: (reason: unknown) => void = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    markLost = reject;
  });
  const onAbort = () => markLost(signal.reason);
  signal.addEventListener('abort', onAbort);
  lost.catch(() => signal.removeEventListener('abort', onAbort));
  return { lost, markLost };
}

interface ReceiverOptions extends Pick<Session, 'lost'>, Pick<SessionOptions, 'onTraffic'> {
  readonly markLost: (reason: unknown) => void;
}

interface Receiver {
  next: JobNotifications['next'];
  /** If the connection works, returns an id that was fetched but not delivered to the queue. */
  close(isConnected: boolean): Promise<string | undefined>;
}

/** Fetches one id at a time and removes it from Redis before delivering it. After that, the lease protects the job. */
function createReceiver(worker: Worker, { lost, markLost, onTraffic }: ReceiverOptions): Receiver {
  let fetching: Promise<string | undefined> | undefined;
  let resolveEmpty: () => void = () => {};
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    resolveEmpty();
  };
  lost.catch(stop);

  async function fetch(): Promise<string | undefined> {
    const job = await worker.getNextJob(TOKEN);
    onTraffic();
    // An entry that cannot be removed is delivered again.
    await job?.moveToCompleted(null, TOKEN, false).catch(() => {});
    return job?.id;
  }

  return {
    next: (until) =>
      new Promise((resolve) => {
        resolveEmpty = () => resolve(undefined);
        // Adding the same listener again has no effect.
        until.addEventListener('abort', stop);
        if (isStopped || until.aborted) return stop();
        fetching = fetch();
        fetching.then((id) => {
          if (isStopped) return;
          fetching = undefined;
          resolve(id);
        }, markLost);
      }),
    async close(isConnected) {
      stop();
      await worker.close(true);
      return isConnected ? fetching?.catch(() => undefined) : undefined;
    },
  };
}
