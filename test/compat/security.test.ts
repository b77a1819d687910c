/**
 * The reader's rules of security, through the entrance of each dialect that reads URLs. Dialects do not read by
 * themselves, so the same rules must hold in all of them. A new entrance is one line in `ENTRANCES`.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Any;
}

interface Entrance {
  readonly name: string;
  /** The path, and the body of a request that reads the URL. */
  readonly request: (url: string) => readonly [path: string, body: object];
  /** Why the URL was not read; a false value if it was read. Default: the status is not 200. */
  readonly refusal?: (answer: Answer) => unknown;
  /** Whether callers without a key are admitted. Default: true, as at the reader. */
  readonly isKeyless?: boolean;
  /** Whether answers have the HTML of the page, in which everything stays. */
  readonly hasHtml?: boolean;
}

const ENTRANCES: readonly Entrance[] = [
  {
    name: 'Tavily extract',
    request: (url) => ['/extract', { urls: [url] }],
    refusal: ({ json }) => json.failed_results?.[0]?.error,
  },
  {
    name: 'Tavily crawl',
    request: (url) => ['/crawl', { url, limit: 1 }],
    refusal: ({ status, json }) => status !== 200 || json.failed_results[0]?.error,
    isKeyless: false,
  },
  {
    name: 'Tavily map',
    request: (url) => ['/map', { url }],
    refusal: ({ status, json }) => status !== 200 || json.failed_results[0]?.error,
    isKeyless: false,
  },
  {
    name: 'Tavily search',
    request: (url) => found(url, ['/search', { query: newQuery(), include_raw_content: true }]),
    refusal: ({ json }) => json.results.length === 0 || json.results[0].raw_content === null,
    isKeyless: false,
  },
  {
    name: 'Firecrawl scrape',
    request: (url) => ['/v2/scrape', { url }],
    refusal: ({ status, json }) => status !== 200 || json.data.metadata.error,
  },
  {
    name: 'docling source',
    request: (url) => ['/v1/convert/source', { sources: [{ kind: 'http', url }] }],
    refusal: ({ status, json }) => status !== 200 || json.status === 'failure',
  },
  {
    name: 'Mistral OCR',
    request: (url) => [
      '/v1/ocr',
      { model: 'mistral-ocr-latest', document: { type: 'document_url', document_url: url } },
    ],
  },
  { name: 'Open WebUI loader', request: (url) => ['/openwebui/loader', { urls: [url] }] },
  {
    name: 'Exa contents',
    request: (url) => ['/contents', { urls: [url], text: true }],
    refusal: ({ json }) => json.statuses?.[0]?.error,
  },
  {
    name: 'Exa search',
    request: (url) => found(url, ['/for/exa/search', { query: newQuery(), contents: { text: true } }]),
    refusal: ({ json }) => json.results.length === 0 || json.results[0].text === '',
    isKeyless: false,
  },
  { name: 'Serper scrape', request: (url) => ['/scrape', { url }] },
  { name: 'crawl4ai md', request: (url) => ['/md', { url }] },
  { name: 'crawl4ai html', request: (url) => ['/html', { url }], hasHtml: true },
  {
    name: 'crawl4ai crawl',
    hasHtml: true,
    request: (url) => ['/crawl', { urls: [url] }],
    refusal: ({ json }) => json.results?.[0]?.error_message,
  },
];

/** Lists a URL as the only search result. */
function found<Request>(url: string, request: Request): Request {
  listed = url;
  return request;
}

const SECRET = 'The words that only the private host knows.';
const PUBLIC = 'The words that everybody may read. ';
const paragraph = (words: string) => `<main><h1>Page</h1><p>${words.repeat(12)}</p></main>`;

let site: Site;
let secrets: Site;
let service: Service;
let server: TestServer;
let key: string;
let listed = '';
let queries = 0;
/** Lists of results are cached by their query. */
const newQuery = () => `query ${++queries}`;

/** Names whose addresses only their DNS records tell. */
const NAMES: Readonly<Record<string, string>> = {
  'private.example': '127.0.0.1',
  'metadata.example': '169.254.169.254',
  'six.example': '::1',
  'mapped.example': '::ffff:127.0.0.1',
};

beforeAll(async () => {
  secrets = await startSite({ '/secret': paragraph(SECRET) });
  site = await startSite({
    '/open': paragraph(PUBLIC),
    '/to-secret': ({ response, url }) =>
      void response.writeHead(302, { location: url.searchParams.get('to') ?? '' }).end(),
    '/wall': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
    '/marked': `${paragraph(PUBLIC)}<p style="display:none">hidden instruction</p><p><a href="javascript:alert(1)">script</a></p>`,
  });
  service = await startService((asked) => searxngAnswer([{ title: 'Listed', url: listed, text: 'A snippet' }], asked));
  server = await startServer(
    {
      allowNetworks: site.allow.join(','),
      searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
      maxBodyBytes: 20_000,
      crawlDelayMs: 0,
    },
    {
      lookup: async (name) => {
        const address = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
        if (address !== undefined) return [{ address, family: address.includes(':') ? 6 : 4 }];
        return systemLookup(name, { all: true });
      },
    },
  );
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
  await site.close();
  await secrets.close();
});
beforeEach(() => {
  listed = '';
});

