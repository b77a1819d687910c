import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseSetCookies, toJar } from '#net/fetch/cookies.ts';
import {
  type Loopback,
  resolverOf,
  startFetch,
  startSecret,
  startServer,
  startTcp,
  until,
} from '#net/loopback.suite.ts';
import { parseProxyUrl } from '#net/proxy/proxy-table.ts';
import { startHttpProxy, startSecure, startSocks } from '#net/proxy.suite.ts';
import { resolve } from '../options/resolve.ts';
import type { Snapshot } from '../snapshot.ts';
import { createDirectEngine, type DirectEngineOptions } from './direct.ts';
import type { Visit } from './engine.ts';
import { defaultUserAgent } from './user-agent.ts';

/** The folders used by the visits of a test, in order. */
const folders: string[] = [];

async function visit(
  allowed: readonly Loopback[],
  url: string,
  given: Parameters<typeof resolve>[0] = {},
  { facts, ...rest }: Partial<Visit> & { facts?: Omit<DirectEngineOptions, 'fetch'> } = {},
): Promise<Snapshot> {
  const fetch = startFetch(allowed, {
    lookup: resolverOf({ 'site.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] }),
  });
  const engine = createDirectEngine({ fetch, ...facts });
  onTestFinished(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  const snapshots: Snapshot[] = [];
  const wanted = {
    url,
    options: resolve(given),
    deadline: performance.now() + 60_000,
    keyed: true,
    folder: async () => {
      folders.push(mkdtempSync(path.join(tmpdir(), 'lectern-direct-')));
      return folders.at(-1)!;
    },
    signal: new AbortController().signal,
    ...rest,
  };
  for await (const snapshot of engine.visit(wanted)) snapshots.push(snapshot);
  await engine.close();
  expect(snapshots).toHaveLength(1);
  return snapshots[0]!;
}

const read = async (answer: RequestListener, given?: Parameters<typeof resolve>[0]) => {
  const site = await startServer(answer);
  return visit([site], `${site.origin}/page`, given);
};

const HTML = '<!doctype html><title>T</title><p>Grüße';

describe('a page', () => {
  test('is returned as one snapshot', async () => {
    const site = await startServer((_, response) => {
      response
        .writeHead(200, 'Fine', {
          'content-type': 'text/html; charset=utf-8',
          'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT',
        })
        .end(HTML);
    });
    expect(await visit([site], `${site.origin}/page#part`)).toEqual({
      url: `${site.origin}/page#part`,
      status: 200,
      statusText: 'Fine',
      mediaType: 'text/html',
      lastModified: 'Sat, 01 Jan 2022 00:00:00 GMT',
      text: HTML,
      settled: true,
      hiddenFrames: false,
      hiddenShadow: false,
      notes: [],
      engine: 'direct',
    });
  });

  test('keeps an error status', async () => {
    expect(
      await read((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end(HTML)),
    ).toMatchObject({ status: 404, text: HTML });
  });

  test('is decompressed and decoded', async () => {
    const body = gzipSync(Buffer.from('<meta charset=windows-1252><p>\x93Gr\xfc\xdfe\x94', 'latin1'));
    const { text } = await read((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(body),
    );
    expect(text).toBe('<meta charset=windows-1252><p>“Grüße”');
  });

  test.each([
    [
      'by its Content-Type',
      'text/html; charset="Shift_JIS"',
      Buffer.from('<p>\x93\xfa\x96{\x8c\xea', 'latin1'),
      '<p>日本語',
    ],
    [
      'by a Content-Type that its meta tag contradicts',
      'text/html; charset=utf-8',
      Buffer.from('<meta charset=latin1><p>ß'),
      'ß',
    ],
    ['by its byte order mark', 'text/html; charset=latin1', Buffer.from('\ufeff<p>ß'), '<p>ß'],
    ['by its meta tag', 'text/html', Buffer.from('<meta charset=koi8-r><p>\xd0\xd2\xc9', 'latin1'), 'при'],
    [
      'by what it looks like',
      'text/html',
      Buffer.from('<p>Gr\xfc\xdfe aus der Stra\xdfe', 'latin1'),
      'Grüße aus der Straße',
    ],
    ['by its bytes, as UTF-8', 'text/html', Buffer.from('<p>ツ'), '<p>ツ'],
  ])('is decoded %s', async (_, type, body, text) => {
    const snapshot = await read((__, response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(snapshot.text).toContain(text);
  });

  test('records content that only a browser would show', async () => {
    const of = (html: string) => read((_, response) => response.end(html));
    expect(await of('<p><iframe src=x></iframe>')).toMatchObject({ hiddenFrames: true, hiddenShadow: false });
    expect(await of('<p><x-y><template shadowrootmode=open>z</template></x-y>')).toMatchObject({
      hiddenFrames: false,
      hiddenShadow: true,
    });
  });

  test('is not fetched if its HTML is in the request', async () => {
    const secret = await startSecret();
    expect(await visit([], secret.origin, {}, { html: HTML })).toMatchObject({
      url: secret.origin,
      status: 200,
      text: HTML,
      engine: 'given',
    });
    expect(secret.connections()).toBe(0);
  });
});

describe('other media types', () => {
  test.each([
    ['text/plain', 'words <b>', 'text/plain'],
    ['application/json', '{"a":"ß"}', 'application/json'],
    ['', HTML, 'text/html'],
    ['application/octet-stream', 'plain words', 'text/plain'],
  ])('%s is read', async (type, body, mediaType) => {
    const snapshot = await read((_, response) =>
      response.writeHead(200, type ? { 'content-type': type } : {}).end(body),
    );
    expect(snapshot).toMatchObject({ mediaType, text: body });
  });

  test.each([
    ['application/octet-stream', '\x7fELF\x02\x01\x01', 'application/x-executable'],
    ['video/mp4', 'x', 'video/mp4'],
    ['application/x-unheard-of', 'words', 'application/x-unheard-of'],
  ])('%s with content %j is refused by its type', async (type, body, named) => {
    await expect(
      read((_, response) => response.writeHead(200, { 'content-type': type }).end(body, 'latin1')),
    ).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: `Content of the type ${named} cannot be read`,
    });
  });

  test('bytes of an unknown type are refused', async () => {
    await expect(read((_, response) => response.end(Buffer.from([0, 1, 2, 3])))).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: expect.stringContaining('is unknown'),
    });
  });

  test('an unsupported type is not downloaded', async () => {
    const site = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    await expect(visit([site], site.origin)).rejects.toMatchObject({ name: 'AssertionFailureError' });
    await until(() => site.open() === 0);
  });

  test.each([200, 204, 404])('an empty body with status %i is a failure', async (status) => {
    await expect(
      read((_, response) => response.writeHead(status, { 'content-type': 'text/html' }).end()),
    ).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: `The target responded with status ${status} and no content`,
    });
  });

  test('more than 32 MiB of text is a failure', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    await expect(
      read((_, response) => {
        let count = 0;
        const more = () => {
          while (count++ < 33 && response.write(chunk));
          if (count > 33) response.end();
        };
        response.on('drain', more);
        more();
      }),
    ).rejects.toMatchObject({ name: 'AssertionFailureError', message: 'Text larger than 32 MiB cannot be read' });
  });
});

