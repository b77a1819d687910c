/**
 * Metrics in the Prometheus text format. Counting only needs a map lookup and an addition. prom-client receives the
 * values when they are scraped.
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
  /** Adds an amount to a counter; 1 by default. */
  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount?: number): void;
  /** Adds one observation to a histogram, in the unit of its name. */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Registers a function that supplies the values of a metric at each scrape. If it fails, the values are omitted. */
  read<Name extends CounterName | GaugeName>(name: Name, values: () => Values<Name> | Promise<Values<Name>>): void;
  /** Starts the default metrics of the process: memory, event loop, garbage collection. */
  watchProcess(): Promise<void>;
  /** All metrics in text format, version 0.0.4. */
  text(): Promise<string>;
}

/** Pairs of label values and the current value. */
export type Values<Name extends MetricName> = Iterable<readonly [labels: LabelsOf<Name>, value: number]>;

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Series {
  readonly labels: readonly string[];
  value: number;
}

interface Distribution extends Series {
  count: number;
  /** Number of observations in each bucket, not cumulative. Observations above the last bound are only in `count`. */
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
    if (known) return known.all.flatMap((series) => histogramValues(name, labels, buckets ?? [], series));
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
      // The registry uses only these two members of a metric.
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
      const [own, process] = await Promise.all([registry, processMetrics]);
      return [await own.metrics(), await process?.metrics()].filter(Boolean).join('\n');
    },
  };
}

const ROWS = Object.entries(METRICS) as [MetricName, MetricRow][];

/** The series of one metric. */
interface Family<S> {
  readonly all: readonly S[];
  /** Returns the series with these labels. Creates it if it is missing. */
  of(labels: readonly string[], make: (labels: readonly string[]) => S): S;
}

interface Branch<S> {
  readonly next: Map<string, Branch<S>>;
  series: S | undefined;
}

/** A trie of label values, which avoids building a combined key for each lookup. */
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

function histogramValues(
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

/** Shared by all servers in the process, because collection of the default metrics cannot be stopped. */
let processMetrics: Promise<Registry> | undefined;

const processRegistry = (): Promise<Registry> => {
  processMetrics ??= import('prom-client').then(({ Registry, collectDefaultMetrics }) => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    return register;
  });
  return processMetrics;
};
