/**
 * `/metrics`, served either by the admin API, which requires its secret, or on a separate port without authentication.
 */
import { createServer, type Server } from 'node:http';
import type { onRequestAsyncHookHandler } from 'fastify';
import type { EndedRequest, Face, RequestObserver } from '#http/server.ts';
import { METRICS_TYPE, type Metrics } from '#telemetry/metrics.ts';

const METRICS_PATH = '/metrics';

export function metricsRoute(face: Face, metrics: Metrics, onRequest: onRequestAsyncHookHandler): void {
  face.get(METRICS_PATH, { onRequest }, async (_, reply) => reply.type(METRICS_TYPE).send(await metrics.text()));
}

/** Creates a server that serves only the metrics, without authentication. It does not listen yet. */
export function createMetricsServer(metrics: Metrics): Server {
  return createServer(async ({ url = '/', method }, response) => {
    const isMetrics = url.split('?', 1)[0] === METRICS_PATH && (method === 'GET' || method === 'HEAD');
    if (!isMetrics) {
      response
        .writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
        .end(`The metrics are at ${METRICS_PATH}\n`);
      return;
    }
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'content-length': Buffer.byteLength(text) });
    response.end(method === 'HEAD' ? undefined : text);
  });
}

/** The problem for the only limit that is reported without the `limitedBy` detail. */
const BALANCE = 'InsufficientBalanceError';
const NO_ROUTE = 'none';

const STATUS_CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'];
const CLIENT_GONE = 499;

const classOf = (status: number): string =>
  status === CLIENT_GONE ? String(CLIENT_GONE) : (STATUS_CLASSES[Math.trunc(status / 100)] ?? STATUS_CLASSES[0]!);

/** Counts the requests, failures and refusals of an API. */
export function requestCounter(metrics: Metrics, face: string): RequestObserver {
  return {
    ended({ route = NO_ROUTE, status, ms }: EndedRequest) {
      metrics.add('lectern_requests_total', [face, route, classOf(status)]);
      metrics.observe('lectern_request_duration_seconds', [face, route], ms / 1_000);
    },
    failed({ name, facts }) {
      metrics.add('lectern_failures_total', [face, name]);
      const limit = name === BALANCE ? 'balance' : facts.limitedBy;
      if (typeof limit === 'string') metrics.add('lectern_limits_refused_total', [face, limit]);
    },
  };
}
