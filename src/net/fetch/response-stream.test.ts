/** Tests irregular HTTP/1 responses: the fetch and the browser's proxy must interpret them in the same way. */
import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Problem } from '#errors.ts';
import { createGuard } from '../guard/guard.ts';
import { startFetch, startTcp } from '../loopback.suite.ts';
import { EGRESS_HEADER } from '../proxy/egress-header.ts';
import { createEgressProxy } from '../proxy/egress-proxy.ts';
import { interimResponseOnly } from './failures.ts';

interface Outcome {
  readonly status?: number | undefined;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

/** Responds to each request with these bytes, written in pieces of `pieceBytes`. */
async function startServer(response: string, pieceBytes = Number.POSITIVE_INFINITY) {
  return startTcp((socket) => {
    socket.setNoDelay(true);
    socket.once('data', async () => {
      const data = Buffer.from(response, 'latin1');
      for (let at = 0; at < data.length; at += pieceBytes) {
        socket.write(data.subarray(at, at + pieceBytes));
        if (pieceBytes < data.length) await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end();
    });
  });
}

type Server = Awaited<ReturnType<typeof startServer>>;

async function byFetch(server: Server, method = 'GET'): Promise<Outcome> {
  try {
    const answer = await startFetch([server])(server.origin, { method, timeoutMs: 20_000, maxRedirects: 0 });
    const { bytes, truncated } = await answer.collect();
    const text = Buffer.from(bytes).toString('latin1');
    return { status: answer.status, text: truncated ? `${text}…` : text, headers: answer.headers };
  } catch (error) {
    return { error: (error as Problem).message };
  }
}

async function byProxy(server: Server, method = 'GET'): Promise<Outcome> {
  const guard = createGuard({ allow: [server.host] });
  let failure: Error | undefined;
  const egress = await createEgressProxy({
    guard,
    onFailed: (_, error) => {
      failure = error;
    },
  });
  onTestFinished(() => egress.close());
  const login = Buffer.from(`${egress.username}:${egress.password}`).toString('base64');
  const headers = { 'proxy-authorization': `Basic ${login}` };
  return new Promise((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: egress.port,
      path: server.origin,
      method,
      headers,
      agent: false,
      maxHeaderSize: 1e6,
    });
    // No part of the response had been forwarded when the failure occurred.
    outgoing.on('error', () => resolve({ error: BROKEN }));
    outgoing.on('response', (answer) => {
      let text = '';
      answer.setEncoding('latin1');
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('close', () => {
        if (answer.headers[EGRESS_HEADER]) return resolve({ error: failure?.message ?? text });
        const isWhole = answer.complete;
        if (!isWhole && !text) return resolve({ error: BROKEN });
        resolve({ status: answer.statusCode, text: isWhole ? text : `${text}…`, headers: answer.headers });
      });
      answer.on('error', () => {});
    });
    outgoing.end();
  });
}

const OK = 'HTTP/1.1 200 OK\r\n';
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const NO_HTTP = 'The target did not send a valid HTTP response';
const NO_TRANSFER = 'The target uses an unsupported transfer encoding';
const TWO_LENGTHS = 'The target sent two different Content-Length values';
const NO_STATUS = 'The target sent an invalid HTTP status';
const CLOSED = 'The target closed the connection';
const BROKEN = 'The target closed the connection before its content was complete';
const TOO_LARGE = 'The headers of the target are too large';

