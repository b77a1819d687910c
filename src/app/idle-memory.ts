/**
 * Returns memory to the operating system while the process is idle. V8 collects garbage only when something is
 * allocated, so a process keeps what its start or its last work left behind until the next work.
 */
import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';

export interface IdleMemoryOptions {
  /** Interval in which the processor time is measured, in milliseconds. */
  readonly intervalMs?: number;
  /** Minimum time between two collections, in milliseconds. */
  readonly pauseMs?: number;
}

/** A process is idle if it used at most this share of one processor in an interval. */
const IDLE_SHARE = 0.02;
/** Processor time after which there is garbage worth a collection. A collection takes less. */
const MIN_WORK_MS = 500;
/** A server with little work is idle most of the time, so collections must be rare. */
const PAUSE_MS = 5 * 60_000;

/**
 * Collects garbage in the first idle interval after work, or later if the last collection was a short time ago. Returns a
 * function that ends this.
 */
export function collectWhenIdle({ intervalMs = 5_000, pauseMs = PAUSE_MS }: IdleMemoryOptions = {}): () => void {
  let before = { processorMs: processorMs(), at: performance.now() };
  let workMs = before.processorMs;
  let collectedAt = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    const now = { processorMs: processorMs(), at: performance.now() };
    const usedMs = now.processorMs - before.processorMs;
    const isIdle = usedMs <= IDLE_SHARE * (now.at - before.at);
    before = now;
    workMs += usedMs;
    if (!isIdle || workMs < MIN_WORK_MS || now.at - collectedAt < pauseMs) return;
    collectGarbage();
    workMs = 0;
    collectedAt = now.at;
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

/** Of all threads of the process. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

let session: Session | undefined;

/**
 * Through the debugger of this process, because `gc` exists only with a flag of Node. The session stays connected:
 * disconnecting during a collection would block the process for ever.
 */
function collectGarbage(): void {
  if (!session) {
    session = new Session();
    session.connect();
  }
  session.post('HeapProfiler.collectGarbage');
}
