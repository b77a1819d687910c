/** Tests hostile bodies and headers: each is cut off at its limit, and the part that has arrived is returned. */
// Full run only: waits for timeouts.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '#errors.ts';
import { startFetch, startServer, startTcp, until } from '../loopback.suite.ts';
import { toJar } from './cookies.ts';

const MB = 1024 * 1024;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** 300 MB of zeros: gzip members may follow one another (RFC 1952, section 2.2). */
function gzipZeros(): Buffer {
  const member = gzipSync(Buffer.alloc(20 * MB), { level: 9 });
  return Buffer.concat(Array.from({ length: 15 }, () => member));
}

/** 300 MB of zeros. */
const brotliZeros = () =>
  brotliCompressSync(Buffer.alloc(300 * MB), { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } });

/** Responds to the first request on a connection with exactly these bytes, and ends the connection. */
const saying = (...parts: (string | Buffer)[]) =>
  startTcp((socket) => {
    socket.once('data', () => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
  });

/** A frame with this many blocks, each 128 KiB of zeros encoded in four bytes (RFC 8878, section 3.1.1). */
const zstdZeros = (blocks: number, windowLog = 17) => {
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3];
  const block = (isLast: boolean) => [0x02 | Number(isLast), 0, 0x10, 0];
  return Buffer.from([...head, ...Array.from({ length: blocks }, (_, i) => block(i === blocks - 1)).flat()]);
};

describe('size', () => {
  test.each([
    ['zstd', () => zstdZeros(2_400)],
    ['gzip', gzipZeros],
    ['br', brotliZeros],
  ])('a %s body of 300 MB in a few kB is stopped at the limit', async (encoding, make) => {
    const body = make();
    expect(body.length).toBeLessThan(MB);
    const site = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    const before = process.memoryUsage().rss;
    const response = await startFetch([site])(site.origin, { maxBytes: 8 * MB });
    await expect(response.collect()).rejects.toMatchObject({ name: 'TargetFileTooLargeError' });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB);
    await until(() => site.open() === 0);
  });

  test('a zstd body in a window larger than the web allows is refused, one in the largest is read', async () => {
    let body = zstdZeros(3, 23);
    const site = await startServer((_, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end(body));
    const fetch = startFetch([site]);
    expect((await (await fetch(site.origin)).collect()).bytes.length).toBe(3 * 128 * 1024);
    body = zstdZeros(3, 24);
    await expect((await fetch(site.origin)).collect()).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  test('a bomb that is compressed twice is stopped', async () => {
    const body = gzipSync(gzipZeros());
    const site = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(body),
    );
    const response = await startFetch([site])(site.origin, { maxBytes: MB });
    await expect(response.collect()).rejects.toMatchObject({ name: 'TargetFileTooLargeError' });
  });

  test('an endless body is stopped at the limit', async () => {
    const site = await startServer((_, response) => {
      const chunk = randomBytes(64 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const response = await startFetch([site])(site.origin, { maxBytes: 4 * MB });
    await expect(response.collect()).rejects.toMatchObject({ name: 'TargetFileTooLargeError' });
    await until(() => site.open() === 0);
  });

  test('a Content-Length over the limit is enough to stop', async () => {
    const site = await saying('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx');
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name: 'TargetFileTooLargeError' });
  });

  test('still reads a body of exactly the limit', async () => {
    const site = await startServer((_, response) => response.end(Buffer.alloc(MB)));
    const response = await startFetch([site])(site.origin, { maxBytes: MB });
    expect((await response.collect()).bytes.length).toBe(MB);
  });

  test('a body in single bytes is not kept as single pieces', async () => {
    const count = 500_000;
    const site = await saying(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      '1\r\nx\r\n'.repeat(count),
      '0\r\n\r\n',
    );
    const before = process.memoryUsage().heapUsed;
    const { bytes } = await (await startFetch([site])(site.origin, { minBytesPerSecond: 0 })).collect();
    expect(bytes.length).toBe(count);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * MB);
  });

  test('a flood of headers ends the request', async () => {
    const line = `X-Flood: ${'x'.repeat(1000)}\r\n`;
    const site = await startTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(line));
      };
      socket.on('drain', more);
      more();
    });
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: 'The headers of the target are too large',
    });
    await until(() => site.open() === 0);
  });

  test('still reads an answer with many headers', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `X-${i}: ${'x'.repeat(1000)}\r\n`).join('');
    const site = await saying(`HTTP/1.1 200 OK\r\n${lines}\r\nhello`);
    expect(text((await (await startFetch([site])(site.origin)).collect()).bytes)).toBe('hello');
  });
});

