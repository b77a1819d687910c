/**
 * Metrics of a flow in the Prometheus text format, under the names that existing dashboards use
 * (docs/reference/wire/flow.md, Metrics).
 */
import { createServer } from 'node:http';
import type { FlowObserver } from './observer.ts';

export interface FlowMetrics {
  readonly observe: Required<FlowObserver>;
  /** In the Prometheus text format 0.0.4. */
  text(): string;
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: string;
  /** Seconds since 1970. */
  readonly created: number;
  count: number;
  sum: number;
}

interface Family {
  readonly name: string;
  readonly type: 'summary' | 'counter' | 'gauge';
  readonly help: string;
  readonly series: Map<string, Series>;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

/** Whole numbers get a fraction, as in the original framework. */
const formatNumber = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

function* formatFamily({ name, type, help, series }: Family): Generator<string> {
  if (series.size === 0) return;
  const base = name.replace(/_total$/, '');
  yield `# HELP ${name} ${help}`;
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
  yield `# HELP ${base}_created ${help}`;
  yield `# TYPE ${base}_created gauge`;
  for (const { labels, created } of series.values()) yield `${base}_created{${labels}} ${formatNumber(created)}`;
}

function createFamily(name: string, type: Family['type'], help: string) {
  const family: Family = { name, type, help, series: new Map() };
  return {
    family,
    add(labels: Labels, value = 1): void {
      const key = formatLabels(labels);
      let series = family.series.get(key);
      if (!series) {
        series = { labels: key, created: Date.now() / 1000, count: 0, sum: 0 };
        family.series.set(key, series);
      }
      series.count += 1;
      series.sum += value;
    },
  };
}

/** Clients choose the endpoint, so only the first 100 get their own series; the rest share one. */
const MAX_ENDPOINT_SERIES = 100;
const OTHER_ENDPOINTS = 'other';

/** Metrics of one gateway, or of an executor that is served on its own. */
export function createFlowMetrics(gateway = 'gateway/rep-0'): FlowMetrics {
  const receiving = createFamily('jina_receiving_request_seconds', 'summary', 'Time to answer a received request');
  const sending = createFamily('jina_sending_request_seconds', 'summary', 'Time from sending a request to its answer');
  const pending = createFamily('jina_number_of_pending_requests', 'gauge', 'Requests waiting for their answer');
  const successful = createFamily('jina_successful_requests_total', 'counter', 'Requests that succeeded');
  const failures = createFamily('jina_failed_requests_total', 'counter', 'Requests that failed');
  const received = createFamily('jina_received_request_bytes', 'summary', 'Size of received requests');
  const oldReceived = createFamily('jina_request_size_bytes', 'summary', 'Size of received requests');
  const answered = createFamily('jina_sent_response_bytes', 'summary', 'Size of answers');
  const processing = createFamily('jina_process_request_seconds', 'summary', 'Time spent in an executor');
  const documents = createFamily('jina_document_processed_total', 'counter', 'Documents processed by an executor');
  const all = [
    receiving,
    sending,
    pending,
    successful,
    failures,
    received,
    oldReceived,
    answered,
    processing,
    documents,
  ];
  const gatewayLabels = { runtime_name: gateway };
  const endpoints = new Set<string>();

  function endpointLabel(asked: string): string {
    if (endpoints.has(asked)) return asked;
    if (endpoints.size >= MAX_ENDPOINT_SERIES) return OTHER_ENDPOINTS;
    endpoints.add(asked);
    return asked;
  }

  function countRequest(labels: Labels, ms: number, failed: boolean): void {
    if (failed) {
      failures.add(labels);
      return;
    }
    successful.add(labels);
    receiving.add(labels, ms / 1000);
  }

  return {
    observe: {
      requestStarted: () => pending.add(gatewayLabels, 1),
      requestEnded({ ms, failed }) {
        pending.add(gatewayLabels, -1);
        countRequest(gatewayLabels, ms, failed);
      },
      sent({ ms, failed }) {
        if (!failed) sending.add(gatewayLabels, ms / 1000);
      },
      processed({ runtime, executor, endpoint, asked, ms, documents: count, failed }) {
        const labels = { executor, runtime_name: runtime };
        processing.add({ ...labels, executor_endpoint: endpoint }, ms / 1000);
        documents.add({ ...labels, executor_endpoint: endpointLabel(asked) }, count);
        countRequest({ runtime_name: runtime }, ms, failed);
      },
      transferred({ receivedBytes, sentBytes }) {
        received.add(gatewayLabels, receivedBytes);
        oldReceived.add(gatewayLabels, receivedBytes);
        answered.add(gatewayLabels, sentBytes);
      },
    },
    text: () => `${all.flatMap(({ family }) => [...formatFamily(family)]).join('\n')}\n`,
  };
}

export interface MetricsPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the metrics on every path of a port. Rejects with the system's error when the port is in use. */
export async function serveMetrics(metrics: FlowMetrics, port: number, host: string): Promise<MetricsPort> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': CONTENT_TYPE }).end(metrics.text());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
