/** A stub of a reader, for tests of the command line itself: many URLs, failures, versions. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Stub {
  readonly url: string;
  /** Requested URLs, in order. */
  readonly requestedUrls: string[];
  /** Maximum number of concurrent requests. */
  readonly most: () => number;
  close(): Promise<void>;
}

export interface Answer {
  readonly status?: number;
  readonly title?: string;
  /** Never responds. */
  readonly hangs?: boolean;
}

export async function startStub(answerOf: (url: string) => Answer = () => ({}), version = '0.1.0'): Promise<Stub> {
  const requestedUrls: string[] = [];
  let now = 0;
  let maxConcurrent = 0;
  const server = http.createServer(async (request, response) => {
    if (request.url === '/health') return response.end(JSON.stringify({ status: 'ok', version }));
    let body = '';
    for await (const piece of request) body += piece;
    const { url } = JSON.parse(body) as { url: string };
    requestedUrls.push(url);
    const { status = 200, title = `Title of ${url}`, hangs } = answerOf(url);
    if (hangs) return;
    maxConcurrent = Math.max(maxConcurrent, ++now);
    setImmediate(() => {
      now--;
      response.statusCode = status;
      if (status >= 400) {
        const name = status === 401 ? 'AuthenticationFailedError' : 'AssertionFailureError';
        const failure = {
          data: null,
          code: status,
          status: status * 100 + 1,
          name,
          message: 'no',
          readableMessage: `${name}: no`,
        };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(failure));
      } else if (request.headers.accept?.startsWith('application/json')) {
        const data = { title, url, content: `Text of ${url}`, description: '', usage: { tokens: 1 } };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ code: 200, status: 20000, data, meta: { usage: { tokens: 1 } } }));
      } else response.setHeader('content-type', 'text/plain').end(`Title: ${title}\n\nText of ${url}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestedUrls,
    most: () => maxConcurrent,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
