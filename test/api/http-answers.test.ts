/**
 * Unusual HTTP responses, through the whole server: both engines must handle them alike, as docs/guide/http.md
 * specifies.
 */
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CERTIFICATE, KEY } from '#net/proxy.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Example, type Outcome, ROWS, TARGET, TARGET_ANSWER } from './http-answers.ts';

const LONG_MS = 240_000;

interface Case {
  readonly name: string;
  readonly path: string;
  readonly example: Example;
  readonly reads: readonly Read[];
}

/** An engine and the scheme of the URL that it reads. */
type Read = readonly [engine: 'direct' | 'browser', scheme: 'http' | 'https'];

const CASES = Object.entries(ROWS).flatMap(([row, examples], at) =>
  examples.map((example, index): Case => {
    const reads = readsOf(example, index === 0, index === examples.length - 1);
    return { name: `${row} (${index + 1})`, path: `/${at}/${index}`, example, reads };
  }),
);

/**
 * Over `http`, the direct engine and the egress proxy share one parser. The direct engine reads all examples there, and
 * the browser reads only the last example of each row. Over `https`, the browser parses the bytes itself, so it reads
 * all the others.
 */
function readsOf({ secureBrowser }: Example, isFirst: boolean, isLast: boolean): Read[] {
  const reads: Read[] = [['direct', 'http']];
  if (isLast) reads.push(['direct', 'https'], ['browser', 'http']);
  if (isFirst || !isLast || secureBrowser) reads.push(['browser', 'https']);
  return reads;
}

let server: TestServer;
const servers: net.Server[] = [];
const sockets = new Set<net.Socket>();
const origins: Record<string, string> = {};

/** Sends the bytes of the example named in the path. */
function answer(socket: net.Socket): void {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  socket.on('error', () => {});
  let asked = '';
  socket.on('data', (bytes) => {
    asked += bytes.toString('latin1');
    if (!asked.includes('\r\n\r\n')) return;
    const at = /^\S+ ([^ ?]*)/.exec(asked)?.[1] ?? '';
    asked = '';
    const example = CASES.find(({ path }) => path === at)?.example;
    const bare = example?.bytes ?? (at === TARGET || at.endsWith('/target') ? TARGET_ANSWER : NOTHING);
    const said = bare.toString('latin1').replaceAll('HOST', `127.0.0.1:${socket.localPort}`);
    socket.write(Buffer.from(said, 'latin1'));
    if (!example?.hold) socket.end();
  });
}
const NOTHING = Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\nConnection: close\r\n\r\nnothing');

beforeAll(async () => {
  const made = { http: net.createServer(answer), https: tls.createServer({ key: KEY, cert: CERTIFICATE }, answer) };
  for (const [scheme, one] of Object.entries(made)) {
    servers.push(one);
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
    origins[scheme] = `${scheme}://127.0.0.1:${(one.address() as net.AddressInfo).port}`;
  }
  server = await startServer({
    allowNetworks: Object.values(origins)
      .map((origin) => new URL(origin).host)
      .join(','),
  });
}, LONG_MS);
afterAll(async () => {
  await server.close();
  for (const socket of sockets) socket.destroy();
  for (const one of servers) one.close();
});

async function read(engine: string, scheme: string, at: string, timeout: number): Promise<Outcome> {
  const response = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      url: `${origins[scheme]}${at}`,
      engine,
      timeout,
      noCache: true,
      skipCertVerification: true,
    }),
  });
  const { data, message, name } = (await response.json()) as {
    data?: { content: string; warning?: string };
    message: string;
    name: string;
  };
  return data ? { text: data.content, warning: data.warning } : { error: message, name };
}

/** Fails on an unexpected warning, except for warnings about short responses. */
function expectSame(found: Outcome, expected: Outcome, where: string): void {
  if ('error' in expected) {
    expect(found, where).toEqual({ name: 'AssertionFailureError', ...expected });
    return;
  }
  expect(found, where).toEqual({
    text: expect.stringContaining(expected.text),
    warning: (found as { warning?: string }).warning,
  });
  const { warning = '' } = found as { warning?: string };
  if (expected.warning !== undefined) expect(warning, where).toContain(expected.warning);
  else expect(warning, where).not.toMatch(/this is (?:what|that)|returned error [^4]/);
}

const expected = ({ outcome, browser, secureBrowser }: Example, engine: string, scheme: string): Outcome => {
  if (engine !== 'browser') return outcome;
  return (scheme === 'https' ? secureBrowser : undefined) ?? browser ?? outcome;
};

describe.concurrent('an answer', () => {
  test.each(CASES)('$name', { timeout: LONG_MS }, async ({ path, example, reads }) => {
    for (const [engine, scheme] of reads) {
      const found = await read(engine, scheme, path, example.timeout ?? 60);
      expectSame(found, expected(example, engine, scheme), `${engine}, ${scheme}`);
    }
  });
});

test('each row of the page has examples, and each example a row', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/guide/http.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, row]) => row!);
  const told = rows.filter((row) => row !== 'The server sends' && row !== '---');
  expect([...told].sort()).toEqual(Object.keys(ROWS).sort());
  for (const [row, examples] of Object.entries(ROWS)) expect(examples.length, row).toBeGreaterThan(0);
});
