/** What `lectern top` shows, computed from the metrics of a server at two times. */
import type { HostTime } from '#telemetry/host-times.ts';
import { quantileOf, type Samples } from '#telemetry/parse-metrics.ts';
import { tableLines } from './table.ts';

export interface Scrape {
  /** Time of the scrape, in milliseconds of a monotonic clock. */
  readonly atMs: number;
  readonly samples: Samples;
}

export interface FaceReport {
  readonly face: string;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly failed: number;
  /** 95th percentile of the duration; null without requests. */
  readonly p95Seconds: number | null;
}

export interface EndpointReport {
  readonly endpoint: string;
  readonly p95Seconds: number;
}

/** With the hosts, which are not part of the metrics: `undefined` without the admin secret, or why they are missing. */
interface FullReport extends TopReport {
  readonly hosts: readonly HostTime[] | string | undefined;
}

export interface TopReport {
  readonly version: string | null;
  /** Length of the period of the requests in seconds; null if they are counted since the start of the process. */
  readonly periodSeconds: number | null;
  readonly memoryBytes: number | null;
  readonly eventLoopLagSeconds: number | null;
  readonly faces: readonly FaceReport[];
  /** The endpoints with the longest requests. */
  readonly slowest: readonly EndpointReport[];
  readonly queues: readonly { readonly name: string; readonly busy: number; readonly waiting: number }[];
  readonly jobs: readonly { readonly kind: string; readonly state: string; readonly count: number }[];
  /** Stores that do not respond, and `browser` if it cannot be started. */
  readonly unhealthy: readonly string[];
}

const REQUESTS = 'lectern_requests_total';
const BUCKETS = 'lectern_request_duration_seconds_bucket';
const SLOWEST = 5;

type Labels = Readonly<Record<string, string>>;
const keyOf = (labels: Labels) => JSON.stringify(Object.entries(labels).sort());

/** How much each series has grown since `before`. A process that restarted counts from 0 again. */
function growth(name: string, now: Samples, before: Samples | undefined) {
  const old = new Map(before?.get(name)?.map(({ labels, value }) => [keyOf(labels), value]));
  return (now.get(name) ?? []).map(({ labels, value }) => {
    const known = old.get(keyOf(labels)) ?? 0;
    return { labels, value: known > value ? value : value - known };
  });
}

const groupBy = <T>(items: readonly T[], keyOfItem: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
};

function p95(buckets: readonly { readonly labels: Labels; readonly value: number }[]): number | undefined {
  const sums = new Map<number, number>();
  for (const { labels, value } of buckets) {
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    sums.set(bound, (sums.get(bound) ?? 0) + value);
  }
  return quantileOf(0.95, [...sums]);
}

/** Without `before`, requests are counted since the start of the process. */
export function reportOf(now: Scrape, before?: Scrape): TopReport {
  const { samples } = now;
  const first = (name: string) => samples.get(name)?.[0]?.value ?? null;
  const uptimeMs = secondsSinceStart(samples) * 1_000;
  const periodMs = before ? now.atMs - before.atMs : uptimeMs;
  const buckets = growth(BUCKETS, samples, before?.samples);
  const bucketsByFace = groupBy(buckets, ({ labels }) => labels.face ?? '');
  const faces = [...groupBy(growth(REQUESTS, samples, before?.samples), ({ labels }) => labels.face ?? '')].map(
    ([face, series]): FaceReport => {
      const requests = series.reduce((sum, { value }) => sum + value, 0);
      const failed = series.reduce((sum, { labels, value }) => sum + (labels.status === '5xx' ? value : 0), 0);
      const requestsPerSecond = periodMs > 0 ? (requests * 1_000) / periodMs : 0;
      return { face, requests, requestsPerSecond, failed, p95Seconds: p95(bucketsByFace.get(face) ?? []) ?? null };
    },
  );
  const slowest = [...groupBy(buckets, ({ labels }) => `${labels.face} ${labels.endpoint}`)]
    .flatMap(([endpoint, series]) => {
      const p95Seconds = p95(series);
      return p95Seconds === undefined ? [] : [{ endpoint, p95Seconds }];
    })
    .sort((one, other) => other.p95Seconds - one.p95Seconds)
    .slice(0, SLOWEST);
  return {
    version: samples.get('lectern_build_info')?.[0]?.labels.version ?? null,
    periodSeconds: before ? periodMs / 1_000 : null,
    memoryBytes: first('process_resident_memory_bytes'),
    eventLoopLagSeconds: first('nodejs_eventloop_lag_p99_seconds'),
    faces: faces.sort((one, other) => one.face.localeCompare(other.face)),
    slowest,
    queues: queuesOf(samples),
    jobs: (['batch', 'crawl'] as const).flatMap((kind) =>
      (samples.get(`lectern_${kind}_jobs`) ?? []).map(({ labels, value }) => ({
        kind,
        state: labels.state ?? '',
        count: value,
      })),
    ),
    unhealthy: [
      ...(samples.get('lectern_store_healthy') ?? []).flatMap(({ labels, value }) => (value ? [] : [labels.store!])),
      ...(first('lectern_browser_healthy') === 0 ? ['browser'] : []),
    ],
  };
}

