/**
 * What is counted and timed, in the text format of Prometheus. Counting is a look into a map and an addition: the
 * library sees the numbers only when somebody asks for them.
 */
import type { MetricValue, Registry } from 'prom-client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRICS,
  type MetricName,
  type MetricRow,
} from './metrics-table.ts';

export interface Metrics {
  /** Adds to a counter; 1 unless told otherwise. */
  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount?: number): void;
  /** Notes one value of a histogram, in the unit of its name. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Has the values of a metric read when somebody asks for them, from who knows them. A reader that fails is left out. */
  read<Name extends CounterName | GaugeName>(name: Name, values: () => Values<Name> | Promise<Values<Name>>): void;
  /** Begins to watch the process: memory, event loop, garbage collection. */
  watchProcess(): Promise<void>;
  /** The text format, version 0.0.4. */
  text(): Promise<string>;
}

/** Label values and the number that they have now. */
export type Values<Name extends MetricName> = Iterable<readonly [labels: LabelsOf<Name>, value: number]>;

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Series {
  readonly labels: readonly string[];
  value: number;
}

interface Distribution extends Series {
  count: number;
  /** One a bucket; what is above the last is only in `count`. */
  readonly buckets: Float64Array;
}

export function createMetrics(): Metrics {
  const counters = new Map<MetricName, Family<Series>>();
  const histograms = new Map<MetricName, Family<Distribution>>();
  const readers = new Map<MetricName, () => Values<MetricName> | Promise<Values<MetricName>>>();
  for (const [name, { type }] of ROWS) {
    if (type === 'counter') counters.set(name, createFamily());
    if (type === 'histogram') histograms.set(name, createFamily());
  }
  let registry: Promise<Registry> | undefined;

  async function valuesOf(name: MetricName, { labels, buckets }: MetricRow): Promise<MetricValue<string>[]> {
    const known = histograms.get(name);
    if (known) return known.all.flatMap((series) => distributed(name, labels, buckets ?? [], series));
    const counted = (counters.get(name)?.all ?? []).map(({ labels, value }) => [labels, value] as const);
    const read = await (async () => [...((await readers.get(name)?.()) ?? [])])().catch(() => []);
    return [...counted, ...read].map(([given, value]) => ({ labels: named(labels, given), value }));
  }

  const open = async (): Promise<Registry> => {
    const { Registry } = await import('prom-client');
    const made = new Registry();
    for (const [name, row] of ROWS) {
      const get = async () => ({
        name,
        help: row.meaning,
        type: row.type,
        aggregator: 'sum',
        values: await valuesOf(name, row),
      });
      // The registry asks no more of a metric than this.
      made.registerMetric({ name, get } as never);
    }
    return made;
  };

  return {
    add(name, labels, amount = 1) {
      const series = counters.get(name)!.of(labels, (own) => ({ labels: own, value: 0 }));
      series.value += amount;
    },
    observe(name, labels, value) {
      const { buckets } = METRICS[name];
      const series = histograms.get(name)!.of(labels, (own) => ({
        labels: own,
        value: 0,
        count: 0,
        buckets: new Float64Array(buckets.length),
      }));
      series.value += value;
      series.count++;
      for (let at = 0; at < buckets.length; at++) {
        if (value > buckets[at]!) continue;
        series.buckets[at]!++;
        break;
      }
    },
    read: (name, values) => void readers.set(name, values as () => Values<MetricName>),
    async watchProcess() {
      await processRegistry();
    },
    async text() {
      registry ??= open();
      const [own, process] = await Promise.all([registry, watching]);
      return [await own.metrics(), await process?.metrics()].filter(Boolean).join('\n');
    },
  };
}

const ROWS = Object.entries(METRICS) as [MetricName, MetricRow][];

/** The series of one metric. */
interface Family<S> {
  readonly all: readonly S[];
  /** That of these labels, made when it is not there. */
  of(labels: readonly string[], make: (labels: readonly string[]) => S): S;
}

interface Branch<S> {
  readonly next: Map<string, Branch<S>>;
  series: S | undefined;
}

/** A look-up a label, since a key of all of them would have to be put together each time. */
function createFamily<S>(): Family<S> {
  const branch = (): Branch<S> => ({ next: new Map(), series: undefined });
  const root = branch();
  const all: S[] = [];
  return {
    all,
    of(labels, make) {
      let place = root;
      for (const label of labels) {
        let next = place.next.get(label);
        if (!next) {
          next = branch();
          place.next.set(label, next);
        }
        place = next;
      }
      if (place.series) return place.series;
      place.series = make([...labels]);
      all.push(place.series);
      return place.series;
    },
  };
}

const named = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));

function distributed(
  name: string,
  names: readonly string[],
  bounds: readonly number[],
  { labels: given, buckets, count, value }: Distribution,
): MetricValue<string>[] {
  const labels = named(names, given);
  let below = 0;
  const steps = bounds.map((le, at) => {
    below += buckets[at]!;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
  });
  return [
    ...steps,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value },
    { metricName: `${name}_count`, labels, value: count },
  ] as MetricValue<string>[];
}

/** A process has one of these, however many servers are made in it: what watches it cannot be ended. */
let watching: Promise<Registry> | undefined;

const processRegistry = (): Promise<Registry> => {
  watching ??= import('prom-client').then(({ Registry, collectDefaultMetrics }) => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    return register;
  });
  return watching;
};