describe('time', () => {
  const drip = (socket: Socket, head: string, drop: string) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(drop), 20);
    socket.once('close', () => clearInterval(timer));
  };

  test('headers that never arrive end the request', async () => {
    const site = await startTcp((socket) => socket.resume());
    const fetch = startFetch([site]);
    const late = { name: 'AssertionFailureError', message: 'The target did not respond in time' };
    await expect(fetch(site.origin, { timeoutMs: 200 })).rejects.toMatchObject(late);
    await expect(fetch(site.origin, { firstByteTimeoutMs: 100 })).rejects.toMatchObject(late);
    await until(() => site.open() === 0);
  });

  test('headers that arrive byte by byte end the request', async () => {
    const site = await startTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX: ', 'x'));
    await expect(startFetch([site])(site.origin, { timeoutMs: 300 })).rejects.toMatchObject({
      name: 'AssertionFailureError',
    });
    await until(() => site.open() === 0);
  });

  test('the part of an endless body that arrived in time is returned', async () => {
    const site = await startTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n<p>first', '.'));
    const response = await startFetch([site])(site.origin, { timeoutMs: 400 });
    const { bytes, truncated } = await response.collect();
    expect(truncated).toBe('time');
    expect(text(bytes)).toMatch(/^<p>first/);
    await until(() => site.open() === 0);
  });

  test('a body slower than 32 KiB/s for five seconds is cut off, unless that limit is off', async () => {
    const site = await startTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'slow '));
    const patient = await startServer((_, response) => {
      response.write('a');
      setTimeout(() => response.end('b'), 5_300);
    });
    const fetch = startFetch([site, patient]);
    const collected = async (origin: string, options = {}) => (await fetch(origin, options)).collect();
    const [{ bytes, truncated }, whole] = await Promise.all([
      collected(site.origin),
      collected(patient.origin, { minBytesPerSecond: 0 }),
    ]);
    expect(truncated).toBe('slow');
    expect(text(bytes)).toMatch(/^slow /);
    expect(text(whole.bytes)).toBe('ab');
    await until(() => site.open() === 0);
  });

  test('a body without a byte is a failure, not an empty page', async () => {
    const site = await startTcp((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    const response = await startFetch([site])(site.origin, { timeoutMs: 200 });
    await expect(response.collect()).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  test('redirects share one time limit', async () => {
    const site = await startServer((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `/${Number(request.url!.slice(1)) + 1}` }).end(), 100);
    });
    await expect(startFetch([site])(`${site.origin}/0`, { timeoutMs: 350, maxRedirects: 1000 })).rejects.toMatchObject({
      message: 'The target did not respond in time',
    });
  });

  test('a caller that disconnects ends the request, before the body and within it', async () => {
    const site = await startTcp((socket) => {
      socket.once('data', (data: Buffer) => {
        if (data.includes('/body')) drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'x');
      });
    });
    const fetch = startFetch([site]);
    const before = new AbortController();
    const asked = fetch(site.origin, { signal: before.signal });
    await until(() => site.open() === 1);
    before.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    await until(() => site.open() === 0);

    const within = new AbortController();
    const response = await fetch(`${site.origin}/body`, { signal: within.signal });
    const collected = response.collect();
    within.abort(new Error('gone'));
    await expect(collected).rejects.toThrow('gone');
    await until(() => site.open() === 0);
  });

  test('a response that is not read ends at its timeout', async () => {
    const site = await startTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'x'));
    await startFetch([site])(site.origin, { timeoutMs: 200 });
    await until(() => site.connections() === 1 && site.open() === 0);
  });

  test('closing ends pending requests', async () => {
    const site = await startTcp((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'x'));
    const fetch = startFetch([site]);
    const response = await fetch(site.origin);
    const collected = response.collect().catch((error: Error) => error);
    await fetch.close();
    await collected;
    await until(() => site.open() === 0);
    await expect(fetch(site.origin)).rejects.toThrow();
  });
});

