/**
 * Inputs of many requests, packed into batches for one model. A batch costs its padded tokens (its longest input times
 * their number), so inputs of like length go together; whose turn it is counts in tokens, caller by caller.
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
  /** Callers take turns. */
  readonly caller: string;
  /** Drawn only when nobody waits who is not patient. */
  readonly patient?: boolean | undefined;
  /** Its reason is what a request that left fails with; what has not run by then never does. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

export interface Queue<Item, Of extends Lane, Result> {
  /** One result an item, in order. ServiceNodeResourceDrainError with `retryAfter` when too much is waiting. */
  run(work: Work<Item, Of>): Promise<Result[]>;
  /** What waits and is not in a batch yet. */
  readonly waiting: { readonly inputs: number; readonly tokens: number };
  /** Batches that run. */
  readonly running: number;
  /** Ends what waits and what runs. */
  close(): void;
}

export interface QueueOptions<Item, Of extends Lane, Result> {
  run(batch: readonly Item[], lane: Of, signal: AbortSignal): Promise<readonly Result[]>;
  /** Batches at once. */
  readonly parallel: number;
  /** The most padded tokens of a batch (one input may have more, alone), and the most inputs. */
  readonly batch: { readonly tokens: number; readonly inputs: number };
  /** The most that may wait; one request is always taken when nothing waits. */
  readonly maxInputs: number;
  readonly maxTokens: number;
  readonly now?: () => number;
  /** Told of each batch that has run, whether it failed or not. */
  readonly onBatch?: ((facts: BatchFacts) => void) | undefined;
}

export interface BatchFacts {
  readonly inputs: number;
  /** How long the one that waited longest has waited, and how long the batch took. */
  readonly waitedMs: number;
  readonly ranMs: number;
}

interface Job<Item, Of, Result> {
  readonly items: readonly Item[];
  readonly lane: Of;
  readonly caller: string;
  readonly patient: boolean;
  readonly results: Result[];
  readonly since: number;
  readonly steps: Steps | undefined;
  /** The first item that was not drawn yet. */
  next: number;
  /** Items without a result. */
  left: number;
  over: boolean;
  settle(outcome: { error: unknown } | undefined): void;
}

/** One item that was drawn and may be put into a batch. */
interface Drawn<Item, Of, Result> {
  readonly job: Job<Item, Of, Result>;
  readonly index: number;
  readonly tokens: number;
}

interface Turn<Job> {
  readonly jobs: Set<Job>;
  /** Tokens that this caller may still draw in its turn. */
  credit: number;
}

/** How many batches are looked over for inputs of like length: the more, the less padding, and the longer a wait. */
const HORIZON_BATCHES = 4;
const MOST_RETRY_S = 60;

