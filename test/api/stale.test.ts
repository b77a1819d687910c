/** An unavailable page is served from a stale copy, and every format of the response reports that. */
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MIGRATIONS as CACHE } from '#reader/cache/index-queries.ts';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { LISTS } from '#search/store.ts';
import { openDatabase } from '#storage/database/sqlite.ts';
import { type Site, sendHtml, startSite } from '../site/site.ts';
import { runProgram } from '../support/cli.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const TWO_DAYS_MS = 2 * 86_400_000;
const PAGE = `<html lang="en"><title>Bees</title><main><h1>Bees</h1><p>${'Bees find their way home by the sun and by what they have seen. '.repeat(30)}</p></main></html>`;

let site: Site;
let service: Service;
let model: Service;
let server: TestServer;
let page: string;
let isAway = false;

beforeAll(async () => {
  site = await startSite({
    '/bees': ({ response }) => (isAway ? void response.destroy() : sendHtml(response, PAGE)),
  });
  page = `${site.origin}/bees`;
  service = await startService((asked, response) => {
    if (!isAway) return searxngAnswer([{ title: 'Bees', url: page, text: 'About bees' }], asked);
    response.writeHead(500).end();
    return undefined;
  });
  const message = { role: 'assistant', content: 'What a model says of bees.' };
  model = await startService(() => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  server = await startServer({
    ...{ allowNetworks: site.allow.join(','), auth: 'off', modelsWarm: [], searchEmbedder: 'none' },
    ...{ chatUrl: `${model.url}/v1`, chatModel: 'toy', readerlmModel: 'toy' },
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url }],
  });
  const read = (body: object) => post(server.reader, body).then((answer) => answer.json());
  await read({ url: page, engine: 'direct' });
  await read({ url: page, engine: 'browser', respondWith: 'screenshot' });
  await (await search({})).json();
  // One copy was made by the direct engine, one by the browser.
  await age('cache/index.db', CACHE, { table: 'copies', column: 'made_at', rows: 2 });
  await ageLists();
  isAway = true;
}, 120_000);
afterAll(async () => {
  await server.close();
  await model.close();
  await service.close();
  await site.close();
});

/** Makes the cached result lists two days old. */
async function ageLists() {
  const database = await openDatabase(path.join(server.dataDir, 'shared.db'), []);
  const aged =
    "UPDATE shared_values SET value = json_set(value, '$.storedAt', value ->> '$.storedAt' - ?) WHERE space = ?";
  try {
    await vi.waitFor(() => expect(database.run(aged, TWO_DAYS_MS, LISTS)).toBe(1), { timeout: 20_000 });
  } finally {
    database.close();
  }
}

/** Makes the stored copies two days old. Waits for them first, because they are written after the response. */
async function age(
  file: string,
  migrations: readonly string[],
  { table, column, rows }: { table: string; column: string; rows: number },
) {
  const database = await openDatabase(path.join(server.dataDir, file), migrations);
  try {
    const aged = `UPDATE ${table} SET ${column} = ${column} - ? WHERE (SELECT count(*) FROM ${table}) >= ?`;
    await vi.waitFor(() => expect(database.run(aged, TWO_DAYS_MS, rows)).toBe(rows), { timeout: 20_000 });
  } finally {
    database.close();
  }
}

const post = (url: string, body: object, accept = 'application/json') =>
  fetch(url, { method: 'POST', headers: { accept, 'content-type': 'application/json' }, body: JSON.stringify(body) });
const search = (more: object, accept?: string) => post(`${server.urls.search}/search`, { q: 'bees', ...more }, accept);

const STALE = /This page could not be read now, this is a copy of \d{4}-\d\d-\d\dT[\d:.]+Z\./;
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const KEPT_LIST = /^The search providers did not answer\. These results were cached at \d{4}-\S+Z\.$/;

it('in JSON by a warning, the metadata and a header', async () => {
  const answer = await post(server.reader, { url: page, engine: 'direct' });
  const { data } = (await answer.json()) as { data: { warning: string; metadata: Record<string, string> } };
  expect(data.warning).toMatch(STALE);
  expect(data.metadata['lectern:staleCopy']).toMatch(ISO);
  expect(answer.headers.get('x-stale-copy')).toBe(data.metadata['lectern:staleCopy']);
  expect(answer.headers.get('access-control-expose-headers') ?? 'X-Stale-Copy').toContain('X-Stale-Copy');
});

it('in a stream by a warning in each event', async () => {
  const answer = await post(server.reader, { url: page, engine: 'direct' }, 'text/event-stream');
  const events = parseEvents(await answer.text());
  expect(events.length).toBeGreaterThan(0);
  for (const { data } of events) expect(data.warning).toMatch(STALE);
});

it('in text by a line of its head, in formats without a head by a header', async () => {
  const whole = await post(server.reader, { url: page, engine: 'direct' }, 'text/plain');
  expect(await whole.text()).toMatch(/^Warning: This page could not be read now/m);
  for (const respondWith of ['text', 'html', 'markdown', 'frontmatter']) {
    const answer = await post(server.reader, { url: page, engine: 'direct', respondWith }, 'text/plain');
    expect([respondWith, answer.status]).toEqual([respondWith, 200]);
    expect(answer.headers.get('x-stale-copy')).toMatch(ISO);
  }
  const chunks = await post(server.reader, { url: page, engine: 'direct', markdownChunking: 'h1' }, 'text/plain');
  expect(chunks.headers.get('x-stale-copy')).toMatch(ISO);
});

