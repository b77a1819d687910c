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

/**
 * Creates a server that serves only the metrics, without authentication. It does not listen yet. With `ready`, for
 * processes that have no other port, it also serves `/live` and `/ready`.
 */
export function createMetricsServer(metrics: Metrics, ready?: () => boolean): Server {
  return createServer(async ({ url = '/', method }, response) => {
    const path = method === 'GET' || method === 'HEAD' ? url.split('?', 1)[0] : undefined;
    const send = (code: number, type: string, text: string) => {
      response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
      response.end(method === 'HEAD' ? undefined : text);
    };
    const sendStatus = (code: number, status: string) => send(code, 'application/json', JSON.stringify({ status }));
    if (path === METRICS_PATH) return send(200, METRICS_TYPE, await metrics.text());
    if (ready && path === '/live') return sendStatus(200, 'ok');
    if (ready && path === '/ready') return ready() ? sendStatus(200, 'ok') : sendStatus(503, 'draining');
    return send(404, 'text/plain; charset=utf-8', `The metrics are at ${METRICS_PATH}\n`);
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
