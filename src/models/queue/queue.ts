/**
 * Packs the inputs of many requests into batches for one model. The cost of a batch is its number of padded tokens
 * (longest input times number of inputs), so inputs of similar length are batched together. Callers share the model
 * fairly by tokens.
 */
import { type Problem, problem } from '#errors.ts';
import type { Trace } from '#telemetry/trace.ts';
import { createBacklog, type DrawnItem, totalTokens, type WaitingJob } from './backlog.ts';

export interface QueueItem {
  readonly tokens: number;
}

/** Inputs of different lanes are never in the same batch. */
export interface Lane {
  readonly key: string;
}

export interface Work<Item, Of extends Lane> {
  readonly items: readonly Item[];
  readonly lane: Of;
  /** Callers are served round robin. */
  readonly caller: string;
  /** Batch work: runs only when no interactive request is queued. */
  readonly background?: boolean | undefined;
  /** Aborting the signal rejects with its reason and drops the inputs that have not run yet. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

export interface Queue<Item, Of extends Lane, Result> {
  /**
   * Returns one result per input, in order. Rejects with ServiceNodeResourceDrainError and `retryAfter` if the queue is
   * full.
   */
  run(work: Work<Item, Of>): Promise<Result[]>;
  /** Number of inputs and tokens that have not been added to a batch yet. */
  readonly waiting: { readonly inputs: number; readonly tokens: number };
  /** Number of running batches. */
  readonly running: number;
  /** Rejects all waiting and running work. */
  close(): void;
}

export interface QueueOptions<Item, Of extends Lane, Result> {
  run(batch: readonly Item[], lane: Of, signal: AbortSignal): Promise<readonly Result[]>;
  /** Number of concurrent batches. */
  readonly parallel: number;
  /**
   * Maximum size of one batch, in padded tokens and inputs. A single input may exceed the token limit in a batch of its
   * own.
   */
  readonly batch: { readonly tokens: number; readonly inputs: number };
  /** Maximum size of the queue. A request is always accepted if the queue is empty. */
  readonly maxInputs: number;
  readonly maxTokens: number;
  readonly now?: () => number;
  /** Called after each batch, whether it succeeded or failed. */
  readonly onBatch?: ((facts: BatchFacts) => void) | undefined;
}

export interface BatchFacts {
  readonly inputs: number;
  /** How long the oldest input waited, in milliseconds. */
  readonly waitedMs: number;
  readonly ranMs: number;
}

interface Job<Item extends QueueItem, Of extends Lane, Result> extends WaitingJob {
  readonly items: readonly Item[];
  readonly lane: Of;
  readonly results: Result[];
  readonly since: number;
  readonly steps: Steps | undefined;
  /** Number of items without a result. */
  left: number;
  over: boolean;
  settle(outcome: { error: unknown } | undefined): void;
}

const MOST_RETRY_S = 60;

