/**
 * The search host with a real metasearch server: Debian's searx, with the search of the local site as its only engine.
 * Skipped if searx is not installed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { findProgram } from '../support/start-services.ts';

const program = findProgram('searx-run');
const START_MS = 60_000;
const PAGES = 12;

/** The minimal settings with which searx starts. Its only engine is the site under test. */
const settingsOf = (port: number, origin: string) => `
general: { debug: false, instance_name: test, contact_url: false, enable_stats: false }
search: { safe_search: 0, autocomplete: "", default_lang: en, ban_time_on_fail: 5, max_ban_time_on_fail: 120 }
server:
  port: ${port}
  bind_address: 127.0.0.1
  secret_key: on loopback alone
  base_url: false
  image_proxy: false
  http_protocol_version: "1.0"
  method: GET
  default_http_headers: {}
ui:
  autofocus: true
  archive_today: false
  static_path: /usr/share/python3-searx/static
  templates_path: /usr/share/python3-searx/templates
  default_theme: oscar
  default_locale: ""
  theme_args: { oscar_style: logicodev }
outgoing: { request_timeout: 10.0, useragent_suffix: "", pool_connections: 100, pool_maxsize: 10, enable_http2: false }
engines:
  - name: site
    engine: json_engine
    shortcut: st
    categories: general
    paging: true
    search_url: ${origin}/find?q={query}&p={pageno}
    results_query: results
    url_query: url
    title_query: title
    content_query: text
    timeout: 10.0
    enable_http: true
locales: { en: English }
doi_resolvers: { none: "http://127.0.0.1:1/" }
default_doi_resolver: none
`;

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

describe.skipIf(!program)('with a real searx', () => {
  let site: Site;
  let searx: ChildProcess;
  let dir: string;
  let server: TestServer;
  let queries: string[];

  beforeAll(async () => {
    queries = [];
    const paragraph = 'Lanterns are lit along the quay before the boats come home from the sea. '.repeat(8);
    site = await startSite({
      ...Object.fromEntries(
        Array.from({ length: PAGES }, (_, n) => [
          `/quay/${n}`,
          `<title>Quay ${n}</title><main><h1>Quay ${n}</h1><p>${paragraph}</p></main>`,
        ]),
      ),
      '/find': ({ url, origin, response }) => {
        queries.push(url.searchParams.get('q')!);
        const first = (Number(url.searchParams.get('p')) - 1) * 8;
        const shown = Array.from({ length: PAGES }, (_, n) => ({
          title: `Found ${n}`,
          url: `${origin}/quay/${n}`,
          text: `About <b>quay</b> ${n}`,
        }));
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ results: shown.slice(first, first + 8) }));
      },
    });
    dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-searx-'));
    const port = await freePort();
    const settings = path.join(dir, 'settings.yml');
    await writeFile(settings, settingsOf(port, site.origin));
    searx = spawn(program!, { env: { ...process.env, SEARX_SETTINGS_PATH: settings }, stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}`;
    await answering(url, searx);
    server = await startServer({
      auth: 'off',
      allowNetworks: site.allow.join(','),
      searchProviders: [{ name: 'searxng', url }],
    });
  }, START_MS + 30_000);
  afterAll(async () => {
    await server?.close();
    searx?.kill('SIGKILL');
    await site?.close();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  const ask = async (path: string) => {
    const answer = await fetch(server.urls.search + path, { headers: { accept: 'application/json' } });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    return { status: answer.status, json: (await answer.json()) as any };
  };

  it('answers with its results, read', async () => {
    const { status, json } = await ask('/lanterns%20%26%20boats?num=3&site=a.test');
    expect(status).toBe(200);
    expect(json.data.map(({ title, url, description }: Record<string, string>) => [title, url, description])).toEqual(
      [0, 1, 2].map((n) => [`Quay ${n}`, `${site.origin}/quay/${n}`, `About quay ${n}`]),
    );
    expect(json.data.every(({ content }: { content: string }) => content.includes('Lanterns are lit'))).toBe(true);
    expect(queries.at(-1)).toBe('lanterns & boats site:a.test');
  });

  it('pages through lists of any size', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => ask(`/quay?num=5&page=${page}&respondWith=no-content`)));
    const seen = pages.flatMap(({ json }) => json.data.map(({ url }: { url: string }) => url));
    expect(seen).toEqual(Array.from({ length: PAGES }, (_, n) => `${site.origin}/quay/${n}`));
  });

  it('accepts language codes as we send them', async () => {
    for (const language of ['de', 'zh-tw', 'pt-br', 'es-419', 'iw']) {
      const { status, json } = await ask(`/lang%20${language}?hl=${language}&num=1&respondWith=no-content`);
      expect([language, status, json.data?.length]).toEqual([language, 200, 1]);
    }
  });
});

/** Resolves when the server responds. Rejects if it exits or does not respond in time. */
async function answering(url: string, server: ChildProcess): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`searx ended with ${server.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer) return;
    if (Date.now() > until) throw new Error('searx does not respond');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
