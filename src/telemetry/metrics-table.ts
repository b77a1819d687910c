/** THE table of metrics: from it they are made, and the reference page is written. */

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Their values come from tables of ours or from settings, never from a caller: each combination is a series for good. */
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Upper bounds of a histogram, in the unit of its name. */
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
  lectern_build_info: row('gauge', ['version', 'node'], 'Always 1; which version runs on which Node.'),
  lectern_requests_total: row(
    'counter',
    ['face', 'endpoint', 'status'],
    'Requests that ended, by class of their status (`2xx`, `4xx`, …); `499` when the client had gone before its answer was out.',
  ),
  lectern_request_duration_seconds: seconds(
    ['face', 'endpoint'],
    'From the head of a request to the last byte of its answer.',
  ),
  lectern_failures_total: row('counter', ['face', 'name'], 'Requests that were answered with a failure, by its name.'),
  lectern_limits_refused_total: row(
    'counter',
    ['face', 'limit'],
    'Requests that a limit refused: `requests`, `tokens`, `concurrency`, `address` or `balance`.',
  ),
  lectern_tokens_total: row('counter', ['endpoint'], 'Tokens that answers cost, whether anybody was charged or not.'),

  lectern_cache_reads_total: row(
    'counter',
    ['outcome'],
    'Reads by what the cache gave: `hit`, `miss`, `stale` (an old copy for a page that could not be read), `off` (the options forbid copies).',
  ),
  lectern_browser_pages: row('gauge', [], 'Pages open in the browser.'),
  lectern_browser_waiting: row('gauge', [], 'Reads that wait for a page of the browser.'),
  lectern_browser_pages_total: row('counter', [], 'Pages that were opened in the browser.'),
  lectern_browser_launches_total: row(
    'counter',
    [],
    'Browsers that were started: the first one, and each that replaced one.',
  ),
  lectern_browser_ended_total: row('counter', [], 'Browsers that ended by themselves.'),
  lectern_browser_healthy: row('gauge', [], '1 while the browser starts when it is asked to.'),
  lectern_workers_busy: row('gauge', [], 'Threads that work on a page.'),
  lectern_workers_waiting: row('gauge', [], 'Pages that wait for a thread.'),
  lectern_document_processes_busy: row('gauge', [], 'Processes that read a file.'),
  lectern_document_processes_waiting: row('gauge', [], 'Files that wait for a process.'),

  lectern_model_waiting_inputs: row('gauge', ['model'], 'Inputs that wait for the model.'),
  lectern_model_waiting_tokens: row('gauge', ['model'], 'Tokens of those inputs.'),
  lectern_model_running_batches: row('gauge', ['model'], 'Batches that the model works on.'),
  lectern_model_inputs_total: row('counter', ['model'], 'Inputs that the model was given.'),
  lectern_model_wait_seconds: seconds(['model'], 'How long the first input of a batch waited for it.'),
  lectern_model_batch_seconds: seconds(['model'], 'How long the model worked on a batch.'),

  lectern_search_asked_total: row(
    'counter',
    ['provider', 'outcome'],
    'Questions to search providers: `answered`, `failed`, or `kept` when a list of earlier answered.',
  ),
  lectern_batch_jobs: row('gauge', ['state'], 'Batch jobs that are kept, by state.'),
  lectern_crawl_jobs: row('gauge', ['state'], 'Crawls that are kept, by state.'),
  lectern_flow_requests_total: row('counter', ['outcome'], 'Requests to the flow gateway: `done` or `failed`.'),
  lectern_flow_request_duration_seconds: seconds([], 'From a request to the flow gateway to its answer.'),
  lectern_store_healthy: row('gauge', ['store'], '1 while the store of `accounts` or `limits` answers.'),
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;
type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;
type Texts<Labels extends readonly string[]> = { readonly [At in keyof Labels]: string };
/** The values of a metric's labels, in the order of its row. */
export type LabelsOf<Name extends MetricName> = Texts<(typeof METRICS)[Name]['labels']>;
