/**
 * What a number of reads a second needs: calculated from the cost of one read, and simulated. The simulation knows what
 * the calculation leaves out: reads arrive at random, take different times and wait for each other.
 */

/** Means for one read, in milliseconds. */
export interface Costs {
  /** Processor time of the server. */
  readonly cachedMs: number;
  readonly liveMs: number;
  /** Processor time of PostgreSQL, Redis and S3 together. */
  readonly storesCachedMs: number;
  readonly storesLiveMs: number;
  /** Processor time of the browser for a page, and how long the page waits for the network. */
  readonly browserMs: number;
  readonly pageWaitsMs: number;
  /** Memory of an open page, in MB. */
  readonly pageMb: number;
}

/** Shares of all reads. The rest is read without the browser. */
export interface Mix {
  readonly cached: number;
  readonly browser: number;
}

/**
 * Measured: bench/README.md, "Several servers" (one server with shared stores, on the fast machine) and "Reading, browser engine". A
 * page is taken to need 0.6 s, of which half is processor time, and 70 MB: somewhat more than was measured.
 */
export const MEASURED: Costs = {
  cachedMs: 0.6,
  liveMs: 7.8,
  storesCachedMs: 0.26,
  storesLiveMs: 2,
  browserMs: 300,
  pageWaitsMs: 300,
  pageMb: 70,
};
export const USUAL: Mix = { cached: 0.8, browser: 0.02 };

/** Most that processors may work, as a share of the time. */
export const BUSY = 0.6;
/**
 * Few processors must be idle for a greater share of the time, because they even out bursts less: as many are added as the
 * square root of the working ones, times this (square-root staffing, Halfin and Whitt 1981).
 */
const SPARE = 2;
export const CORES_A_SERVER = 4;
/** Pages that a server, or a browser on another machine, opens at once by default. */
const LEAST_PAGES = 6;
/** Quantile of a normal distribution: the pages suffice for 99 % of the time. */
const QUANTILE = 2.33;

export interface Capacity {
  readonly readsPerSecond: number;
  readonly serverCores: number;
  readonly servers: number;
  readonly browserCores: number;
  readonly pages: number;
  readonly pagesMb: number;
  readonly storeCores: number;
}

export function capacityFor(readsPerSecond: number, costs: Costs = MEASURED, mix: Mix = USUAL): Capacity {
  const perSecond = (cachedMs: number, liveMs: number) =>
    (readsPerSecond * (mix.cached * cachedMs + (1 - mix.cached) * liveMs)) / 1_000;
  const serverCores = coresFor(perSecond(costs.cachedMs, costs.liveMs));
  const browserReads = readsPerSecond * mix.browser;
  const open = (browserReads * (costs.browserMs + costs.pageWaitsMs)) / 1_000;
  // The number of open pages varies like a Poisson distribution, whose variance is its mean.
  const pages = Math.max(LEAST_PAGES, Math.ceil(open + QUANTILE * Math.sqrt(open)));
  return {
    readsPerSecond,
    serverCores,
    servers: Math.ceil(serverCores / CORES_A_SERVER),
    browserCores: coresFor((browserReads * costs.browserMs) / 1_000),
    pages,
    pagesMb: pages * costs.pageMb,
    storeCores: coresFor(perSecond(costs.storesCachedMs, costs.storesLiveMs)),
  };
}

/** The cores for work that would keep this many busy. */
const coresFor = (busy: number): number => Math.max(busy / BUSY, busy + SPARE * Math.sqrt(busy));

/** Machines to simulate, in whole cores. */
export interface Machines {
  readonly servers: number;
  readonly browserCores: number;
  readonly pages: number;
  readonly storeCores: number;
}

/** In whole cores. */
export const machinesFor = ({ servers, browserCores, pages, storeCores }: Capacity): Machines => ({
  servers,
  browserCores: Math.ceil(browserCores),
  pages,
  storeCores: Math.ceil(storeCores),
});

export interface Simulated {
  /** Shares of the time in which the cores work. */
  readonly serversBusy: number;
  readonly browsersBusy: number;
  readonly storesBusy: number;
  /** 99 % of the reads wait at most this long for a core of a server, and of the browser reads for a free page. */
  readonly serverWaitMs: number;
  readonly pageWaitMs: number;
  /** 99 % of the time, at most so many pages are open. */
  readonly openPages: number;
}

interface SimulationOptions {
  readonly costs?: Costs;
  readonly mix?: Mix;
  /** Number of reads. The first tenth is not counted. */
  readonly reads?: number;
  readonly seed?: number;
}

/**
 * Simulates reads that arrive independently of each other (a Poisson process) and go to the servers in turn. Each takes a
 * core of the stores, then one of its server; some then take a page, and a core of the browsers. Processor times are
 * distributed exponentially, because pages differ in size.
 */
