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
  /** Starts a task. Throws ServiceNodeResourceDrainError if too many tasks are running. */
  start(call: NativeCall, parts: number, work: (signal: AbortSignal) => Promise<TaskResult>): Promise<TaskRecord>;
  /** The task of this caller; `undefined` if there is none. Waits for its end for at most `waitMs`. */
  get(call: NativeCall, id: string, waitMs?: number): Promise<TaskRecord | undefined>;
  /** The result of a task that has ended well. */
  result(record: TaskRecord): Promise<Uint8Array | undefined>;
  /** Ends all tasks, which then have failed. */
  close(): Promise<void>;
}

/** Tasks that run at the same time, of all callers. */
const MAX_RUNNING = 32;
const MAX_TASK_MS = 30 * 60_000;
const RETRY_S = 10;
const STOPPED = { code: 503, message: 'The server was stopped before the task ended; submit it again' };
const RESTARTED = 'The server was restarted before the task ended; submit it again';

export function createTasks(kept: KeptFiles<TaskRecord>, { accessHooks }: Pick<NativeParts, 'accessHooks'>): Tasks {
  const run = randomUUID();
  const running = new Map<string, Promise<void>>();
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

  return {
    async start(call, parts, work) {
      if (running.size >= MAX_RUNNING) throw problem('ServiceNodeResourceDrainError', { retryAfter: RETRY_S });
      const record: TaskRecord = {
        id: randomUUID(),
        owner: ownerOf(call),
        createdAt: Date.now(),
        status: 'started',
        run,
        parts,
        failed: 0,
      };
      await kept.put(record);
      const end = accessHooks.keepOpen(call.request);
      const signal = AbortSignal.any([AbortSignal.timeout(MAX_TASK_MS), stopping.signal]);
      const ended = finish(record, work(signal))
        // A result that cannot be written must not end the process.
        .then(end, () => end(500))
        .catch(() => {})
        .finally(() => running.delete(record.id));
      running.set(record.id, ended);
      return record;
    },
    async get(call, id, waitMs = 0) {
      const owner = ownerOf(call);
      const known = await kept.record(id, owner);
      if (known?.status !== 'started') return known;
      if (known.run !== run) return { ...known, status: 'failure', failed: known.parts, error: RESTARTED };
      if (waitMs > 0) await Promise.race([running.get(id), elapsed(waitMs)]);
      return kept.record(id, owner);
    },
    result: ({ id }) => kept.bytes(id),
    async close() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
