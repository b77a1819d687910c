/**
 * What one request went through and how long each step took. A trace travels with its request as an argument, so that
 * requests that nobody follows pay for none. Names and facts come from the code: no address, key or text of a caller.
 */
import { randomBytes } from 'node:crypto';

/** THE table: steps that are timed, in the order in which they may come. */
export const SPANS = {
  key_check: 'who asks, and whether their limits leave room',
  cache: 'the look for a kept copy',
  robots: 'what robots.txt says',
  search: 'the question to search providers, or to the own index',
  page: 'one result of a search being read',
  queue: 'waiting for a page of the browser, a thread, or the turn at a model',
  dns: 'the host name being looked up, and its addresses checked',
  connect: 'the connection to the server, by way of a proxy when there is one',
  tls: 'its encryption being agreed on',
  first_byte: 'from the request to the head of the answer',
  download: 'from there to the end of its body',
  probe: 'the look whether scripts would change the page',
  render: 'the page in the browser',
  document: 'the file being read',
  parse: 'HTML becoming a tree',
  extract: 'the content being told from the rest',
  markdown: 'the content being written',
  load: 'the model being brought into memory',
  tokenize: 'texts being counted and cut for the model',
  model: 'the model at work',
} as const;

export type SpanName = keyof typeof SPANS;

/** What is counted along the way; `tokens` is what the answer costs. */
export type CountName = 'bytes' | 'redirects' | 'requests' | 'pages' | 'inputs' | 'tokens';

export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface Trace {
  /** 32 hexadecimal digits, those of the caller's `traceparent` when there is one. */
  readonly id: string;
  /** When the request came, as `performance.now()` milliseconds. */
  readonly startedAt: number;
  /** Begins a step; the returned function ends it, with what is known by then. */
  span(name: SpanName, facts?: SpanFacts): (facts?: SpanFacts) => void;
  /** Notes a step that is over, in `performance.now()` milliseconds. */
  note(name: SpanName, fromMs: number, toMs: number, facts?: SpanFacts): void;
  /** Adds to a count. */
  count(name: CountName, amount: number): void;
  /** What the answer was made of. Where a request has several, the cache's least helpful word is kept, and each engine. */
  fact(name: 'cache' | 'engine', value: string): void;
  /** The same trace, whose steps from here on have these facts. */
  within(facts: SpanFacts): Trace;
  /** What is known now. A step that is not over lasts until now. */
  shown(): ShownTrace;
}

export interface ShownSpan {
  readonly name: SpanName;
  /** From the start of the request. */
  readonly start_ms: number;
  readonly duration_ms: number;
  readonly [fact: string]: string | number | boolean;
}

/** A trace as callers are given it, the same on every face. */
export interface ShownTrace {
  readonly id: string;
  readonly duration_ms: number;
  readonly spans: readonly ShownSpan[];
  readonly counts: Readonly<Partial<Record<CountName, number>>>;
  readonly cache?: string;
  readonly engine?: string;
}

interface Step {
  readonly name: SpanName;
  readonly fromMs: number;
  toMs: number | undefined;
  facts: SpanFacts | undefined;
}

/** A page that redirects, or a search that reads many, has more steps than anybody reads. */
const MOST_SPANS = 300;
const HELPFUL = ['off', 'hit', 'stale', 'miss'];

export interface TraceOptions {
  readonly id?: string | undefined;
  readonly startedAt?: number;
}

export function createTrace({ id = newTraceId(), startedAt = performance.now() }: TraceOptions = {}): Trace {
  const steps: Step[] = [];
  const counts: Partial<Record<CountName, number>> = {};
  let cache: string | undefined;
  const engines = new Set<string>();

  function add(name: SpanName, fromMs: number, toMs: number | undefined, facts: SpanFacts | undefined): Step {
    const step = { name, fromMs, toMs, facts };
    if (steps.length < MOST_SPANS) steps.push(step);
    return step;
  }

  const view = (common: SpanFacts | undefined): Trace => ({
    id,
    startedAt,
    span(name, facts) {
      const step = add(name, performance.now(), undefined, joined(common, facts));
      return (more) => {
        step.toMs ??= performance.now();
        step.facts = joined(step.facts, more);
      };
    },
    note: (name, fromMs, toMs, facts) => void add(name, fromMs, toMs, joined(common, facts)),
    count(name, amount) {
      counts[name] = (counts[name] ?? 0) + amount;
    },
    fact(name, value) {
      if (name === 'engine') engines.add(value);
      else if (cache === undefined || HELPFUL.indexOf(value) > HELPFUL.indexOf(cache)) cache = value;
    },
    within: (facts) => view(joined(common, facts)),
    shown() {
      const now = performance.now();
      return {
        id,
        duration_ms: rounded(now - startedAt),
        spans: steps
          .toSorted((one, other) => one.fromMs - other.fromMs)
          .map(({ name, fromMs, toMs = now, facts }) => ({
            name,
            start_ms: rounded(Math.max(0, fromMs - startedAt)),
            duration_ms: rounded(Math.max(0, toMs - fromMs)),
            ...facts,
          })),
        counts: { ...counts },
        ...(cache !== undefined && { cache }),
        ...(engines.size > 0 && { engine: [...engines].join(', ') }),
      };
    },
  });
  return view(undefined);
}

/** Work as a step of a trace; without one, just the work. */
export async function during<T>(name: SpanName, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  if (!trace) return work();
  const end = trace.span(name);
  try {
    return await work();
  } finally {
    end();
  }
}

/** The values of a source, as a step of a trace that lasts until its end. */
export async function* throughout<T>(
  name: SpanName,
  trace: Trace | undefined,
  values: AsyncIterable<T>,
): AsyncGenerator<T> {
  if (!trace) return yield* values;
  const end = trace.span(name);
  try {
    yield* values;
  } finally {
    end();
  }
}

const joined = (first: SpanFacts | undefined, second: SpanFacts | undefined): SpanFacts | undefined =>
  first && second ? { ...first, ...second } : (first ?? second);

/** Microseconds are nobody's concern. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

const newTraceId = (): string => randomBytes(16).toString('hex');

/** The caller's place in a trace of their own (W3C Trace Context, section 3.2); undefined when it is none. */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(typeof header === 'string' ? header : '') ??
    [];
  if (!traceId || !spanId || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/**
 * The value of a Server-Timing header: what steps of each name took together, and the whole
 * (Server Timing, section 3).
 */
export function serverTiming({ spans, duration_ms: whole, cache, engine }: ShownTrace): string {
  const sums = new Map<string, number>();
  for (const { name, duration_ms: ms } of spans) sums.set(name, (sums.get(name) ?? 0) + ms);
  const described = [
    ...(cache === undefined ? [] : [`cache_outcome;desc="${cache}"`]),
    ...(engine === undefined ? [] : [`engine;desc="${engine}"`]),
  ];
  return [...[...sums].map(([name, ms]) => `${name};dur=${rounded(ms)}`), ...described, `total;dur=${whole}`].join(
    ', ',
  );
}
