/** The table of metrics, from which the metrics and their reference page are generated. */

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /**
   * Label values must come from tables or settings, never from callers, because each combination creates a series that
   * is never removed.
   */
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Upper bounds of the histogram, in the unit of its name. */
  readonly buckets?: readonly number[];
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

const row = <const Type extends 'counter' | 'gauge', const Labels extends readonly string[]>(
  type: Type,
  labels: Labels,
  meaning: string,
) => ({ type, labels, meaning });
const seconds = <const Labels extends readonly string[]>(labels: Labels, meaning: string) => ({
  type: 'histogram' as const,
  labels,
  meaning,
  buckets: SECONDS,
});

export const METRICS = {
  lectern_build_info: row(
    'gauge',
    ['version', 'node'],
    'Always 1; the labels contain the versions of Lectern and Node.js.',
  ),
  lectern_requests_total: row(
    'counter',
    ['face', 'endpoint', 'status'],
    'Finished requests by status class (`2xx`, `4xx`, …); `499` if the client disconnected before the response was complete.',
  ),
  lectern_request_duration_seconds: seconds(
    ['face', 'endpoint'],
    'Duration of requests, from the request headers to the last byte of the response.',
  ),
  lectern_failures_total: row('counter', ['face', 'name'], 'Failed requests, by error name.'),
  lectern_limits_refused_total: row(
    'counter',
    ['face', 'limit'],
    'Requests refused by a limit: `requests`, `tokens`, `concurrency`, `address` or `balance`.',
  ),
  lectern_tokens_total: row('counter', ['endpoint'], 'Token cost of responses, whether or not it was charged.'),

  lectern_cache_reads_total: row(
    'counter',
    ['outcome'],
    'Cache lookups by outcome: `hit`, `miss`, `stale` (stale copy served because the page could not be read), `off` (the options forbid caching).',
  ),
  lectern_blocked_pages_total: row(
    'counter',
    ['kind'],
    'Reads answered with a page other than the content, by kind (`challenge`, `denied`, `login` and others).',
  ),
  lectern_browser_pages: row('gauge', [], 'Pages open in the browser.'),
  lectern_browser_waiting: row('gauge', [], 'Number of requests waiting for a browser page.'),
  lectern_browser_pages_total: row('counter', [], 'Pages opened in the browser so far.'),
  lectern_browser_launches_total: row('counter', [], 'Browser starts, including restarts.'),
  lectern_browser_ended_total: row('counter', [], 'Browser processes that ended unexpectedly.'),
  lectern_browser_healthy: row('gauge', [], '1 while the browser can be started, else 0.'),
  lectern_browser_servers: row('gauge', [], 'Number of servers that are connected to this browser worker.'),
  lectern_browser_connected: row('gauge', [], 'Number of connected browsers on other machines.'),
  lectern_workers_busy: row('gauge', [], 'Number of worker threads that are converting a page.'),
  lectern_workers_waiting: row('gauge', [], 'Number of pages waiting for a worker thread.'),
  lectern_document_processes_busy: row('gauge', [], 'Number of processes that are parsing a file.'),
  lectern_document_processes_waiting: row('gauge', [], 'Number of files waiting for a process.'),

  lectern_model_waiting_inputs: row('gauge', ['model'], 'Number of inputs waiting for the model.'),
  lectern_model_waiting_tokens: row('gauge', ['model'], 'Number of tokens in the inputs waiting for the model.'),
  lectern_model_running_batches: row('gauge', ['model'], 'Number of batches that the model is processing.'),
  lectern_model_inputs_total: row('counter', ['model'], 'Inputs sent to the model.'),
  lectern_model_wait_seconds: seconds(['model'], 'Waiting time of the first input of each batch.'),
  lectern_model_batch_seconds: seconds(['model'], 'Processing time of each batch.'),

  lectern_search_asked_total: row(
    'counter',
    ['provider', 'outcome'],
    'Queries to search providers and public sources: `answered`, `failed`, `kept` if a cached result list was used, or `limited` if the limits of a public source permitted no request.',
  ),
  lectern_batch_jobs: row('gauge', ['state'], 'Stored batch jobs by state.'),
  lectern_crawl_jobs: row('gauge', ['state'], 'Stored crawls by state.'),
  lectern_job_runs_total: row(
    'counter',
    ['kind', 'outcome'],
    'Runs of `batch` and `crawl` jobs in this process: `done`, `failed` or `aborted`. A job has several runs.',
  ),
  lectern_job_run_duration_seconds: seconds(['kind'], 'Duration of the runs of jobs in this process.'),
  lectern_remote_waiting: row(
    'gauge',
    ['kind'],
    'Requests of `documents`, `ocr` or `embed` that wait for a worker, of all servers together.',
  ),
  lectern_remote_running: row('gauge', ['kind'], 'Requests that workers process, of all servers together.'),
  lectern_remote_workers: row('gauge', ['kind'], 'Number of running workers for this kind of requests.'),
  lectern_remote_healthy: row('gauge', [], '1 while the queue of requests for workers is reachable, else 0.'),
  lectern_remote_requests_total: row(
    'counter',
    ['kind', 'outcome'],
    'Requests that this server sent to workers: `done`, `failed`, `refused` (queue full, or no worker), `cancelled` (the caller left) or `away` (the queue could not be reached).',
  ),
  lectern_remote_request_duration_seconds: seconds(['kind'], 'Time of a request to a worker, waiting included.'),
  lectern_remote_served_total: row(
    'counter',
    ['kind', 'outcome'],
    'Requests that this worker processed: `done`, `failed` or `cancelled`.',
  ),
  lectern_remote_wait_seconds: seconds(['kind'], 'Time that the requests of this worker waited in the queue.'),
  lectern_remote_run_seconds: seconds(['kind'], 'Processing time of the requests of this worker.'),
  lectern_flow_requests_total: row('counter', ['outcome'], 'Requests to the flow gateway: `done` or `failed`.'),
  lectern_flow_request_duration_seconds: seconds([], 'Duration of requests to the flow gateway.'),
  lectern_store_healthy: row('gauge', ['store'], '1 while the store (`accounts` or `limits`) is reachable, else 0.'),
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;
type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;
type Texts<Labels extends readonly string[]> = { readonly [At in keyof Labels]: string };
/** Label values of a metric, in the order of its row. */
export type LabelsOf<Name extends MetricName> = Texts<(typeof METRICS)[Name]['labels']>;