async function send(path: string, body: object, headers: Record<string, string>): Promise<Answer> {
  const answer = await fetch(server.urls.compat + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: JSON.parse(text) };
}

/** Both headers, because each dialect reads only its own. Exa is told from Tavily by its prefix or its path. */
const keyed = () => ({ authorization: `Bearer ${key}`, 'x-api-key': key });

const port = () => new URL(secrets.origin).port;

/** URLs that must not be read. `PORT` is the port of the private host. */
const FORBIDDEN = [
  'http://127.0.0.1:PORT/secret',
  'http://localhost:PORT/secret',
  'http://127.1:PORT/secret',
  'http://0x7f.1:PORT/secret',
  'http://2130706433:PORT/secret',
  'http://0177.0.0.1:PORT/secret',
  'http://0.0.0.0:PORT/secret',
  'http://[::1]:PORT/secret',
  'http://[::]:PORT/secret',
  'http://[::ffff:127.0.0.1]:PORT/secret',
  'http://[64:ff9b::7f00:1]:PORT/secret',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://user:password@127.0.0.1:PORT/secret',
  'http://example.com@127.0.0.1:PORT/secret',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.100.100.200/',
  'http://169.254.169.254/latest/meta-data/',
  'http://metadata.google.internal/',
  'http://private.example:PORT/secret',
  'http://metadata.example/latest/meta-data/',
  'http://six.example:PORT/secret',
  'http://mapped.example:PORT/secret',
  'file:///etc/passwd',
  'ftp://127.0.0.1/secret',
];

describe.each(ENTRANCES)(
  '$name',
  ({ request, refusal = ({ status }) => status !== 200, isKeyless = true, hasHtml = false }) => {
    const ask = (url: string, headers: Record<string, string> = keyed()) => {
      const [path, body] = request(url);
      return send(path, body, headers);
    };
    /** Fails if the URL was read, or if the answer is an error of the server. */
    function expectRefused(answer: Answer, url: string): void {
      // Firecrawl answers 500 if a host has no address, with a code that says so.
      const isServerError = answer.status >= 500 && answer.json.code !== 'SCRAPE_DNS_RESOLUTION_ERROR';
      expect(isServerError, `${url}: ${answer.text}`).toBe(false);
      expect(answer.text).not.toContain(SECRET);
      expect(refusal(answer), `${url}: ${answer.text}`).toBeTruthy();
    }

    it('reads a page that may be read', async () => {
      const answer = await ask(`${site.origin}/open`);
      expect(answer.status).toBe(200);
      expect(refusal(answer)).toBeFalsy();
    });

    it('refuses URLs of private hosts, in every spelling', async () => {
      for (const form of FORBIDDEN) {
        const url = form.replace('PORT', port());
        expectRefused(await ask(url), url);
      }
      expect(secrets.hits('/secret')).toBe(0);
    });

    it('refuses redirects to private hosts, and does not say where they lead', async () => {
      for (const to of [
        `${secrets.origin}/secret`,
        'http://169.254.169.254/latest',
        `http://six.example:${port()}/secret`,
      ]) {
        const answer = await ask(`${site.origin}/to-secret?to=${encodeURIComponent(to)}`);
        expectRefused(answer, to);
        if (to.includes('169.254'))
          expect(answer.text.replaceAll(encodeURIComponent(to), '')).not.toContain('169.254.169.254');
      }
      expect(secrets.hits('/secret')).toBe(0);
    });

    it('refuses pages of this server', async () => {
      for (const url of [`${server.urls.compat}/health`, `${server.reader}/`]) expectRefused(await ask(url), url);
    });

    it('says that a page was sent in place of the content', async () => {
      const answer = await ask(`${site.origin}/wall`);
      expectRefused(answer, 'the wall');
    });

    it('writes no links that run scripts', async () => {
      const answer = await ask(`${site.origin}/marked`);
      expect(answer.status).toBe(200);
      if (!hasHtml) expect(answer.text).not.toMatch(/\]\(javascript:|hidden instruction/);
    });

    it('refuses a wrong key', async () => {
      const answer = await ask(`${site.origin}/open`, { authorization: 'Bearer wrong', 'x-api-key': 'wrong' });
      expect(answer.status, answer.text).toBe(401);
    });

    it('refuses web pages of other sites that have no key', async () => {
      const answer = await ask(`${site.origin}/open`, { origin: 'https://elsewhere.example' });
      expect(answer.status, answer.text).toBe(403);
      const own = await ask(`${site.origin}/open`, {});
      expect(own.status).toBe(isKeyless ? 200 : 401);
    });

    it('limits the size of the body', async () => {
      const [path, body] = request(`${site.origin}/open`);
      const answer = await send(path, { ...body, padding: 'x'.repeat(30_000) }, keyed());
      expect(answer.status, answer.text).toBe(413);
    });
  },
);
