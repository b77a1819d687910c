/**
 * Load generator: each of N connections sends one request after another for a given time. Every response is checked.
 */
import http from 'node:http';
import { percentile } from './support.ts';

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

export interface Load {
  readonly url: string;
  /** Fixed headers, or a function of the request's index. */
  readonly headers?: Record<string, string> | ((index: number) => Record<string, string>);
  readonly concurrency: number;
  readonly seconds: number;
  /** A text that every response must contain. */
  readonly expect: string;
}

export async function load({ url, headers = {}, concurrency, seconds, expect }: Load): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
  const headersOf = typeof headers === 'function' ? headers : () => headers;
  const times: number[] = [];
  let sent = 0;
  const end = performance.now() + seconds * 1000;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < end) {
        const from = performance.now();
        const { status, body } = await get(url, headersOf(sent++), agent);
        if (status !== 200 || !body.includes(expect)) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
        times.push(performance.now() - from);
      }
    }),
  );
  const took = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return {
    requestsPerSecond: times.length / took,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    count: times.length,
  };
}

export const get = (
  url: string,
  headers: Record<string, string> = {},
  agent?: http.Agent,
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(url, { headers, ...(agent && { agent }) }, (answer) => {
        let body = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          body += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.on('error', reject);
      })
      .on('error', reject);
  });
