/**
 * Packs inputs of many requests into batches for one model. A batch costs its padded tokens (longest input times number
 * of inputs), so inputs of similar length are batched together. Callers share the model fairly by tokens.
 */
import { type Problem, problem } from '#errors.ts';
import type { Trace } from '#telemetry/trace.ts';

export interface QueueItem {
  readonly tokens: number;
}

/** Inputs of different lanes never share a batch. */
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
  /** Aborting it rejects with its reason and drops the inputs that have not run. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

export interface Queue<Item, Of extends Lane, Result> {
  /**
   * One result per input, in order. Rejects with ServiceNodeResourceDrainError and `retryAfter` if the queue is full.
   */
  run(work: Work<Item, Of>): Promise<Result[]>;
  /** Inputs that are not in a batch yet. */
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
  /** Limits of one batch: padded tokens (a single input may exceed them, alone) and inputs. */
  readonly batch: { readonly tokens: number; readonly inputs: number };
  /** Limits of the queue. A request is always accepted if the queue is empty. */
  readonly maxInputs: number;
  readonly maxTokens: number;
  readonly now?: () => number;
  /** Called after each batch, whether it succeeded or failed. */
  readonly onBatch?: ((facts: BatchFacts) => void) | undefined;
}

export interface BatchFacts {
  readonly inputs: number;
  /** Wait of the oldest input, and duration of the batch. */
  readonly waitedMs: number;
  readonly ranMs: number;
}

interface Job<Item, Of, Result> {
  readonly items: readonly Item[];
  readonly lane: Of;
  readonly caller: string;
  readonly background: boolean;
  readonly results: Result[];
  readonly since: number;
  readonly steps: Steps | undefined;
  /** First item that was not drawn yet. */
  next: number;
  /** Items without a result. */
  left: number;
  over: boolean;
  settle(outcome: { error: unknown } | undefined): void;
}

/** An item that was drawn from its job and can go into a batch. */
interface DrawnItem<Item, Of, Result> {
  readonly job: Job<Item, Of, Result>;
  readonly index: number;
  readonly tokens: number;
}

interface CallerQueue<Job> {
  readonly jobs: Set<Job>;
  /** Tokens that the caller may still draw in this round. */
  credit: number;
}

/** Batches' worth of inputs that are compared by length. More means less padding but longer waits. */
const HORIZON_BATCHES = 4;
const MOST_RETRY_S = 60;

