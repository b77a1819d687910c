/** Reads metrics in the text format of Prometheus, version 0.0.4. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples by the name in their line, such as `lectern_request_duration_seconds_bucket`. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

const unescaped = (text: string) => text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

const numberOf = (text: string) =>
  text === '+Inf' ? Number.POSITIVE_INFINITY : text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);

export function parseMetrics(text: string): Samples {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = (line.startsWith('#') ? null : LINE.exec(line)) ?? [];
    if (!name || value === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, label, raw]) => [label!, unescaped(raw!)] as const);
    const known = samples.get(name) ?? [];
    known.push({ labels: Object.fromEntries(pairs), value: numberOf(value) });
    samples.set(name, known);
  }
  return samples;
}

/**
 * The value below which a share of the observations lies, from the cumulative buckets of a histogram (upper bound and
 * count). `undefined` without observations. Interpolates within a bucket, as Prometheus does.
 */
export function quantileOf(share: number, buckets: readonly (readonly [bound: number, count: number])[]) {
  const sorted = [...buckets].sort(([one], [other]) => one - other);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const rank = share * total;
  const at = sorted.findIndex(([, count]) => count >= rank);
  const [bound, count] = sorted[at]!;
  const [before, below] = at > 0 ? sorted[at - 1]! : [0, 0];
  if (!Number.isFinite(bound)) return before;
  return count === below ? bound : before + ((bound - before) * (rank - below)) / (count - below);
}