describe('a file', () => {
  const PDF = '%PDF-1.7 and so on';
  const send =
    (type: string, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
    (_, response) =>
      response.writeHead(200, { 'content-type': type, ...headers }).end(body, 'latin1');

  test.each([
    ['application/pdf; x=y', PDF, 'application/pdf'],
    ['text/html', PDF, 'application/pdf'],
    ['application/octet-stream', PDF, 'application/pdf'],
    ['text/csv', 'a,b', 'text/csv'],
    ['image/png', '\x89PNG\r\n\x1a\n', 'image/png'],
    ['application/rss+xml', '<?xml version="1.0"?><rss/>', 'application/rss+xml'],
  ])('sent as %s with content %j is saved to the folder of the visit', async (type, body, mediaType) => {
    const snapshot = await read(send(type, body));
    expect(snapshot).toMatchObject({
      mediaType,
      text: '',
      engine: 'direct',
      notes: [],
      file: { size: body.length, mediaType, contentType: type, name: 'page' },
    });
    expect(path.dirname(snapshot.file!.path)).toBe(folders.at(-1));
    expect(readFileSync(snapshot.file!.path, 'latin1')).toBe(body);
    expect(statSync(snapshot.file!.path).mode & 0o777).toBe(0o600);
  });

  test('has the name from its Content-Disposition header', async () => {
    const disposition = "attachment; filename=x.pdf; filename*=UTF-8''%e2%82%ac%20../rates.pdf";
    const { file } = await read(send('application/pdf', PDF, { 'content-disposition': disposition }));
    expect(file!.name).toBe('rates.pdf');
  });

  test('is decompressed while it is downloaded', async () => {
    const { file } = await read(send('application/pdf', gzipSync(PDF), { 'content-encoding': 'gzip' }));
    expect(readFileSync(file!.path, 'latin1')).toBe(PDF);
  });

  test('over the size limit is refused by its declared and by its actual length', async () => {
    const facts = { maxFileBytes: 100_000 };
    const chunk = Buffer.alloc(10_000, '%PDF-');
    const honest = await startServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': 200_000 }).write(chunk),
    );
    const endless = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' });
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    for (const site of [honest, endless]) {
      await expect(visit([site], site.origin, {}, { facts })).rejects.toMatchObject({
        name: 'TargetFileTooLargeError',
        code: 413,
      });
      await until(() => site.open() === 0);
    }
  });

  test('that is truncated is kept, with a note', async () => {
    const site = await startTcp((socket) => {
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 900\r\n\r\n${PDF}`),
      );
    });
    const snapshot = await visit([site], site.origin);
    expect(snapshot).toMatchObject({ notes: [expect.stringContaining('broke off')], file: { size: PDF.length } });
  });

  test('without any bytes is a failure', async () => {
    await expect(read(send('application/pdf', ''))).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: 'The target responded with status 200 and no content',
    });
  });
});

describe('a page that refreshes to another', () => {
  /** Pages by path, with optional headers. */
  const site = (pages: Record<string, string | [string, Record<string, string>]>) =>
    startServer((request, response) => {
      const page = pages[request.url!];
      if (page === undefined) return response.writeHead(404).end('absent');
      const [body, headers] = typeof page === 'string' ? [page, {}] : page;
      response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);
    });
  const END = '<title>there</title>';
  const refresh = (content: string) => `<head><META http-equiv="Refresh" content="${content}"></head><p>wait`;

  test.each([
    ['a tag', refresh('0; url=/end')],
    ['a tag with a delay', refresh("5;URL='end'")],
    ['a tag without `url=`', refresh('1, /end')],
    ['a tag on a page with a base', `<base href="/deep/">${refresh('0;url=../end')}`],
    ['a header', ['wait', { refresh: '0;url=/end' }] as [string, Record<string, string>]],
  ])('by %s is followed', async (_, page) => {
    const server = await site({ '/': page, '/end': END });
    expect(await visit([server], `${server.origin}/#part`)).toMatchObject({
      url: `${server.origin}/end#part`,
      text: END,
    });
  });

  test.each([
    ['after more than five seconds', refresh('6;url=/end')],
    ['in noscript', `<noscript>${refresh('0;url=/end')}</noscript>`],
    ['in a comment', `<!-- ${refresh('0;url=/end')} -->`],
    ['in a script', `<script>'${refresh('0;url=/end')}'</script>`],
    ['late in the page', `${'<p>x'.repeat(20_000)}${refresh('0;url=/end')}`],
    ['to itself', refresh('0;url=/')],
    ['without a URL', refresh('3')],
    ['to a script', refresh('0;url=javascript:alert(1)')],
  ])('%s is not followed', async (_, page) => {
    const server = await site({ '/': page, '/end': END });
    expect(await visit([server], `${server.origin}/`)).toMatchObject({ url: `${server.origin}/`, text: page });
  });

  test('to itself while setting a cookie is followed with the cookie', async () => {
    const server = await startServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.headers.cookie === 'pass=1') response.end(END);
      else response.setHeader('set-cookie', 'pass=1').end(refresh('0;url=/'));
    });
    expect(await visit([server], server.origin)).toMatchObject({ text: END });
  });

  test('by a redirect to itself while setting a cookie is followed with the cookie', async () => {
    const server = await startServer((request, response) => {
      if (request.headers.cookie === 'pass=1') response.end(END);
      else response.writeHead(302, { location: '/', 'set-cookie': 'pass=1' }).end();
    });
    expect(await visit([server], server.origin)).toMatchObject({ text: END });
  });

  test('to a private address is refused', async () => {
    const secret = await startSecret();
    const server = await site({ '/': refresh(`0;url=${secret.origin}`) });
    await expect(visit([server], server.origin)).rejects.toMatchObject({ name: 'SecurityCompromiseError' });
    expect(secret.connections()).toBe(0);
  });

  test('endlessly is read at the limit of redirects', async () => {
    let requests = 0;
    const server = await startServer((_, response) => response.end(refresh(`0;url=/${++requests}`)));
    expect(await visit([server], server.origin)).toMatchObject({
      url: `${server.origin}/6`,
      notes: ['The page redirects again and again; this is the last page that was read'],
    });
    expect(requests).toBe(7);
  });

  test('in a header is followed for text too', async () => {
    const server = await startServer((request, response) => {
      if (request.url === '/end') return response.end(END);
      response.writeHead(200, { 'content-type': 'text/plain', refresh: '0; url=/end' }).end('wait');
    });
    expect(await visit([server], server.origin)).toMatchObject({ url: `${server.origin}/end`, notes: [] });
  });

  test('to another site sends no secrets there or back', async () => {
    const seen: (string | undefined)[] = [];
    const server = await startServer((request, response) => {
      const { host } = request.headers;
      seen.push(`${host!.split(':')[0]} ${request.headers['x-key']} ${request.headers.cookie}`);
      const port = host!.split(':')[1];
      if (request.url === '/end') response.end(END);
      else if (host!.startsWith('other')) response.end(refresh(`0;url=http://site.example:${port}/end`));
      else response.end(refresh(`0;url=http://other.example:${port}/`));
    });
    await visit([server], `http://site.example:${server.port}/`, {
      customHeader: { 'X-Key': 'k' },
      setCookies: ['a=b'],
    });
    expect(seen).toEqual(['site.example k a=b', 'other.example undefined undefined', 'site.example undefined a=b']);
  });
});

