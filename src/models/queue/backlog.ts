/** The waiting work of a queue: selects the inputs of the next batch, sharing the model fairly between callers. */

/** A request with waiting inputs. */
export interface WaitingJob {
  readonly items: readonly { readonly tokens: number }[];
  /** Items of different lanes are never in the same batch. */
  readonly lane: { readonly key: string };
  readonly caller: string;
  readonly background: boolean;
  /** The first item that has not been drawn yet. */
  next: number;
}

/** An item that was drawn from its job and can be added to a batch. */
export interface DrawnItem<Job> {
  readonly job: Job;
  readonly index: number;
  readonly tokens: number;
}

/** Maximum size of a batch: padded tokens and inputs. */
export interface BatchLimits {
  readonly tokens: number;
  readonly inputs: number;
}

export interface Backlog<Job extends WaitingJob> {
  /** Inputs that have not been added to a batch yet. */
  readonly waiting: { readonly inputs: number; readonly tokens: number };
  add(job: Job): void;
  /** Removes the items of a job that have not been added to a batch yet. */
  remove(job: Job): void;
  /** Removes and returns the items of the next batch; empty if nothing is waiting. */
  takeBatch(): readonly DrawnItem<Job>[];
  jobs(): Set<Job>;
}

interface CallerQueue<Job> {
  readonly jobs: Set<Job>;
  /** Number of tokens that the caller may still draw in this round. */
  credit: number;
}

/** Number of batches whose inputs are compared by length. A higher number results in less padding but longer waits. */
const HORIZON_BATCHES = 4;

export function createBacklog<Job extends WaitingJob>(limits: BatchLimits): Backlog<Job> {
  const horizon = { tokens: limits.tokens * HORIZON_BATCHES, inputs: limits.inputs * HORIZON_BATCHES };
  /** In round-robin order. */
  const interactiveCallers = new Map<string, CallerQueue<Job>>();
  const backgroundCallers = new Map<string, CallerQueue<Job>>();
  const callersOf = ({ background }: Job) => (background ? backgroundCallers : interactiveCallers);
  /** In the order in which they were drawn: the first item is in the next batch. */
  let drawn: DrawnItem<Job>[] = [];
  let drawnTokens = 0;
  const waiting = { inputs: 0, tokens: 0 };

  function forget(tokens: number): void {
    waiting.inputs--;
    waiting.tokens -= tokens;
  }

  /** Deficit round robin: each round distributes the credit of one batch evenly among the waiting callers. */
  function drawFrom(callers: Map<string, CallerQueue<Job>>, most: BatchLimits): void {
    while (callers.size && drawnTokens < most.tokens && drawn.length < most.inputs) {
      const [caller, queue] = callers.entries().next().value!;
      if (queue.credit <= 0) queue.credit += Math.max(1, Math.floor(limits.tokens / callers.size));
      while (queue.credit > 0 && queue.jobs.size && drawnTokens < most.tokens && drawn.length < most.inputs) {
        const job = queue.jobs.values().next().value!;
        const { tokens } = job.items[job.next]!;
        drawn.push({ job, index: job.next++, tokens });
        drawnTokens += tokens;
        // Even an empty input has a cost.
        queue.credit -= Math.max(1, tokens);
        if (job.next === job.items.length) queue.jobs.delete(job);
      }
      if (!queue.jobs.size) callers.delete(caller);
      else if (queue.credit <= 0) {
        callers.delete(caller);
        callers.set(caller, queue);
      }
    }
  }

  return {
    waiting,
    add(job) {
      const callers = callersOf(job);
      const queue = callers.get(job.caller) ?? { jobs: new Set(), credit: 0 };
      queue.jobs.add(job);
      callers.set(job.caller, queue);
      waiting.inputs += job.items.length;
      waiting.tokens += totalTokens(job.items);
    },
    remove(job) {
      for (let at = job.next; at < job.items.length; at++) forget(job.items[at]!.tokens);
      const callers = callersOf(job);
      const queue = callers.get(job.caller);
      if (queue?.jobs.delete(job) && !queue.jobs.size) callers.delete(job.caller);
      const others = drawn.filter((item) => item.job !== job);
      for (const item of drawn) if (item.job === job) forget(item.tokens);
      drawn = others;
      drawnTokens = totalTokens(drawn);
    },
    takeBatch() {
      drawFrom(interactiveCallers, horizon);
      // Drawn items run before items that arrive later, so at most one batch of background work is drawn.
      if (!drawn.length) drawFrom(backgroundCallers, limits);
      const batch = pickBatch(drawn, limits);
      const taken = new Set(batch);
      drawn = batch.length === drawn.length ? [] : drawn.filter((item) => !taken.has(item));
      for (const { tokens } of batch) {
        drawnTokens -= tokens;
        forget(tokens);
      }
      return batch;
    },
    jobs() {
      const queues = [...interactiveCallers.values(), ...backgroundCallers.values()];
      return new Set([...queues.flatMap(({ jobs }) => [...jobs]), ...drawn.map(({ job }) => job)]);
    },
  };
}

/**
 * Picks the batch around the first entry: its neighbours by length from the same lane, up to the token limit. The batch
 * is sorted by length, shortest first.
 */
export function pickBatch<Entry extends { readonly tokens: number; readonly job: Pick<WaitingJob, 'lane'> }>(
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

export const totalTokens = (items: readonly { readonly tokens: number }[]): number =>
  items.reduce((sum, { tokens }) => sum + tokens, 0);