export function simulate(
  readsPerSecond: number,
  machines: Machines,
  { costs = MEASURED, mix = USUAL, reads = 200_000, seed = 1 }: SimulationOptions = {},
): Simulated {
  const random = randomNumbers(seed);
  const taking = (meanMs: number) => -meanMs * Math.log(1 - random());
  const clock = createClock();
  const pool = (slots: number) => createPool(clock, slots);
  const servers = Array.from({ length: machines.servers }, () => pool(CORES_A_SERVER));
  const [browsers, pages, stores] = [pool(machines.browserCores), pool(machines.pages), pool(machines.storeCores)];
  const serverWaits: number[] = [];
  const pageWaits: number[] = [];
  const open: number[] = [];
  const countedFrom = reads / 10;

  function read(at: number): void {
    const isCounted = at >= countedFrom;
    const kind = random();
    const isCached = kind < mix.cached;
    const needsBrowser = kind >= 1 - mix.browser;
    stores.use(taking(isCached ? costs.storesCachedMs : costs.storesLiveMs), () => {
      servers[at % servers.length]!.use(taking(isCached ? costs.cachedMs : costs.liveMs), (waitedMs) => {
        if (isCounted) serverWaits.push(waitedMs);
        if (needsBrowser) render(isCounted);
      });
    });
  }

  function render(isCounted: boolean): void {
    const since = clock.now();
    pages.take(() => {
      if (isCounted) {
        pageWaits.push(clock.now() - since);
        open.push(pages.taken());
      }
      clock.after(costs.pageWaitsMs, () => browsers.use(taking(costs.browserMs), () => pages.release()));
    });
  }

  let at = 0;
  const arrive = () => {
    read(at++);
    if (at < reads) clock.after(taking(1_000 / readsPerSecond), arrive);
  };
  arrive();
  clock.run();
  const busy = (pools: readonly Pool[], slots: number) =>
    pools.reduce((sum, one) => sum + one.workedMs(), 0) / (slots * clock.now());
  return {
    serversBusy: busy(servers, machines.servers * CORES_A_SERVER),
    browsersBusy: busy([browsers], machines.browserCores),
    storesBusy: busy([stores], machines.storeCores),
    serverWaitMs: quantile(serverWaits),
    pageWaitMs: quantile(pageWaits),
    openPages: quantile(open),
  };
}

const quantile = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(0.99 * numbers.length)] ?? 0;

interface Clock {
  now(): number;
  after(ms: number, action: () => void): void;
  /** Runs all actions in the order of their times. */
  run(): void;
}

function createClock(): Clock {
  // A binary heap; the first entry is the earliest.
  const heap: { at: number; action: () => void }[] = [];
  let nowMs = 0;
  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  function take(): { at: number; action: () => void } {
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      if (left >= heap.length) return first;
      const child = right < heap.length && heap[right]!.at < heap[left]!.at ? right : left;
      if (heap[at]!.at <= heap[child]!.at) return first;
      swap(at, child);
      at = child;
    }
  }
  return {
    now: () => nowMs,
    after(ms, action) {
      heap.push({ at: nowMs + ms, action });
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (heap[parent]!.at <= heap[at]!.at) return;
        swap(at, parent);
        at = parent;
      }
    },
    run() {
      while (heap.length > 0) {
        const { at, action } = take();
        nowMs = at;
        action();
      }
    },
  };
}

interface Pool {
  /** Takes a slot, as soon as one is free and in the order of the calls. */
  take(then: () => void): void;
  release(): void;
  /** Takes a slot for some time. Passes how long it waited for it. */
  use(ms: number, then: (waitedMs: number) => void): void;
  taken(): number;
  workedMs(): number;
}

function createPool(clock: Clock, slots: number): Pool {
  // A queue: `next` is the first waiting one. Removing entries from the front of an array takes time.
  let waiting: (() => void)[] = [];
  let next = 0;
  let taken = 0;
  let workedMs = 0;
  const pool: Pool = {
    take(then) {
      if (taken < slots) {
        taken++;
        then();
      } else waiting.push(then);
    },
    release() {
      const then = waiting[next];
      if (!then) {
        taken--;
        return;
      }
      if (++next === waiting.length) {
        waiting = [];
        next = 0;
      }
      then();
    },
    use(ms, then) {
      const since = clock.now();
      pool.take(() => {
        const waitedMs = clock.now() - since;
        workedMs += ms;
        clock.after(ms, () => {
          pool.release();
          then(waitedMs);
        });
      });
    },
    taken: () => taken,
    workedMs: () => workedMs,
  };
  return pool;
}

/** A generator of numbers from 0 to below 1 that are the same for the same seed: a multiplicative congruential one (Lehmer). */
function randomNumbers(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state - 1) / 2_147_483_646;
  };
}