describe('malformed responses', () => {
  const whole = Buffer.from('<p>all of it</p>');

  test('a body shorter than Content-Length is returned as broken off', async () => {
    const site = await saying(`HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${whole}`);
    expect(await (await startFetch([site])(site.origin)).collect()).toEqual({ bytes: whole, truncated: 'broken' });
  });

  test('a body longer than Content-Length is cut', async () => {
    const site = await saying(`HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n${whole}`);
    expect(text((await (await startFetch([site])(site.origin)).collect()).bytes)).toBe('<p>all');
  });

  test('a chunked body that breaks off is returned up to there', async () => {
    const site = await saying('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n50\r\nworld');
    expect(await (await startFetch([site])(site.origin)).collect()).toEqual({
      bytes: Buffer.from('helloworld'),
      truncated: 'broken',
    });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('a %s body that breaks off is returned as far as it can be decompressed', async (encoding, pack) => {
    const original = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `line ${i * 7919}\n`).join(''));
    const packed = pack(original);
    const site = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(packed.subarray(0, packed.length / 2)),
    );
    const { bytes, truncated } = await (await startFetch([site])(site.origin)).collect();
    expect(truncated).toBe('broken');
    expect(bytes.length).toBeGreaterThan(original.length / 4);
    expect(Buffer.compare(bytes, original.subarray(0, bytes.length))).toBe(0);
  });

  test('a body with too many encodings is refused', async () => {
    const site = await startServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip, gzip' }).end('x'),
    );
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name: 'AssertionFailureError' });
    await until(() => site.open() === 0);
  });

  test('any bytes of a server result in a response or a problem', async () => {
    let said = '';
    const site = await startTcp((socket) => {
      socket.once('data', () => socket.end(said, 'latin1'));
    });
    const fetch = startFetch([site]);
    const pieces = [
      'HTTP/1.1 ',
      'HTTP/2 ',
      'HTTP/1.0 200\r\n',
      '200 OK\r\n',
      '103 Early\r\n\r\n',
      '100 Continue\r\n\r\n',
      '101 Switch\r\n',
      '999 ?\r\n',
      '302 Go\r\n',
      'Location: /\r\n',
      'Location: //[\r\n',
      'Content-Length: 5\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Content-Encoding: gzip\r\n',
      'Content-Encoding: br\r\n',
      'Set-Cookie: a=b; Domain=com\r\n',
      'Connection: Upgrade\r\nUpgrade: x\r\n',
      '\r\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'ffffffffffffffff\r\n',
      '\x1f\x8b\x08',
      '\0',
      '\xff',
      ': ',
      'x',
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), async (parts) => {
        said = parts.join('');
        const outcome = await fetch(site.origin, { timeoutMs: 2_000, maxRedirects: 2, jar: toJar([]) })
          .then((response) => response.collect())
          .catch((error) => error);
        expect(outcome instanceof Problem || outcome.bytes instanceof Uint8Array).toBe(true);
      }),
      { seed: 7, numRuns: 150 },
    );
  });

  test('an empty response and one that is not HTTP fail', async () => {
    for (const site of [await saying('SSH-2.0-OpenSSH_9.2\r\n'), await saying('')]) {
      await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name: 'AssertionFailureError' });
    }
  });
});

describe('redirects', () => {
  test('without end fail after as many as allowed', async () => {
    const site = await startServer((_, response) => response.writeHead(302, { location: '/' }).end());
    await expect(startFetch([site])(site.origin, { maxRedirects: 6 })).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: 'The target redirects too many times',
      facts: { targetStatus: 302 },
    });
  });

  test.each([
    ['http://[', 'AssertionFailureError'],
    ['file:///etc/hosts', 'ParamValidationError'],
  ])('to the invalid URL %s fail with the status of the target', async (location, name) => {
    const site = await startServer((_, response) => response.writeHead(307, { location }).end());
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({ name, facts: { targetStatus: 307 } });
  });

  test('are followed ten times unless told otherwise', async () => {
    let asked = 0;
    const site = await startServer((_, response) => response.writeHead(302, { location: `/${++asked}` }).end());
    await expect(startFetch([site])(site.origin)).rejects.toMatchObject({
      message: 'The target redirects too many times',
    });
    expect(asked).toBe(11);
  });

  test('are followed as often as allowed', async () => {
    let asked = 0;
    const site = await startServer((_, response) => {
      if (asked++ < 6) response.writeHead(302, { location: `/${asked}` }).end();
      else response.end('there');
    });
    expect((await startFetch([site])(site.origin, { maxRedirects: 6 })).url).toBe(`${site.origin}/6`);
  });
});
