/**
 * The trace of one request: its steps (spans) and their durations. A trace is passed as an argument, so untraced
 * requests cost nothing. Names and attributes must be defined in the code. They must not contain URLs, keys or text
 * from callers.
 */
import { randomBytes } from 'node:crypto';

/** The table of spans, in their usual order. */
export const SPANS = {
  key_check: 'checking the API key and its limits',
  cache: 'cache lookup',
  robots: 'robots.txt check',
  search: 'query to search providers or the local index',
  page: 'reading one search result',
  queue: 'waiting for a browser page, a worker thread or a model',
  dns: 'resolving the host name and checking its IP addresses',
  connect: 'connecting to the server, through the proxy if one is used',
  tls: 'TLS handshake',
  first_byte: 'from the request to the response headers',
  download: 'downloading the response body',
  probe: 'deciding whether scripts would change the page',
  render: 'rendering the page in the browser',
  document: 'parsing the file',
  parse: 'parsing the HTML',
  extract: 'extracting the main content',
  markdown: 'writing Markdown',
  load: 'loading the model',
  tokenize: 'tokenizing and truncating the inputs',
  model: 'running the model',
} as const;

export type SpanName = keyof typeof SPANS;

/**
 * Counters of a trace; `blocked` are resources that the browser did not load because of the operator's list, `tokens` is
 * the cost of the response.
 */
export type CountName = 'bytes' | 'blocked' | 'redirects' | 'requests' | 'pages' | 'inputs' | 'tokens';

export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface Trace {
  /** 32 hexadecimal digits; the trace id of the caller's `traceparent` if present. */
  readonly id: string;
  /** Arrival of the request, in `performance.now()` milliseconds. */
  readonly startedAt: number;
  /** Starts a span. The returned function ends it and may add attributes. */
  span(name: SpanName, facts?: SpanFacts): (facts?: SpanFacts) => void;
  /** Adds a finished span, in `performance.now()` milliseconds. */
  note(name: SpanName, fromMs: number, toMs: number, facts?: SpanFacts): void;
  /** Adds to a count. */
  count(name: CountName, amount: number): void;
  /**
   * Records the cache outcome or the engine. If there are several outcomes, only the worst is recorded; if there are
   * several engines, all are.
   */
  fact(name: 'cache' | 'engine', value: string): void;
  /** A view of this trace that adds these attributes to each new span. */
  within(facts: SpanFacts): Trace;
  /** Returns the trace so far. Spans that have not ended are shown as ending now. */
  shown(): TraceJson;
}

export interface SpanJson {
  readonly name: SpanName;
  /** Milliseconds since the start of the request. */
  readonly start_ms: number;
  readonly duration_ms: number;
  readonly [fact: string]: string | number | boolean;
}

/** A trace in the format that is returned to callers, which is the same in every API. */
export interface TraceJson {
  readonly id: string;
  readonly duration_ms: number;
  readonly spans: readonly SpanJson[];
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

/** Maximum number of spans. Long redirect chains and large searches can produce thousands of spans. */
const MAX_SPANS = 300;
/** Cache outcomes, from best to worst. */
const CACHE_OUTCOMES = ['off', 'hit', 'stale', 'miss'];

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
    if (steps.length < MAX_SPANS) steps.push(step);
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
      else if (cache === undefined || CACHE_OUTCOMES.indexOf(value) > CACHE_OUTCOMES.indexOf(cache)) cache = value;
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

/** Runs work as a span of a trace, if there is one. */
export async function traceStep<T>(name: SpanName, trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  if (!trace) return work();
  const end = trace.span(name);
  try {
    return await work();
  } finally {
    end();
  }
}

/** Yields the values of a source, and records the iteration as a span of the trace, if there is one. */
export async function* traceIteration<T>(
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

/** Rounds a duration to 10 µs. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

const newTraceId = (): string => randomBytes(16).toString('hex');

/** Parses a `traceparent` header (W3C Trace Context, section 3.2). Returns `undefined` if it is missing or invalid. */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(typeof header === 'string' ? header : '') ??
    [];
  if (!traceId || !spanId || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

/** The value of a `traceparent` header (W3C Trace Context, section 3.2). */
export const writeTraceParent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/**
 * The value of a Server-Timing header (W3C Server Timing, section 3): the total duration for each span name, and the
 * duration of the whole request.
 */
export function serverTiming({ spans, duration_ms: whole, cache, engine }: TraceJson): string {
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
