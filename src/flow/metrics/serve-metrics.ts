/** Serves metrics over HTTP. */
import { createServer } from 'node:http';
import type { FlowMetrics } from './prometheus.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

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