describe('the request', () => {
  const headersOf = async (given: Parameters<typeof resolve>[0], facts?: Omit<DirectEngineOptions, 'fetch'>) => {
    let seen: IncomingHttpHeaders = {};
    const site = await startServer((request, response) => {
      seen = request.headers;
      response.end(HTML);
    });
    await visit([site], `http://site.example:${site.port}/`, given, { facts: facts ?? {} });
    return seen;
  };

  test('looks like a browser, with the same user agent as the browser engine', async () => {
    expect(await headersOf({}, { chromiumMajor: 150 })).toMatchObject({
      'user-agent': defaultUserAgent(150),
      'accept-language': 'en-US,en;q=0.9',
      accept: expect.stringMatching(/^text\/html,/),
      'upgrade-insecure-requests': '1',
    });
  });

  test('uses locale, referer and user agent', async () => {
    const seen = await headersOf({ locale: 'de-CH', referer: 'https://a.example/x', userAgent: 'curl/8' });
    expect(seen).toMatchObject({
      'accept-language': 'de-CH,de;q=0.9',
      referer: 'https://a.example/x',
      'user-agent': 'curl/8',
    });
    expect(await headersOf({ userAgent: 'lectern' }, { version: '9.9.9' })).toMatchObject({
      'user-agent': 'Lectern/9.9.9 (+automated reader)',
    });
    expect(await headersOf({ locale: 'fr' }, { userAgent: 'operator/1' })).toMatchObject({
      'accept-language': 'fr',
      'user-agent': 'operator/1',
    });
  });

  test('sends cookies of the caller and of redirects only to matching hosts', async () => {
    const seen: (string | undefined)[] = [];
    const site = await startServer((request, response) => {
      seen.push(request.headers.cookie);
      const port = request.headers.host!.split(':')[1];
      const next = { '/a': '/b', '/b': `http://other.example:${port}/c` }[request.url!];
      if (next) response.writeHead(302, { location: next, 'set-cookie': 'way=1' }).end();
      else response.end(HTML);
    });
    const { url } = await visit([site], `http://site.example:${site.port}/a`, {
      setCookies: ['own=x%20y; Path=/, far=2; Path=/b'],
    });
    expect(url).toBe(`http://other.example:${site.port}/c`);
    expect(seen).toEqual(['own=x%20y', 'far=2; own=x%20y; way=1', undefined]);
  });

  test('reports an invalid cookie with the name of the option', async () => {
    const site = await startSecret();
    await expect(visit([site], site.origin, { setCookies: ['a=b; Domain=other.example'] })).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'cookies' },
    });
    expect(site.connections()).toBe(0);
  });
});

