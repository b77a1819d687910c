/**
 * Connects the modules to the metrics. Events are counted as they happen; states are read when the metrics are
 * requested.
 */
import type { AccountsModule } from '#accounts/index.ts';
import type { Documents } from '#documents/documents.ts';
import type { FlowObserver } from '#flow/index.ts';
import type { ModelHost, OnBatch } from '#models/index.ts';
import type { BlockedKind, CacheOutcome, PoolStatus, Renderer } from '#reader/index.ts';
import type { OnJobRun } from '#storage/jobs/workers.ts';
import type { KindCounts } from '#storage/work-queue/counts.ts';
import type { RequestOutcome } from '#storage/work-queue/server.ts';
import type { ServedFacts } from '#storage/work-queue/worker.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** Callbacks through which modules report events. */
export const createObservers = (metrics: Metrics) => ({
  onCacheRead: (outcome: CacheOutcome) => metrics.add('lectern_cache_reads_total', [outcome]),
  onBlocked: (kind: BlockedKind) => metrics.add('lectern_blocked_pages_total', [kind]),
  onSpent: (endpoint: string, tokens: number) => metrics.add('lectern_tokens_total', [endpoint], tokens),
  onAsked: (provider: string, outcome: 'answered' | 'failed' | 'kept' | 'limited') =>
    metrics.add('lectern_search_asked_total', [provider, outcome]),
  onBatch: ((model, { inputs, waitedMs, ranMs }) => {
    metrics.add('lectern_model_inputs_total', [model], inputs);
    metrics.observe('lectern_model_wait_seconds', [model], waitedMs / 1_000);
    metrics.observe('lectern_model_batch_seconds', [model], ranMs / 1_000);
  }) satisfies OnBatch,
  onJobRun:
    (kind: 'batch' | 'crawl'): OnJobRun =>
    (outcome, ms) => {
      metrics.add('lectern_job_runs_total', [kind, outcome]);
      metrics.observe('lectern_job_run_duration_seconds', [kind], ms / 1_000);
    },
  onRemoteRequest: (kind: string, outcome: RequestOutcome, ms: number) => {
    metrics.add('lectern_remote_requests_total', [kind, outcome]);
    metrics.observe('lectern_remote_request_duration_seconds', [kind], ms / 1_000);
  },
  onServed: (kind: string, { outcome, waitedMs, ranMs }: ServedFacts) => {
    metrics.add('lectern_remote_served_total', [kind, outcome]);
    metrics.observe('lectern_remote_wait_seconds', [kind], waitedMs / 1_000);
    metrics.observe('lectern_remote_run_seconds', [kind], ranMs / 1_000);
  },
  flow: {
    requestEnded({ ms, failed }) {
      metrics.add('lectern_flow_requests_total', [failed ? 'failed' : 'done']);
      metrics.observe('lectern_flow_request_duration_seconds', [], ms / 1_000);
    },
  } satisfies FlowObserver,
});

interface JobCounts {
  /** The number of jobs in each state. */
  counts(): Promise<ReadonlyMap<string, number>>;
}

export interface MetricSources {
  readonly version: string;
  readonly accounts: Pick<AccountsModule, 'healthy'>;
  readonly counters: { readonly healthy: boolean };
  /** `undefined` without a browser. */
  readonly pool?: { status(): PoolStatus } | undefined;
  readonly renderer: Pick<Renderer, 'load'>;
  readonly documents: Pick<Documents, 'load'>;
  readonly models: Pick<ModelHost['models'], 'loads'>;
  readonly batch: JobCounts;
  readonly crawl: JobCounts;
}

const flag = (is: boolean) => (is ? 1 : 0);

/** Registers gauges that read the state of the modules whenever the metrics are requested. */
export function registerModuleMetrics(metrics: Metrics, sources: MetricSources): void {
  const { version, accounts, counters, pool, renderer, documents, models, batch, crawl } = sources;
  metrics.read('lectern_build_info', () => [[[version, process.versions.node], 1]]);
  metrics.read('lectern_store_healthy', () => [
    [['accounts'], flag(accounts.healthy)],
    [['limits'], flag(counters.healthy)],
  ]);
  metrics.read('lectern_workers_busy', () => [[[], renderer.load().busy]]);
  metrics.read('lectern_workers_waiting', () => [[[], renderer.load().waiting]]);
  metrics.read('lectern_document_processes_busy', () => [[[], documents.load().busy]]);
  metrics.read('lectern_document_processes_waiting', () => [[[], documents.load().waiting]]);
  const loads = () => [...models.loads()];
  metrics.read('lectern_model_waiting_inputs', () => loads().map(({ model, waiting }) => [[model], waiting.inputs]));
  metrics.read('lectern_model_waiting_tokens', () => loads().map(({ model, waiting }) => [[model], waiting.tokens]));
  metrics.read('lectern_model_running_batches', () => loads().map((load) => [[load.model], load.runningBatches]));
  registerJobMetrics(metrics, { batch, crawl });
  if (!pool) return;
  registerBrowserMetrics(metrics, () => pool.status());
}

export function registerJobMetrics(
  metrics: Metrics,
  { batch, crawl }: { readonly batch: JobCounts | undefined; readonly crawl: JobCounts | undefined },
): void {
  const jobsOf = async (source: JobCounts) =>
    [...(await source.counts())].map(([state, jobs]) => [[state], jobs] as const);
  if (batch) metrics.read('lectern_batch_jobs', () => jobsOf(batch));
  if (crawl) metrics.read('lectern_crawl_jobs', () => jobsOf(crawl));
}

/** Registers the state of a queue of requests, which all servers and workers see alike. */
export function registerRemoteMetrics(
  metrics: Metrics,
  queue: { counts(): Promise<readonly KindCounts[]>; readonly healthy: boolean },
): void {
  const each = async (read: (counts: KindCounts) => number) =>
    (await queue.counts()).map((counts) => [[counts.kind] as const, read(counts)] as const);
  metrics.read('lectern_remote_waiting', () => each(({ waiting }) => waiting));
  metrics.read('lectern_remote_running', () => each(({ running }) => running));
  metrics.read('lectern_remote_workers', () => each(({ workers }) => workers));
  metrics.read('lectern_remote_healthy', () => [[[], flag(queue.healthy)]]);
}

export function registerBrowserMetrics(metrics: Metrics, status: () => PoolStatus): void {
  metrics.read('lectern_browser_pages', () => [[[], status().pages]]);
  metrics.read('lectern_browser_waiting', () => [[[], status().waiting]]);
  metrics.read('lectern_browser_pages_total', () => [[[], status().opened]]);
  metrics.read('lectern_browser_launches_total', () => [[[], status().launches]]);
  metrics.read('lectern_browser_ended_total', () => [[[], status().crashes]]);
  metrics.read('lectern_browser_healthy', () => [[[], flag(status().healthy)]]);
  metrics.read('lectern_browser_connected', () => {
    const { remote } = status();
    return remote ? [[[], remote.connected]] : [];
  });
}