export function createQueue<Item extends QueueItem, Of extends Lane, Result>(
  options: QueueOptions<Item, Of, Result>,
): Queue<Item, Of, Result> {
  type OwnJob = Job<Item, Of, Result>;
  type OwnDrawn = Drawn<Item, Of, Result>;
  const { batch: limits, parallel, maxInputs, maxTokens, now = Date.now } = options;
  const horizon = { tokens: limits.tokens * HORIZON_BATCHES, inputs: limits.inputs * HORIZON_BATCHES };

  /** In the order of their turns. */
  const turns = new Map<string, Turn<OwnJob>>();
  const patientTurns = new Map<string, Turn<OwnJob>>();
  const turnsOf = (patient: boolean) => (patient ? patientTurns : turns);
  /** In the order of their drawing: the first is in the next batch. */
  let drawn: OwnDrawn[] = [];
  let drawnTokens = 0;
  const waiting = { inputs: 0, tokens: 0 };
  const running = new Map<readonly OwnDrawn[], AbortController>();
  const speed = createSpeed();
  let scheduled: NodeJS.Immediate | undefined;
  let closed = false;

  function run({ items, lane, caller, patient = false, signal, trace }: Work<Item, Of>): Promise<Result[]> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (closed) return Promise.reject(closing());
    if (!items.length) return Promise.resolve([]);
    const tokens = total(items);
    if (waiting.inputs && (waiting.inputs + items.length > maxInputs || waiting.tokens + tokens > maxTokens)) {
      return Promise.reject(full(speed.secondsFor(waiting.tokens)));
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => leave(job, signal.reason);
      const job: OwnJob = {
        items,
        lane,
        caller,
        patient,
        results: new Array(items.length),
        since: now(),
        steps: trace && followed(trace),
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
      const own = turnsOf(patient);
      const turn = own.get(caller) ?? { jobs: new Set(), credit: 0 };
      turn.jobs.add(job);
      own.set(caller, turn);
      waiting.inputs += items.length;
      waiting.tokens += tokens;
      schedule();
    });
  }

  /** Takes out of the queue what a job has in it, and fails it. */
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
    const own = turnsOf(job.patient);
    const turn = own.get(job.caller);
    if (turn?.jobs.delete(job) && !turn.jobs.size) own.delete(job.caller);
  }

  function draw(): void {
    drawFrom(turns, horizon);
    // What was drawn is run before whoever comes next, so of what is patient no more than a batch is.
    if (!drawn.length) drawFrom(patientTurns, limits);
  }

  /** Deficit round robin: each turn lets a caller draw the tokens of one batch, shared by those who wait. */
  function drawFrom(turns: Map<string, Turn<OwnJob>>, horizon: QueueOptions<Item, Of, Result>['batch']): void {
    while (turns.size && drawnTokens < horizon.tokens && drawn.length < horizon.inputs) {
      const [caller, turn] = turns.entries().next().value!;
      if (turn.credit <= 0) turn.credit += Math.max(1, Math.floor(limits.tokens / turns.size));
      while (turn.credit > 0 && turn.jobs.size && drawnTokens < horizon.tokens && drawn.length < horizon.inputs) {
        const job = turn.jobs.values().next().value!;
        const { tokens } = job.items[job.next]!;
        drawn.push({ job, index: job.next++, tokens });
        drawnTokens += tokens;
        // An empty input costs something too.
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

  function pump(): void {
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
      await runTogether(entries, controller.signal);
      speed.note(total(entries), now() - startedAt);
    } finally {
      const since = entries.reduce((first, { job }) => Math.min(first, job.since), startedAt);
      options.onBatch?.({ inputs: entries.length, waitedMs: startedAt - since, ranMs: now() - startedAt });
      running.delete(entries);
      schedule();
    }
  }

  async function runTogether(entries: readonly OwnDrawn[], signal: AbortSignal): Promise<void> {
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
      if (jobs.size === 1 || mayPass(error)) for (const job of jobs) leave(job, error);
      // Somebody's input may be at fault: each request is tried alone, so that nobody fails for another's.
      else for (const job of jobs) if (!job.over) await runTogether(of(entries, job), signal);
    }
  }

  const of = (entries: readonly OwnDrawn[], job: OwnJob) => entries.filter((entry) => entry.job === job);

  function schedule(): void {
    if (!scheduled && !closed && running.size < parallel && waiting.inputs) scheduled = setImmediate(pump);
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
      const jobs = new Set([...turns.values(), ...patientTurns.values()].flatMap(({ jobs }) => [...jobs]));
      for (const { job } of [...drawn, ...[...running.keys()].flat()]) jobs.add(job);
      for (const job of jobs) leave(job, closing());
    },
  };
}

/**
 * The batch that the first entry is in: of its lane, a run of neighbours by length, with the most tokens that fit. In
 * the order of length, shortest first.
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

const full = (retryAfter: number): Problem =>
  problem('ServiceNodeResourceDrainError', { message: 'Too much is waiting for this model, try again', retryAfter });
const closing = (): Problem =>
  problem('ServiceNodeResourceDrainError', { message: 'The server is being stopped, try again', retryAfter: 1 });

/** Failures that have nothing to do with what was asked. */
const mayPass = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return code === 503 || code === 504;
};

interface Steps {
  /** An item is in a batch that runs. */
  started(): void;
  over(): void;
}

/** Waiting, until the first item is in a batch, and work from there on. */
function followed(trace: Trace): Steps {
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

/** How fast batches go, from those of late. */
function createSpeed() {
  let tokensPerMs: number | undefined;
  return {
    note(tokens: number, ms: number) {
      const now = tokens / Math.max(ms, 1);
      if (tokens > 0) tokensPerMs = tokensPerMs === undefined ? now : tokensPerMs + (now - tokensPerMs) / 4;
    },
    secondsFor: (tokens: number) => Math.min(MOST_RETRY_S, Math.max(1, Math.ceil(tokens / (tokensPerMs ?? 1) / 1000))),
  };
}