it('in a picture by a header, also behind its URL', async () => {
  const asked = { url: page, engine: 'browser', respondWith: 'screenshot' };
  const { data } = (await (await post(server.reader, asked)).json()) as {
    data: { warning: string; screenshotUrl: string };
  };
  expect(data.warning).toMatch(STALE);
  const picture = await fetch(data.screenshotUrl);
  expect(picture.headers.get('content-type')).toBe('image/png');
  expect(picture.headers.get('x-stale-copy')).toMatch(ISO);
  const led = await post(server.reader, asked, 'text/plain');
  expect(led.headers.get('content-type')).toBe('image/png');
  expect(led.headers.get('x-stale-copy')).toMatch(ISO);
});

it('in the answer of a model', async () => {
  const asked = { url: page, engine: 'direct', respondWith: 'readerlm-v2' };
  const answer = await post(server.reader, asked);
  const { data } = (await answer.json()) as { data: { warning: string } };
  expect(data.warning).toMatch(STALE);
  expect(answer.headers.get('x-stale-copy')).toMatch(ISO);
  expect(await (await post(server.reader, asked, 'text/plain')).text()).toMatch(/^Warning: This page could not/m);
});

describe('among the results of a search', () => {
  const asked = { engine: undefined, cacheTolerance: 3_600 };

  it('by warnings of the pages, and a notice of the list', async () => {
    for (const more of [{}, { passages: 500 }]) {
      const answer = await search({ ...asked, ...more });
      const { data, meta } = (await answer.json()) as {
        data: { warning: string; content: string }[];
        meta: { notice: string };
      };
      expect(data.map(({ content }) => content.includes('Bees find'))).toEqual([true]);
      expect(data[0]!.warning).toMatch(STALE);
      expect(meta.notice).toMatch(KEPT_LIST);
      expect(answer.headers.get('x-search-notice')).toBe(meta.notice);
    }
  });

  it('in text and in a stream', async () => {
    const text = await search(asked, 'text/plain');
    expect(text.headers.get('x-search-notice')).toMatch(KEPT_LIST);
    expect(await text.text()).toMatch(/^\[1\] Warning: This page could not be read now/m);
    const stream = await search(asked, 'text/event-stream');
    expect(stream.headers.get('x-search-notice')).toMatch(KEPT_LIST);
    const last = parseEvents(await stream.text()).at(-1)!.data as unknown as { warning: string }[];
    expect(last[0]!.warning).toMatch(STALE);
  });

  it('not for a page within the requested cache tolerance', async () => {
    const { data } = (await (await search({ cacheTolerance: 600_000 })).json()) as { data: { warning?: string }[] };
    expect(data[0]!.warning ?? '').not.toMatch(STALE);
  });
});

it('among the pages of a crawl', async () => {
  const started = await post(`${server.reader}/crawl`, { url: page, limit: 1, sitemap: false });
  const { crawl_id: id } = (await started.json()) as { crawl_id: string };
  const pages = async () => (await (await fetch(`${server.reader}/crawl/${id}/pages`)).text()).trim();
  await expect.poll(pages, { timeout: 60_000 }).not.toBe('');
  expect(await pages()).toMatch(STALE);
}, 90_000);

it('in the documents of a flow', async () => {
  const answer = await post(`${server.urls.flow}/index`, { data: [{ uri: page }] });
  const { data } = (await answer.json()) as { data: { tags: { warning: string } }[] };
  expect(data[0]!.tags.warning).toMatch(STALE);
});

it('to agents', async () => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.reader)));
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: given });
    return (content as { text: string }[])[0]!.text;
  };
  expect(await call('read_url', { url: page })).toMatch(STALE);
  expect(await call('read_urls', { urls: [page, `${page}?other`] })).toMatch(STALE);
  const found = await call('search_web', {
    query: 'bees',
    num: 10,
    content: 'pages',
    options: { cacheTolerance: 3_600 },
  });
  expect(found).toMatch(STALE);
  expect(found).toMatch(/These results were cached at/);
  expect(await call('crawl_site', { url: page, limit: 1 })).toMatch(STALE);
  await client.close();
}, 90_000);

describe('on the command line', () => {
  const run = async (...args: string[]) => {
    const env = { LECTERN_URL: `${server.reader},search=${server.urls.search}` };
    const { out, error, code } = await runProgram(args, { env });
    expect([args, error, code]).toEqual([args, error, 0]);
    return { out, error };
  };
  const NOTED = /could not be read now; this is a stale copy of \d{4}-\S+Z$/m;

  it('beside a text, a picture and the pages of a site', async () => {
    const read = ['read', page];
    const [plain, json, stream, text] = await Promise.all([
      run(...read),
      run(...read, '--json'),
      run(...read, '--stream'),
      run(...read, '-f', 'text'),
    ]);
    for (const { out } of [plain, json, stream]) expect(out).toMatch(STALE);
    expect(text.error).toMatch(NOTED);
    const picture = path.join(server.dataDir, 'picture.png');
    const shot = ['-f', 'screenshot', '--engine', 'browser', '-o', picture];
    expect((await run(...read, ...shot)).error).toMatch(NOTED);
    const sited = await run('read', '--site', page, '--limit', '1', '--no-sitemap');
    expect(sited.out).toMatch(STALE);
    expect(sited.error).toMatch(NOTED);
  }, 120_000);

  it('beside search results', async () => {
    const [text, json] = await Promise.all([
      run('search', 'bees', '--cache-tolerance', '3600'),
      run('search', 'bees', '--json'),
    ]);
    expect(text.out).toMatch(STALE);
    for (const { error } of [text, json]) expect(error).toMatch(/These results were cached at/);
  }, 60_000);
});