describe('the connection', () => {
  test('uses the proxy of the caller, or else that of the operator', async () => {
    const [own, operator, site] = [
      await startHttpProxy(),
      await startSocks(),
      await startServer((_, r) => r.end(HTML)),
    ];
    const all = [own, operator, site];
    const proxy = parseProxyUrl(`socks5://${operator.host}`);
    await visit(all, `${site.origin}/a`, { proxyUrl: own.origin }, { proxy });
    await visit(all, `${site.origin}/b`, {}, { proxy });
    await visit(all, `${site.origin}/c`);
    expect([own.targets, operator.targets]).toEqual([[`${site.origin}/a`], [site.host]]);
  });

  test('accepts an untrusted certificate only if the option is set', async () => {
    const site = await startSecure('<title>secure</title>');
    const url = `https://${site.host}/`;
    await expect(visit([site], url)).rejects.toMatchObject({
      name: 'AssertionFailureError',
      message: 'The certificate of the target is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(await visit([site], url, { skipCertVerification: true })).toMatchObject({ text: '<title>secure</title> /' });
  });

  test('shares the cookie jar of the read', async () => {
    const site = await startServer((request, response) =>
      response.setHeader('set-cookie', 'answer=2').end(`<p>${request.headers.cookie}`),
    );
    const jar = toJar(parseSetCookies('ask=1', site.origin));
    expect(await visit([site], site.origin, {}, { jar })).toMatchObject({ text: '<p>ask=1' });
    expect(jar.getCookieStringSync(site.origin)).toBe('ask=1; answer=2');
  });

  test.each([
    [{ 'X-Own': 'yes' }, 'yes'],
    [{ 'x-own': '\xe9' }, 'é'],
  ])('sends the headers of the caller: %j', async (customHeader, seen) => {
    const site = await startServer((request, response) => response.end(`<p>${request.headers['x-own']}`));
    expect(await visit([site], site.origin, { customHeader })).toMatchObject({ text: `<p>${seen}` });
  });

  test.each<Record<string, string>>([
    { Host: 'other.example' },
    { 'Proxy-Authorization': 'Basic eA==' },
    { 'accept-encoding': 'x' },
    { 'a b': 'c' },
    { 'X-Own': 'a\r\nX-Other: b' },
    { 'X-Own': 'ツ' },
    { 'X-Own': 'x'.repeat(20_000) },
  ])('refuses a header that callers must not set: %.60j', async (customHeader) => {
    const site = await startSecret();
    await expect(visit([site], site.origin, { customHeader })).rejects.toMatchObject({
      name: 'ParamValidationError',
      facts: { path: 'customHeader' },
    });
    expect(site.connections()).toBe(0);
  });
});

describe('failures', () => {
  test('six redirects are followed, but not a seventh', async () => {
    const hops = async (count: number) => {
      let requests = 0;
      return read((_, response) => {
        if (requests++ < count) response.writeHead(302, { location: `/${requests}` }).end();
        else response.end(HTML);
      });
    };
    expect((await hops(6)).text).toBe(HTML);
    await expect(hops(7)).rejects.toMatchObject({ name: 'AssertionFailureError' });
  });

  test('a private address is refused, also after a redirect', async () => {
    const secret = await startSecret();
    await expect(visit([], secret.origin)).rejects.toMatchObject({ name: 'SecurityCompromiseError' });
    await expect(
      read((_, response) => response.writeHead(302, { location: secret.origin }).end()),
    ).rejects.toMatchObject({
      name: 'SecurityCompromiseError',
    });
    expect(secret.connections()).toBe(0);
  });

  test('a truncated page is returned with a note', async () => {
    const site = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<p>half'));
    });
    expect(await visit([site], site.origin)).toMatchObject({
      text: '<p>half',
      settled: false,
      notes: [expect.stringContaining('broke off')],
    });
  });

  test('an endless page is returned as far as it arrived before the time limit or the deadline', async () => {
    const site = await startTcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n<p>start');
        const timer = setInterval(() => socket.write('.'), 20);
        socket.once('close', () => clearInterval(timer));
      });
    });
    const late = { text: expect.stringMatching(/^<p>start/), notes: [expect.stringContaining('in time')] };
    expect(await visit([site], site.origin, { timeout: 0.4 })).toMatchObject(late);
    expect(await visit([site], site.origin, {}, { deadline: performance.now() + 500 })).toMatchObject(late);
    await until(() => site.open() === 0);
  });

  test('an abort ends the fetch', async () => {
    const site = await startTcp((socket) => socket.resume());
    const controller = new AbortController();
    const visited = visit([site], site.origin, {}, { signal: controller.signal });
    await until(() => site.open() === 1);
    controller.abort(new Error('aborted'));
    await expect(visited).rejects.toThrow('aborted');
    await until(() => site.open() === 0);
  });
});
