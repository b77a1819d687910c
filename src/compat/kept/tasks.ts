/**
 * Work that continues after its response. A task keeps the admission of its request until it ends, so that it counts
 * against the caller's limits and is charged. Results are kept for an hour. Every server that shares the stores answers
 * for a task. The work itself does not survive its server: such tasks have failed, and say so.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { asProblem, problem } from '#errors.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import type { NativeCall, NativeParts } from '../native/native.ts';
import type { KeptFiles, KeptRecord } from './kept-files.ts';
import { ownerOf } from './owner.ts';

export interface TaskResult {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** Counts of parts that failed, of those that there are. */
  readonly failed: number;
}

export interface TaskRecord extends KeptRecord {
  readonly status: 'started' | 'success' | 'failure';
  readonly parts: number;
  readonly failed: number;
  readonly mediaType?: string;
  readonly error?: string;
}

export interface Tasks {
  /** Starts a task. Throws ServiceNodeResourceDrainError or RateLimitTriggeredError if too many tasks are running. */
  start(call: NativeCall, parts: number, work: (signal: AbortSignal) => Promise<TaskResult>): Promise<TaskRecord>;
  /** The task of this caller; `undefined` if there is none. Waits for its end for at most `waitMs`. */
  get(call: NativeCall, id: string, waitMs?: number): Promise<TaskRecord | undefined>;
  /** The result of a task that has ended well. */
  result(record: TaskRecord): Promise<Uint8Array | undefined>;
  /** Ends all tasks, which then have failed. */
  close(): Promise<void>;
}

/** Tasks that run at the same time, of all callers and of one. */
const MAX_RUNNING = 32;
const MAX_OF_OWNER = 8;
const MAX_TASK_MS = 30 * 60_000;
const RETRY_S = 10;
const STOPPED = { code: 503, message: 'The server was stopped before the task ended; submit it again' };
const ENDED = 'The server was stopped or restarted before the task ended; submit it again';
/** How long a task counts as running after the last sign of its server, and how often the server gives one. */
const ALIVE_MS = 20_000;
const SIGN_MS = 5_000;
const POLL_MS = 500;
/** Pauses between the attempts to store a result. */
const STORE_PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];
const MAX_SIGNS = 10_000;

export interface TasksParts extends Pick<NativeParts, 'accessHooks'> {
  readonly kept: KeptFiles<TaskRecord>;
  /** Holds a sign of each running task. */
  readonly signs: SharedStore;
}

export function createTasks({ kept, signs, accessHooks }: TasksParts): Tasks {
  const alive = signs.space({ name: 'running tasks', maxValues: MAX_SIGNS });
  const running = new Map<string, { readonly owner: string; readonly ended: Promise<void> }>();
  const stopping = new AbortController();

  /** Stores a result; repeats it while the store is away. */
  async function store(record: TaskRecord, bytes?: Uint8Array): Promise<void> {
    for (const pauseMs of STORE_PAUSES_MS) {
      try {
        return await kept.put(record, bytes);
      } catch (error) {
        if (stopping.signal.aborted) throw error;
        await delay(pauseMs, undefined, { ref: false });
      }
    }
    await kept.put(record, bytes);
  }

  /** Other servers that do not see the sign of a task say that it has failed. */
  const sign = (id: string) => alive.set(id, '', ALIVE_MS).catch(() => {});
  const signing = setInterval(() => void Promise.all([...running.keys()].map(sign)), SIGN_MS);
  signing.unref();

  /** Whether some server works on a task. A task whose sign cannot be read is assumed to run. */
  const isAlive = async (id: string): Promise<boolean> => {
    if (running.has(id)) return true;
    const found = await alive.get([id]).catch(() => ['']);
    return found[0] !== undefined;
  };

  const finish = (record: TaskRecord, work: Promise<TaskResult>) =>
    work.then(
      async ({ bytes, mediaType, failed }) => {
        const status = failed === record.parts ? 'failure' : 'success';
        await store({ ...record, status, failed, mediaType }, bytes);
        return 200;
      },
      async (error: unknown) => {
        const { code, message } = stopping.signal.aborted ? STOPPED : asProblem(error);
        await store({ ...record, status: 'failure', failed: record.parts, error: message });
        return code;
      },
    );

  /** Number of tasks of an owner that run on other servers. */
  async function countElsewhere(owner: string): Promise<number> {
    const started = (await kept.list(owner)).filter(({ id, status }) => status === 'started' && !running.has(id));
    const found = await alive.get(started.map(({ id }) => id)).catch(() => []);
    return found.filter((value) => value !== undefined).length;
  }

  function assertFree(owner: string, elsewhere: number): void {
    if (running.size >= MAX_RUNNING) throw problem('ServiceNodeResourceDrainError', { retryAfter: RETRY_S });
    const own = elsewhere + [...running.values()].filter((task) => task.owner === owner).length;
    if (own < MAX_OF_OWNER) return;
    const message = `At most ${MAX_OF_OWNER} tasks of a caller run at the same time`;
    throw problem('RateLimitTriggeredError', { retryAfter: RETRY_S, message });
  }

  return {
    async start(call, parts, work) {
      const owner = ownerOf(call);
      assertFree(owner, await countElsewhere(owner));
      const record: TaskRecord = {
        id: randomUUID(),
        owner,
        createdAt: Date.now(),
        status: 'started',
        parts,
        failed: 0,
      };
      const end = accessHooks.keepOpen(call.request);
      const signal = AbortSignal.any([AbortSignal.timeout(MAX_TASK_MS), stopping.signal]);
      const storing = Promise.all([kept.put(record), sign(record.id)]);
      const ended = storing
        .then(() => finish(record, work(signal)))
        // A result that cannot be written must not end the process.
        .then(end, () => end(500))
        .catch(() => {})
        .finally(async () => {
          running.delete(record.id);
          await alive.remove(record.id).catch(() => {});
        });
      running.set(record.id, { owner, ended });
      await storing;
      return record;
    },
    async get(call, id, waitMs = 0) {
      const owner = ownerOf(call);
      const known = await kept.record(id, owner);
      if (known?.status !== 'started') return known;
      const until = performance.now() + waitMs;
      for (;;) {
        const leftMs = Math.max(0, until - performance.now());
        const here = running.get(id)?.ended;
        if (leftMs > 0) await (here ? Promise.race([here, delay(leftMs)]) : delay(Math.min(leftMs, POLL_MS)));
        // The sign of a task is removed after its result was stored.
        const isRunning = await isAlive(id);
        const now = await kept.record(id, owner);
        if (now?.status !== 'started') return now;
        if (!isRunning) return { ...now, status: 'failure', failed: now.parts, error: ENDED };
        if (performance.now() >= until) return now;
      }
    },
    result: ({ id }) => kept.bytes(id),
    async close() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
      clearInterval(signing);
      await kept.close();
    },
  };
}