function secondsSinceStart(samples: Samples): number {
  const start = samples.get('process_start_time_seconds')?.[0]?.value;
  return start === undefined ? 0 : Date.now() / 1_000 - start;
}

function queuesOf(samples: Samples): TopReport['queues'] {
  const value = (name: string) => samples.get(name)?.[0]?.value;
  const pairs = [
    ['browser', 'lectern_browser_pages', 'lectern_browser_waiting'],
    ['page workers', 'lectern_workers_busy', 'lectern_workers_waiting'],
    ['document processes', 'lectern_document_processes_busy', 'lectern_document_processes_waiting'],
  ] as const;
  const fixed = pairs.flatMap(([name, busy, waiting]) => {
    const busyNow = value(busy);
    return busyNow === undefined ? [] : [{ name, busy: busyNow, waiting: value(waiting) ?? 0 }];
  });
  const running = samples.get('lectern_model_running_batches') ?? [];
  const models = running.map(({ labels, value: busy }) => {
    const waiting = samples.get('lectern_model_waiting_inputs')?.find((one) => one.labels.model === labels.model);
    return { name: `model ${labels.model}`, busy, waiting: waiting?.value ?? 0 };
  });
  return [...fixed, ...models];
}

const BYTES_PER_MB = 1_000_000;
const secondsText = (seconds: number | null) =>
  seconds === null ? '-' : seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : `${seconds.toFixed(1)} s`;

/** The report as lines of text. */
export function reportLines(report: FullReport, place: string): string[] {
  const { version, periodSeconds, memoryBytes, eventLoopLagSeconds, faces, slowest, queues, jobs, unhealthy, hosts } =
    report;
  const facts = [
    `Lectern ${version ?? '(version unknown)'} at ${place}`,
    memoryBytes === null ? '' : `memory ${Math.round(memoryBytes / BYTES_PER_MB)} MB`,
    eventLoopLagSeconds === null ? '' : `event loop p99 ${secondsText(eventLoopLagSeconds)}`,
  ];
  return [
    facts.filter(Boolean).join(', '),
    periodSeconds === null ? 'Requests since the start' : `Requests in the last ${periodSeconds.toFixed(1)} s`,
    ...(unhealthy.length ? [`NOT HEALTHY: ${unhealthy.join(', ')}`] : []),
    '',
    ...tableLines(
      ['Face', 'Requests', 'Per second', 'Failed (5xx)', '95 % within'],
      faces.map((one) => [
        one.face,
        one.requests,
        one.requestsPerSecond.toFixed(1),
        one.failed,
        secondsText(one.p95Seconds),
      ]),
      'No requests yet.',
    ),
    '',
    ...tableLines(
      ['Queue', 'Busy', 'Waiting'],
      queues.map(({ name, busy, waiting }) => [name, busy, waiting]),
      'No queues.',
    ),
    ...(slowest.length
      ? [
          '',
          ...tableLines(
            ['Slowest endpoints', '95 % within'],
            slowest.map((one) => [one.endpoint, secondsText(one.p95Seconds)]),
            '',
          ),
        ]
      : []),
    ...hostLines(hosts),
    ...(jobs.length
      ? [
          '',
          ...tableLines(
            ['Jobs', 'State', 'Number'],
            jobs.map(({ kind, state, count }) => [kind, state, count]),
            '',
          ),
        ]
      : []),
  ];
}

function hostLines(hosts: FullReport['hosts']): string[] {
  if (hosts === undefined) return [];
  if (typeof hosts === 'string') return ['', `Hosts are not shown: ${hosts}`];
  return [
    '',
    ...tableLines(
      ['Slow hosts, last 24 h', 'Fetches', 'Failed', 'Time', '50 % within', '95 % within', 'Last (UTC)'],
      hosts.map(({ host, fetches, failed, totalMs, p50Ms, p95Ms, lastAt }) => [
        host,
        fetches,
        failed,
        ...[totalMs, p50Ms, p95Ms].map((ms) => secondsText(ms / 1_000)),
        lastAt.slice('2026-01-31T'.length, '2026-01-31T12:00:00'.length),
      ]),
      'Nothing was fetched in the last 24 hours.',
    ),
  ];
}
