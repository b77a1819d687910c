/** Metrics of a flow in the Prometheus text format. */
import type { FlowObserver } from '../observer.ts';
import { GATEWAY_NAME, type Labels, MEASURES, type MeasureName, type MeasureSink, observeWith } from './measures.ts';

export interface FlowMetrics {
  readonly observe: Required<FlowObserver>;
  /** In the Prometheus text format 0.0.4. */
  text(): string;
}

interface Series {
  readonly labels: string;
  /** Seconds since 1970. */
  readonly created: number;
  count: number;
  sum: number;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

/** Whole numbers are written with a decimal fraction, as in the original framework. */
const formatNumber = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

function* formatFamily(base: MeasureName, series: ReadonlyMap<string, Series>): Generator<string> {
  const { type, meaning } = MEASURES[base];
  const name = type === 'counter' ? `${base}_total` : base;
  yield `# HELP ${name} ${meaning}`;
  yield `# TYPE ${name} ${type}`;
  for (const { labels, count, sum } of series.values()) {
    if (type === 'summary') {
      yield `${name}_count{${labels}} ${formatNumber(count)}`;
      yield `${name}_sum{${labels}} ${formatNumber(sum)}`;
    } else {
      yield `${name}{${labels}} ${formatNumber(sum)}`;
    }
  }
  if (type === 'gauge') return;
  yield `# HELP ${base}_created ${meaning}`;
  yield `# TYPE ${base}_created gauge`;
  for (const { labels, created } of series.values()) yield `${base}_created{${labels}} ${formatNumber(created)}`;
}

/** Metrics of one gateway. */
export const createFlowMetrics = (gateway = GATEWAY_NAME): FlowMetrics => createMetrics(gateway);

/** Metrics of an executor that is served on its own. */
export const createExecutorMetrics = (): FlowMetrics => createMetrics(undefined);

function createMetrics(gateway: string | undefined): FlowMetrics {
  const families = new Map((Object.keys(MEASURES) as MeasureName[]).map((name) => [name, new Map<string, Series>()]));

  function seriesOf(name: MeasureName, labels: Labels): Series {
    const family = families.get(name)!;
    const key = formatLabels(labels);
    let series = family.get(key);
    if (!series) {
      series = { labels: key, created: Date.now() / 1000, count: 0, sum: 0 };
      family.set(key, series);
    }
    return series;
  }

  const sink: MeasureSink = {
    add(name, labels, value) {
      const series = seriesOf(name, labels);
      series.count += 1;
      series.sum += value;
    },
    touch: (name, labels) => void seriesOf(name, labels),
  };

  return {
    observe: observeWith(sink, gateway),
    text() {
      const used = [...families].filter(([, series]) => series.size > 0);
      return `${used.flatMap(([name, series]) => [...formatFamily(name, series)]).join('\n')}\n`;
    },
  };
}
