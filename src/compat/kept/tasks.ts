/**
 * Work that continues after its response. A task keeps the admission of its request until it ends, so that it counts
 * against the caller's limits and is charged. Results are kept for an hour. The work itself does not survive a restart:
 * such tasks have failed, and say so.
 */
import { randomUUID } from 'node:crypto';
import { asProblem, problem } from '#errors.ts';
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
  /** The run of the server that does the work. */
  readonly run: string;
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
const NOT_STORED = 'The result of the task could not be stored; submit it again';
const RESTARTED = 'The server was restarted before the task ended; submit it again';

export function createTasks(kept: KeptFiles<TaskRecord>, { accessHooks }: Pick<NativeParts, 'accessHooks'>): Tasks {
  const run = randomUUID();
  const running = new Map<string, { readonly owner: string; readonly ended: Promise<void> }>();
  const stopping = new AbortController();

  const finish = (record: TaskRecord, work: Promise<TaskResult>) =>
    work.then(
      async ({ bytes, mediaType, failed }) => {
        const status = failed === record.parts ? 'failure' : 'success';
        await kept.put({ ...record, status, failed, mediaType }, bytes);
        return 200;
      },
      async (error: unknown) => {
        const { code, message } = stopping.signal.aborted ? STOPPED : asProblem(error);
        await kept.put({ ...record, status: 'failure', failed: record.parts, error: message });
        return code;
      },
    );

  function assertFree(owner: string): void {
    if (running.size >= MAX_RUNNING) throw problem('ServiceNodeResourceDrainError', { retryAfter: RETRY_S });
    const own = [...running.values()].filter((task) => task.owner === owner).length;
    if (own < MAX_OF_OWNER) return;
    const message = `At most ${MAX_OF_OWNER} tasks of a caller run at the same time`;
    throw problem('RateLimitTriggeredError', { retryAfter: RETRY_S, message });
  }

  return {
    async start(call, parts, work) {
      const owner = ownerOf(call);
      assertFree(owner);
      const record: TaskRecord = {
        id: randomUUID(),
        owner,
        createdAt: Date.now(),
        status: 'started',
        run,
        parts,
        failed: 0,
      };
      const end = accessHooks.keepOpen(call.request);
      const signal = AbortSignal.any([AbortSignal.timeout(MAX_TASK_MS), stopping.signal]);
      const storing = kept.put(record);
      const ended = storing
        .then(() => finish(record, work(signal)))
        // A result that cannot be written must not end the process.
        .then(end, () => end(500))
        .catch(() => {})
        .finally(() => running.delete(record.id));
      running.set(record.id, { owner, ended });
      await storing;
      return record;
    },
    async get(call, id, waitMs = 0) {
      const owner = ownerOf(call);
      const known = await kept.record(id, owner);
      if (known?.status !== 'started') return known;
      const failed = (error: string) => ({ ...known, status: 'failure' as const, failed: known.parts, error });
      if (known.run !== run) return failed(RESTARTED);
      if (waitMs > 0) await Promise.race([running.get(id)?.ended, elapsed(waitMs)]);
      const isRunning = running.has(id);
      const now = await kept.record(id, owner);
      return now?.status === 'started' && !isRunning ? failed(NOT_STORED) : now;
    },
    result: ({ id }) => kept.bytes(id),
    async close() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