/** The bytes of each response, and the expected text or failure. */
const READ: Readonly<Record<string, readonly [bytes: string, text: string]>> = {
  plain: [`${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
  'a body up to the end of the connection': [`${OK}\r\nhello`, 'hello'],
  chunks: [`${OK}Transfer-Encoding: chunked\r\n\r\n${chunked('hello')}`, 'hello'],
  'chunks, named twice': [
    `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n${chunked('hello')}`,
    'hello',
  ],
  'chunks, with an empty list element': [`${OK}Transfer-Encoding: chunked,\r\n\r\n${chunked('hello')}`, 'hello'],
  'chunks, with a space before the colon': [`${OK}Transfer-Encoding : chunked\r\n\r\n${chunked('hello')}`, 'hello'],
  'chunks and a length': [`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('hello')}`, 'hello'],
  'chunks and two lengths': [
    `${OK}Content-Length: 2\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('hello')}`,
    'hello',
  ],
  identity: [`${OK}Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nhello`, 'hell'],
  'chunks with extensions, spaces, zeros, bare line feeds and trailers': [
    `${OK}Transfer-Encoding: chunked\r\n\r\n0002;a=b\nhe\n3  \r\nllo\r\n0\r\nX-Trailer: x\r\n\r\n`,
    'hello',
  ],
  'the same length twice': [`${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'the same length in a list': [`${OK}Content-Length: 5, 5\r\n\r\nhello`, 'hello'],
  'a length that is not a number': [`${OK}Content-Length: +5\r\n\r\nhello you`, 'hello you'],
  'a negative length': [`${OK}Content-Length: -5\r\n\r\nhello you`, 'hello you'],
  'an empty length': [`${OK}Content-Length:\r\n\r\nhello you`, 'hello you'],
  'an overflowing length': [`${OK}Content-Length: 99999999999999999999\r\n\r\nhello you`, 'hello you'],
  'a body shorter than its length': [`${OK}Content-Length: 50\r\n\r\nhello`, 'hello…'],
  'chunks without the last one': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, 'hello…'],
  'chunks that become invalid': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nhello\r\n`, 'hello…'],
  'a chunk longer than declared': [`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n`, 'he…'],
  'a body longer than its length': [
    `${OK}Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx`,
    'hello',
  ],
  'bare line feeds': ['HTTP/1.1 200 OK\nContent-Length: 5\n\nhello', 'hello'],
  'mixed line ends': ['HTTP/1.1 200 OK\nContent-Length: 5\r\n\nhello', 'hello'],
  'a line without a colon': [`${OK}no header\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'invalid header names': [`${OK}A B: c\r\n: d\r\n(e): f\r\n\xe9: g\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'a folded header': [`${OK}X-A: b\r\n c\r\n\td\r\nContent-Length:\r\n 5\r\n\r\nhello`, 'hello'],
  'a fold after an invalid header': [`${OK} x\r\nno header\r\n y\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'control characters in a value': [`${OK}X-A: b\x01\x7f\rc\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'bytes before the status line': [`\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
  'no reason': ['HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  'a binary reason': ['HTTP/1.1 200 \x01\xe9\x7f\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  'an invalid version': ['http/3.7   200   fine\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  'no version': ['HTTP 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  'a status that is not a number': ['HTTP/1.1 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
  'HTTP/1.0': ['HTTP/1.0 200 OK\r\n\r\nhello', 'hello'],
  'informational answers': [
    `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)}HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`,
    'hello',
  ],
  'a large header': [`${OK}X-A: ${'a'.repeat(200_000)}\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  'many headers': [`${OK}${'X-A: b\r\n'.repeat(5_000)}Content-Length: 5\r\n\r\nhello`, 'hello'],
  'the same location twice': [
    'HTTP/1.1 200 OK\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 5\r\n\r\nhello',
    'hello',
  ],
};

const REFUSED: Readonly<Record<string, readonly [bytes: string, error: string]>> = {
  'an unknown transfer encoding': [`${OK}Transfer-Encoding: xchunked\r\n\r\n${chunked('hello')}`, NO_TRANSFER],
  'a quoted transfer encoding': [`${OK}Transfer-Encoding: "chunked"\r\n\r\n${chunked('hello')}`, NO_TRANSFER],
  'a transfer encoding after a control character': [
    `${OK}Transfer-Encoding: \x0bchunked\r\n\r\n${chunked('hello')}`,
    NO_TRANSFER,
  ],
  'chunks and identity': [
    `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked('hello')}`,
    NO_TRANSFER,
  ],
  'gzip as a transfer encoding': [`${OK}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked('hello')}`, NO_TRANSFER],
  'chunks in HTTP/1.0': [`HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('hello')}`, NO_TRANSFER],
  'two lengths': [`${OK}Content-Length: 5\r\nContent-Length: 4\r\n\r\nhello`, TWO_LENGTHS],
  'two lengths in a list': [`${OK}Content-Length: 5, 4\r\n\r\nhello`, TWO_LENGTHS],
  'two spellings of a length': [`${OK}Content-Length: 5\r\nContent-Length: +5\r\n\r\nhello`, TWO_LENGTHS],
  'status 000': ['HTTP/1.1 000 OK\r\nContent-Length: 5\r\n\r\nhello', NO_STATUS],
  'status 99': ['HTTP/1.1 99 OK\r\nContent-Length: 5\r\n\r\nhello', NO_STATUS],
  'status 1000': ['HTTP/1.1 1000 OK\r\nContent-Length: 5\r\n\r\nhello', NO_STATUS],
  'status 101': [
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
    interimResponseOnly(101).message,
  ],
  'HTTP/0.9': ['<!doctype html><p>hello', NO_HTTP],
  'another protocol': ['SSH-2.0-OpenSSH_9.2\r\n', NO_HTTP],
  'NUL in a header': [`${OK}X-A: a\0b\r\nContent-Length: 5\r\n\r\nhello`, NO_HTTP],
  'only carriage returns': ['HTTP/1.1 200 OK\rContent-Length: 5\r\rhello', CLOSED],
  nothing: ['', CLOSED],
  'an incomplete head': [`${OK}Content-Le`, CLOSED],
  'only informational answers': ['HTTP/1.1 100 Continue\r\n\r\n', interimResponseOnly(100).message],
  'invalid chunks': [`${OK}Transfer-Encoding: chunked\r\n\r\n<p>hello</p>`, BROKEN],
  'a chunk of 0x5 bytes': [`${OK}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n`, BROKEN],
  'a chunk of -5 bytes': [`${OK}Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n`, BROKEN],
  'an overflowing chunk size': [
    `${OK}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello\r\n0\r\n\r\n`,
    BROKEN,
  ],
  'an endless chunk line': [`${OK}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(20_000)}`, BROKEN],
  'endless headers': [`${OK}X-A: ${'a'.repeat(300_000)}`, TOO_LARGE],
  'a flood of informational answers': ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(12_000), TOO_LARGE],
  'two locations': [
    'HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n',
    'The target redirects to two different URLs',
  ],
};

describe.each([
  ['the fetch', byFetch],
  ['the proxy of the browser', byProxy],
] as const)('%s', (_, ask) => {
  test.each(Object.entries(READ))('reads %s', async (_, [bytes, text]) => {
    expect(await ask(await startServer(bytes))).toMatchObject({ status: 200, text });
  });

  test.each(Object.entries(REFUSED))('refuses %s', async (_, [bytes, error]) => {
    expect(await ask(await startServer(bytes))).toEqual({ error });
  });

  test('gives the same results byte by byte', async () => {
    for (const [name, [bytes, text]] of Object.entries(READ)) {
      if (bytes.length > 2_000) continue;
      expect(await ask(await startServer(bytes, 1)), name).toMatchObject({ text });
    }
    for (const [name, [bytes, error]] of Object.entries(REFUSED)) {
      if (bytes.length > 2_000) continue;
      expect(await ask(await startServer(bytes, 1)), name).toEqual({ error });
    }
  });

  test.each([600, 799, 999])('accepts status %i', async (status) => {
    const bytes = `HTTP/1.1 ${status} Own\r\nContent-Length: 5\r\n\r\nhello`;
    expect(await ask(await startServer(bytes))).toMatchObject({ status, text: 'hello' });
  });

  test.each([
    ['HEAD', `${OK}Content-Length: 5\r\n\r\n`],
    ['HEAD', `${OK}Transfer-Encoding: chunked\r\n\r\n`],
  ])('a response to %s has no body', async (method, bytes) => {
    expect(await ask(await startServer(bytes), method)).toMatchObject({ status: 200, text: '' });
  });

  test('drops invalid headers and keeps the others', async () => {
    const bytes = `${OK}X-A: b\r\n c\r\nX-B : \t d\t \r\nX C: d\r\nset-cookie: a=b\r\nX-D: \x01e\x02\r\nContent-Length: 5\r\n\r\nhello`;
    const { headers } = await ask(await startServer(bytes));
    expect(headers).toMatchObject({ 'x-a': 'b c', 'x-b': 'd', 'x-d': expect.stringMatching(/^\s*e\s*$/) });
    expect(Object.keys(headers!)).not.toContain('x c');
    expect(String(headers!['set-cookie'])).toBe('a=b');
  });
});

test('a connection is reused after a regular response, but not after an irregular one', async () => {
  const answers = [
    `${OK}Content-Length: 2\r\n\r\nab`,
    `${OK}Transfer-Encoding: chunked\r\n\r\n${chunked('cd')}`,
    `${OK}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n${chunked('ef')}`,
    `${OK}Content-Length: 2\r\nno header\r\n\r\ngh`,
    `${OK}Content-Length: 2\r\n\r\nijgarbage`,
    `${OK}Content-Length: 2\r\n\r\nkl`,
  ];
  const server = await startTcp((socket) => {
    socket.on('data', () => socket.write(answers.shift()!, 'latin1'));
  });
  const fetch = startFetch([server]);
  const seen: [string, number][] = [];
  while (answers.length) {
    const { bytes } = await (await fetch(server.origin)).collect();
    seen.push([Buffer.from(bytes).toString(), server.connections()]);
  }
  expect(seen).toEqual([
    ['ab', 1],
    ['cd', 1],
    ['ef', 1],
    ['gh', 2],
    ['ij', 3],
    ['kl', 4],
  ]);
});
