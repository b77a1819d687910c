/** Targets without content: both engines report the status. */
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '#storage/temporary.ts';
import type { Visited } from '../../../test/site/site.ts';
import { type Bench, options, startBench } from './browser/browser.suite.ts';

const answer =
  (status: number, headers: Record<string, string> = {}) =>
  ({ response }: Visited) =>
    void response.writeHead(status, headers).end();
const raw =
  (text: string) =>
  ({ response }: Visited) =>
    void response.socket?.end(text);

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({
    pages: {
      ...Object.fromEntries(
        [200, 204, 205, 302, 304, 404, 500].flatMap((status) => [
          [`/bare-${status}`, answer(status)],
          [`/html-${status}`, answer(status, { 'content-type': 'text/html' })],
        ]),
      ),
      '/interim-100': raw('HTTP/1.1 100 Continue\r\n\r\n'),
      '/interim-101': raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
      '/interim-102': raw('HTTP/1.1 102 Processing\r\n\r\n'),
      '/interim-103': raw('HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n'),
      '/hinted': raw(
        'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 24\r\n\r\n<title>x</title><p>Words',
      ),
    },
  });
});
afterAll(() => bench.close());

async function read(engine: 'direct' | 'browser', path: string) {
  const folder = createTemporaryFolder(os.tmpdir());
  try {
    let last: { status: number; text: string } | undefined;
    const visit = {
      url: bench.site.origin + path,
      options: options({}),
      deadline: performance.now() + 20_000,
      keyed: true,
      folder: folder.path,
      signal: new AbortController().signal,
    };
    for await (const seen of (engine === 'direct' ? bench.direct : bench.engine).visit(visit)) last = seen;
    return last!;
  } finally {
    await folder.remove();
  }
}

describe.each(['direct', 'browser'] as const)('engine %s', (engine) => {
  it.each([200, 204, 205, 302, 304, 404, 500])('reports that a target answered %s without content', async (status) => {
    for (const kind of ['bare', 'html'])
      await expect(read(engine, `/${kind}-${status}`), kind).rejects.toMatchObject({
        name: 'AssertionFailureError',
        message: `The target responded with status ${status} and no content`,
        facts: { targetStatus: status },
      });
  });

  it.each([100, 101, 102, 103])('reports that a target sent only the interim status %s', async (status) => {
    await expect(read(engine, `/interim-${status}`)).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: expect.stringContaining(`interim status ${status}`),
      facts: { targetStatus: status },
    });
  });

  it('reads the response after an interim one', async () => {
    expect(await read(engine, '/hinted')).toMatchObject({ status: 200, text: expect.stringContaining('Words') });
  });
});