export function createQueue<Item extends QueueItem, Of extends Lane, Result>(
  options: QueueOptions<Item, Of, Result>,
): Queue<Item, Of, Result> {
  type OwnJob = Job<Item, Of, Result>;
  type OwnDrawn = DrawnItem<Item, Of, Result>;
  const { batch: limits, parallel, maxInputs, maxTokens, now = Date.now } = options;
  const horizon = { tokens: limits.tokens * HORIZON_BATCHES, inputs: limits.inputs * HORIZON_BATCHES };

  /** In round-robin order. */
  const interactiveCallers = new Map<string, CallerQueue<OwnJob>>();
  const backgroundCallers = new Map<string, CallerQueue<OwnJob>>();
  const callersOf = (isBackground: boolean) => (isBackground ? backgroundCallers : interactiveCallers);
  /** In drawing order: the first item goes into the next batch. */
  let drawn: OwnDrawn[] = [];
  let drawnTokens = 0;
  const waiting = { inputs: 0, tokens: 0 };
  const running = new Map<readonly OwnDrawn[], AbortController>();
  const speed = createThroughput();
  let scheduled: NodeJS.Immediate | undefined;
  let closed = false;

  function run({ items, lane, caller, background = false, signal, trace }: Work<Item, Of>): Promise<Result[]> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (closed) return Promise.reject(closing());
    if (!items.length) return Promise.resolve([]);
    const tokens = total(items);
    if (waiting.inputs && (waiting.inputs + items.length > maxInputs || waiting.tokens + tokens > maxTokens)) {
      return Promise.reject(queueFull(speed.secondsFor(waiting.tokens)));
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => leave(job, signal.reason);
      const job: OwnJob = {
        items,
        lane,
        caller,
        background,
        results: new Array(items.length),
        since: now(),
        steps: trace && traceSteps(trace),
        next: 0,
        left: items.length,
        over: false,
        settle(outcome) {
          job.over = true;
          job.steps?.over();
          signal.removeEventListener('abort', onAbort);
          if (outcome) reject(outcome.error);
          else resolve(job.results);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const own = callersOf(background);
      const turn = own.get(caller) ?? { jobs: new Set(), credit: 0 };
      turn.jobs.add(job);
      own.set(caller, turn);
      waiting.inputs += items.length;
      waiting.tokens += tokens;
      schedule();
    });
  }

  /** Removes a job's items from the queue and rejects the job. */
  function leave(job: OwnJob, error: unknown): void {
    if (job.over) return;
    job.settle({ error });
    for (let at = job.next; at < job.items.length; at++) forget(job.items[at]!.tokens);
    dropJob(job);
    const kept = drawn.filter((entry) => entry.job !== job);
    for (const entry of drawn) if (entry.job === job) forget(entry.tokens);
    drawn = kept;
    drawnTokens = total(drawn);
    for (const [entries, controller] of running) {
      if (entries.every((entry) => entry.job.over)) controller.abort(error);
    }
  }

  function forget(tokens: number): void {
    waiting.inputs--;
    waiting.tokens -= tokens;
  }

  function dropJob(job: OwnJob): void {
    const own = callersOf(job.background);
    const turn = own.get(job.caller);
    if (turn?.jobs.delete(job) && !turn.jobs.size) own.delete(job.caller);
  }

  function draw(): void {
    drawFrom(interactiveCallers, horizon);
    // Drawn items run before later arrivals, so at most one batch of batch work is drawn.
    if (!drawn.length) drawFrom(backgroundCallers, limits);
  }

  /** Deficit round robin: each round adds credit of one batch, divided among the waiting callers. */
  function drawFrom(turns: Map<string, CallerQueue<OwnJob>>, horizon: QueueOptions<Item, Of, Result>['batch']): void {
    while (turns.size && drawnTokens < horizon.tokens && drawn.length < horizon.inputs) {
      const [caller, turn] = turns.entries().next().value!;
      if (turn.credit <= 0) turn.credit += Math.max(1, Math.floor(limits.tokens / turns.size));
      while (turn.credit > 0 && turn.jobs.size && drawnTokens < horizon.tokens && drawn.length < horizon.inputs) {
        const job = turn.jobs.values().next().value!;
        const { tokens } = job.items[job.next]!;
        drawn.push({ job, index: job.next++, tokens });
        drawnTokens += tokens;
        // An empty input has a cost too.
        turn.credit -= Math.max(1, tokens);
        if (job.next === job.items.length) turn.jobs.delete(job);
      }
      if (!turn.jobs.size) turns.delete(caller);
      else if (turn.credit <= 0) {
        turns.delete(caller);
        turns.set(caller, turn);
      }
    }
  }

  function startBatches(): void {
    scheduled = undefined;
    while (running.size < parallel && !closed) {
      draw();
      const entries = pickBatch(drawn, limits);
      if (!entries.length) return;
      const taken = new Set(entries);
      drawn = entries.length === drawn.length ? [] : drawn.filter((entry) => !taken.has(entry));
      for (const { tokens } of entries) {
        drawnTokens -= tokens;
        forget(tokens);
      }
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
      speed.note(total(entries), now() - startedAt);
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
      if (results.length !== entries.length) throw new Error('a batch has another number of results than inputs');
      for (const [at, { job, index }] of entries.entries()) {
        if (job.over) continue;
        job.results[index] = results[at]!;
        if (--job.left === 0) job.settle(undefined);
      }
    } catch (error) {
      const jobs = new Set(entries.map(({ job }) => job));
      if (jobs.size === 1 || isTemporary(error)) for (const job of jobs) leave(job, error);
      // One request's input may have caused the failure: run each request alone, so that only that one fails.
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
      const jobs = new Set(
        [...interactiveCallers.values(), ...backgroundCallers.values()].flatMap(({ jobs }) => [...jobs]),
      );
      for (const { job } of [...drawn, ...[...running.keys()].flat()]) jobs.add(job);
      for (const job of jobs) leave(job, closing());
    },
  };
}

/**
 * Picks the batch around the first entry: neighbours by length from its lane, with the most tokens that fit. Sorted by
 * length, shortest first.
 */
export function pickBatch<Entry extends { readonly tokens: number; readonly job: { readonly lane: Lane } }>(
  entries: readonly Entry[],
  { tokens: maxTokens, inputs: maxInputs }: { readonly tokens: number; readonly inputs: number },
): readonly Entry[] {
  const [anchor] = entries;
  if (!anchor) return [];
  const { key } = anchor.job.lane;
  const mates = entries.filter(({ job }) => job.lane.key === key).sort((a, b) => a.tokens - b.tokens);
  const place = mates.indexOf(anchor);
  let best = { from: place, to: place, tokens: anchor.tokens };
  let from = 0;
  let sum = 0;
  for (let to = 0; to < mates.length; to++) {
    const longest = mates[to]!.tokens;
    sum += longest;
    while (from < to && (to - from >= maxInputs || longest * (to - from + 1) > maxTokens)) sum -= mates[from++]!.tokens;
    if (from > place) break;
    if (to >= place && (sum > best.tokens || (sum === best.tokens && to - from > best.to - best.from))) {
      best = { from, to, tokens: sum };
    }
  }
  return mates.slice(best.from, best.to + 1);
}

const total = (items: readonly QueueItem[]): number => items.reduce((sum, { tokens }) => sum + tokens, 0);

const queueFull = (retryAfter: number): Problem =>
  problem('ServiceNodeResourceDrainError', { message: 'Too much is waiting for this model, try again', retryAfter });
const closing = (): Problem =>
  problem('ServiceNodeResourceDrainError', { message: 'The server is being stopped, try again', retryAfter: 1 });

/** Whether the failure is temporary, not caused by the inputs. */
const isTemporary = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return code === 503 || code === 504;
};

interface Steps {
  /** Called when an item's batch starts. */
  started(): void;
  over(): void;
}

/** Traces the wait until the first item is in a batch, and the work after that. */
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

/** Moving average of the batch throughput, for `Retry-After`. */
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
