/**
 * Invalid option values, through the whole server: each is refused with status 400 and the name of the option, before
 * anything is fetched.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONS, type OptionRow } from '#reader/index.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 60_000;

let site: Site;
let server: TestServer;
beforeAll(async () => {
  site = await startSite();
  server = await startServer({
    allowNetworks: site.allow.join(','),
    browser: 'none',
    // Never contacted, because the values are checked first.
    chatUrl: 'http://127.0.0.1:9/v1',
    chatModel: 'nobody',
  });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

interface Failure {
  readonly code: number;
  readonly name: string;
  readonly path: string;
  readonly message: string;
}

async function failure(target: string, init: RequestInit = {}): Promise<Failure> {
  const headers = { accept: 'application/json', ...init.headers };
  const { code, name, path, message } = (await (
    await fetch(server.reader + target, { ...init, headers })
  ).json()) as Failure;
  return { code, name, path, message };
}

const post = (body: object) =>
  failure('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const refused = (path: string) => ({ code: 400, name: 'ParamValidationError', path });

const HTML = '<title>Tea</title><p>Green tea.</p>';
const INVALID_VALUES: readonly [option: keyof typeof OPTIONS, value: unknown, path?: string][] = [
  ['noCache', 2],
  ['withIframe', {}],
  ['maxTokens', 499],
  ['timeout', 0],
  ['cacheTolerance', -1],
  ['page', 'first'],
  ['base', 'maybe'],
  ['respondTiming', 'soon'],
  ['respondWith', 'nonsense'],
  ['targetSelector', 'a['],
  ['locale', 'not a language'],
  ['referer', 'maybe'],
  ['preloadUrl', 'ftp://a.example/'],
  ['proxyUrl', 'maybe'],
  ['proxyUrl', 'ftp://a.example:1'],
  ['customHeader', { 'no name': 'x' }],
  ['customHeader', { host: 'other.example' }],
  ['storageState', { cookies: 3 }],
  ['storageState', { origins: [{ origin: 'nowhere' }] }],
  ['jsonSchema', { type: 'nonsense' }],
  ['viewport', { width: 'wide' }, 'viewport.width'],
  ['markdown', { headingStyle: 'maybe' }, 'markdown.headingStyle'],
];

describe('an invalid value', () => {
  it.each(INVALID_VALUES)(
    'of %s: %j is refused in a body and a query',
    { timeout: LONG_MS },
    async (name, value, path = name) => {
      const before = site.hits('/article');
      const url = `${site.origin}/article`;
      expect(await post({ url, [name]: value })).toMatchObject(refused(path));
      expect(await post({ html: HTML, [name]: value })).toMatchObject(refused(path));
      expect(await post({ file: Buffer.from('%PDF-1.4').toString('base64'), [name]: value })).toMatchObject(
        refused(path),
      );
      // A query has only strings, and every string is a valid boolean (docs/reference/wire/reader.md, Booleans).
      if (name !== 'noCache' && name !== 'withIframe') {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        expect(await failure(`/?${new URLSearchParams({ url, [name]: text })}`)).toMatchObject(refused(path));
      }
      expect(site.hits('/article')).toBe(before);
    },
  );

  const inHeaders = INVALID_VALUES.filter(
    ([name, value]) => typeof value === 'string' && (OPTIONS[name] as OptionRow).headers.length > 0 && name !== 'page',
  );
  it.each(inHeaders)('of %s: %j is refused in a header', { timeout: LONG_MS }, async (name, value) => {
    const before = site.hits('/article');
    const headers = { [OPTIONS[name].headers[0]!]: String(value) };
    expect(await failure(`/${site.origin}/article`, { headers })).toMatchObject(refused(name));
    expect(site.hits('/article')).toBe(before);
  });

  it('of a cookie is reported with the path cookies', async () => {
    const url = `${site.origin}/article`;
    expect(await post({ url, setCookies: 'nothing' })).toMatchObject(refused('cookies'));
    expect(await failure(`/${url}`, { headers: { 'x-set-cookie': 'nothing' } })).toMatchObject(refused('cookies'));
  });
});

describe('an empty target', () => {
  it.each([
    [{ html: '' }, 'html'],
    [{ file: '' }, 'file'],
    [{ pdf: '' }, 'pdf'],
    [{ file: { data: '' } }, 'file'],
    [{ pdf: { data: '', name: 'a.pdf' } }, 'pdf'],
    [{ url: '' }, 'url'],
    [{ url: ' ' }, 'url'],
    [{ html: '', file: '', url: '' }, 'html'],
  ])('%j is refused', async (body, path) => {
    expect(await post(body)).toEqual({ ...refused(path), message: `${path} is empty` });
  });

  it('is refused in a query and a form too', async () => {
    expect(await failure('/?html=')).toMatchObject(refused('html'));
    expect(await failure('/?url=')).toMatchObject(refused('url'));
    for (const name of ['html', 'file', 'pdf']) {
      const body = new FormData();
      body.append(name, new Blob([]), 'empty');
      expect(await failure('/', { method: 'POST', body }), name).toMatchObject(refused(name));
    }
  });

  it('is ignored beside another target', async () => {
    const read = async (body: object) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return (await fetch(server.reader, init)).text();
    };
    expect(await read({ html: '', url: `${site.origin}/article` })).toContain('Title: The harbour at night');
    expect(await read({ html: '', pdf: '', file: Buffer.from('Some words.').toString('base64') })).toContain(
      'Some words.',
    );
  });

  it('shows the index if no target is named at all', async () => {
    expect(await (await fetch(server.reader)).text()).toContain('[Usage 1]');
    expect(await post({})).toMatchObject(refused('url'));
  });
});