export function createQueue<Item extends QueueItem, Of extends Lane, Result>(
  options: QueueOptions<Item, Of, Result>,
): Queue<Item, Of, Result> {
  type OwnJob = Job<Item, Of, Result>;
  type OwnDrawn = DrawnItem<OwnJob>;
  const { parallel, maxInputs, maxTokens, now = Date.now } = options;
  const backlog = createBacklog<OwnJob>(options.batch);
  const { waiting } = backlog;
  const running = new Map<readonly OwnDrawn[], AbortController>();
  const speed = createThroughput();
  let scheduled: NodeJS.Immediate | undefined;
  let closed = false;

  function run({ items, lane, caller, background, signal, trace }: Work<Item, Of>): Promise<Result[]> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (closed) return Promise.reject(closing());
    if (!items.length) return Promise.resolve([]);
    const tokens = totalTokens(items);
    if (waiting.inputs && (waiting.inputs + items.length > maxInputs || waiting.tokens + tokens > maxTokens)) {
      return Promise.reject(queueFull(speed.secondsFor(waiting.tokens)));
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => leave(job, signal.reason);
      const job: OwnJob = createJob({ items, lane, caller, background, trace }, now(), (outcome) => {
        signal.removeEventListener('abort', onAbort);
        if (outcome) reject(outcome.error);
        else resolve(job.results);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      backlog.add(job);
      schedule();
    });
  }

  /** Removes a job's items from the queue and rejects the job. */
  function leave(job: OwnJob, error: unknown): void {
    if (job.over) return;
    job.settle({ error });
    backlog.remove(job);
    for (const [entries, controller] of running) {
      if (entries.every((entry) => entry.job.over)) controller.abort(error);
    }
  }

  function startBatches(): void {
    scheduled = undefined;
    while (running.size < parallel && !closed) {
      const entries = backlog.takeBatch();
      if (!entries.length) return;
      void start(entries);
    }
  }

  async function start(entries: readonly OwnDrawn[]): Promise<void> {
    const controller = new AbortController();
    running.set(entries, controller);
    for (const { job } of entries) job.steps?.started();
    const startedAt = now();
    try {
      await runBatch(entries, controller.signal);
      speed.note(totalTokens(entries), now() - startedAt);
    } finally {
      const since = entries.reduce((first, { job }) => Math.min(first, job.since), startedAt);
      options.onBatch?.({ inputs: entries.length, waitedMs: startedAt - since, ranMs: now() - startedAt });
      running.delete(entries);
      schedule();
    }
  }

  async function runBatch(entries: readonly OwnDrawn[], signal: AbortSignal): Promise<void> {
    try {
      const results = await options.run(
        entries.map(({ job, index }) => job.items[index]!),
        entries[0]!.job.lane,
        signal,
      );
      if (results.length !== entries.length) throw new Error('a batch has a different number of results than inputs');
      for (const [at, { job, index }] of entries.entries()) {
        if (job.over) continue;
        job.results[index] = results[at]!;
        if (--job.left === 0) job.settle(undefined);
      }
    } catch (error) {
      const jobs = new Set(entries.map(({ job }) => job));
      if (jobs.size === 1 || isTemporary(error)) for (const job of jobs) leave(job, error);
      // An input of one request may have caused the failure. Each request is therefore run alone, so that only that one
      // fails.
      else for (const job of jobs) if (!job.over) await runBatch(of(entries, job), signal);
    }
  }

  const of = (entries: readonly OwnDrawn[], job: OwnJob) => entries.filter((entry) => entry.job === job);

  function schedule(): void {
    if (!scheduled && !closed && running.size < parallel && waiting.inputs) scheduled = setImmediate(startBatches);
  }

  return {
    run,
    waiting,
    get running() {
      return running.size;
    },
    close() {
      closed = true;
      clearImmediate(scheduled);
      const jobs = backlog.jobs();
      for (const { job } of [...running.keys()].flat()) jobs.add(job);
      for (const job of jobs) leave(job, closing());
    },
  };
}

function createJob<Item extends QueueItem, Of extends Lane, Result>(
  { items, lane, caller, background = false, trace }: Omit<Work<Item, Of>, 'signal'>,
  since: number,
  onSettled: (outcome: { error: unknown } | undefined) => void,
): Job<Item, Of, Result> {
  const job: Job<Item, Of, Result> = {
    items,
    lane,
    caller,
    background,
    results: new Array(items.length),
    since,
    steps: trace && traceSteps(trace),
    next: 0,
    left: items.length,
    over: false,
    settle(outcome) {
      job.over = true;
      job.steps?.over();
      onSettled(outcome);
    },
  };
  return job;
}

const queueFull = (retryAfter: number): Problem =>
  problem('ServiceNodeResourceDrainError', {
    message: 'Too many inputs are waiting for this model; try again later',
    retryAfter,
  });
const closing = (): Problem =>
  problem('ServiceNodeResourceDrainError', { message: 'The server is shutting down; try again', retryAfter: 1 });

/** Whether the failure is temporary, rather than caused by the inputs. */
const isTemporary = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return code === 503 || code === 504;
};

interface Steps {
  /** Called when an item's batch starts. */
  started(): void;
  over(): void;
}

/** Traces the wait until the first item is in a batch, and then the work itself. */
function traceSteps(trace: Trace): Steps {
  let end = trace.span('queue');
  let isRunning = false;
  return {
    started() {
      if (isRunning) return;
      isRunning = true;
      end();
      end = trace.span('model');
    },
    over: () => end(),
  };
}

/** Moving average of the batch throughput, used for `Retry-After`. */
function createThroughput() {
  let tokensPerMs: number | undefined;
  return {
    note(tokens: number, ms: number) {
      const now = tokens / Math.max(ms, 1);
      if (tokens > 0) tokensPerMs = tokensPerMs === undefined ? now : tokensPerMs + (now - tokensPerMs) / 4;
    },
    secondsFor: (tokens: number) => Math.min(MOST_RETRY_S, Math.max(1, Math.ceil(tokens / (tokensPerMs ?? 1) / 1000))),
  };
}
