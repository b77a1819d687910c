/**
 * Metrics of flows, with the names that the original framework uses (docs/reference/wire/flow.md, Metrics), and the
 * observer that records them.
 */
import type { FlowObserver } from '../observer.ts';

interface MeasureRow {
  readonly type: 'summary' | 'counter' | 'gauge';
  readonly meaning: string;
}

export const MEASURES = {
  jina_receiving_request_seconds: { type: 'summary', meaning: 'Time to answer a received request' },
  jina_sending_request_seconds: { type: 'summary', meaning: 'Time from sending a request to its response' },
  jina_number_of_pending_requests: { type: 'gauge', meaning: 'Requests waiting for their response' },
  jina_successful_requests: { type: 'counter', meaning: 'Requests that succeeded' },
  jina_failed_requests: { type: 'counter', meaning: 'Requests that failed' },
  jina_received_request_bytes: { type: 'summary', meaning: 'Size of received requests' },
  jina_request_size_bytes: { type: 'summary', meaning: 'Old name of jina_received_request_bytes' },
  jina_sent_response_bytes: { type: 'summary', meaning: 'Size of responses' },
  jina_sent_request_bytes: { type: 'summary', meaning: 'Size of requests sent to executors' },
  jina_received_response_bytes: { type: 'summary', meaning: 'Size of responses received from executors' },
  jina_process_request_seconds: { type: 'summary', meaning: 'Time spent in an executor' },
  jina_document_processed: { type: 'counter', meaning: 'Documents processed by an executor' },
} as const satisfies Readonly<Record<string, MeasureRow>>;

export type MeasureName = keyof typeof MEASURES;

export type Labels = Readonly<Record<string, string>>;

/** Name of the gateway's program in metrics and traces. */
export const GATEWAY_NAME = 'gateway/rep-0';

/** Stores measured values, for example for Prometheus. */
export interface MeasureSink {
  /** `details` are additional labels for sinks that support more labels than the original framework. */
  add(name: MeasureName, labels: Labels, value: number, details?: Labels): void;
  /** Creates the series without a value, so that it exists before the first event. */
  touch(name: MeasureName, labels: Labels): void;
}

/** Clients choose the endpoint, so only the first 100 have their own series; the rest share one series. */
const MAX_ENDPOINT_SERIES = 100;
const OTHER_ENDPOINTS = 'other';

const GATEWAY_MEASURES: readonly MeasureName[] = [
  'jina_receiving_request_seconds',
  'jina_sending_request_seconds',
  'jina_number_of_pending_requests',
  'jina_successful_requests',
  'jina_failed_requests',
  'jina_received_request_bytes',
  'jina_request_size_bytes',
  'jina_sent_response_bytes',
  'jina_sent_request_bytes',
  'jina_received_response_bytes',
];

/** `gateway` is the gateway's name; `undefined` in an executor's program. */
export function observeWith(sink: MeasureSink, gateway: string | undefined): Required<FlowObserver> {
  const gatewayLabels = { runtime_name: gateway ?? '' };
  if (gateway !== undefined) for (const name of GATEWAY_MEASURES) sink.touch(name, gatewayLabels);
  const endpoints = new Set<string>();

  function endpointLabel(asked: string): string {
    if (endpoints.has(asked)) return asked;
    if (endpoints.size >= MAX_ENDPOINT_SERIES) return OTHER_ENDPOINTS;
    endpoints.add(asked);
    return asked;
  }

  function countRequest(labels: Labels, ms: number, failed: boolean): void {
    sink.touch('jina_successful_requests', labels);
    sink.touch('jina_failed_requests', labels);
    sink.touch('jina_receiving_request_seconds', labels);
    if (failed) {
      sink.add('jina_failed_requests', labels, 1);
      return;
    }
    sink.add('jina_successful_requests', labels, 1);
    sink.add('jina_receiving_request_seconds', labels, ms / 1000);
  }

  function countBytes(labels: Labels, receivedBytes: number, sentBytes: number): void {
    sink.add('jina_received_request_bytes', labels, receivedBytes);
    sink.add('jina_request_size_bytes', labels, receivedBytes);
    sink.add('jina_sent_response_bytes', labels, sentBytes);
  }

  return {
    requestStarted: () => sink.add('jina_number_of_pending_requests', gatewayLabels, 1),
    requestEnded({ ms, failed }) {
      sink.add('jina_number_of_pending_requests', gatewayLabels, -1);
      countRequest(gatewayLabels, ms, failed);
    },
    sent({ deployment, ms, failed }) {
      if (!failed) sink.add('jina_sending_request_seconds', gatewayLabels, ms / 1000, { deployment });
    },
    processed({ runtime, executor, endpoint, asked, ms, documents, failed }) {
      const labels = { executor, runtime_name: runtime };
      sink.add('jina_process_request_seconds', { ...labels, executor_endpoint: endpoint }, ms / 1000);
      sink.add('jina_document_processed', { ...labels, executor_endpoint: endpointLabel(asked) }, documents);
      countRequest({ runtime_name: runtime }, ms, failed);
    },
    transferred: ({ receivedBytes, sentBytes }) => countBytes(gatewayLabels, receivedBytes, sentBytes),
    exchanged({ deployment, address, sentBytes, receivedBytes }) {
      const details = { deployment, address };
      sink.add('jina_sent_request_bytes', gatewayLabels, sentBytes, details);
      sink.add('jina_received_response_bytes', gatewayLabels, receivedBytes, details);
    },
    served({ runtime, executor, asked, receivedBytes, sentBytes }) {
      const labels = { executor, runtime_name: runtime, executor_endpoint: endpointLabel(asked) };
      countBytes(labels, receivedBytes, sentBytes);
    },
  };
}
