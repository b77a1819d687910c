/** The formats of Firecrawl's API that a language model writes, with a model server of the test. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatServer, openChatServer } from '#models/chat/chat-server.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const WAIT_MS = 120_000;
const SCHEMA = { type: 'object', properties: { bees: { type: 'array', items: { type: 'string' } } } };

let site: Site;
let chat: ChatServer;
let server: TestServer;

beforeAll(async () => {
  const page = (name: string) => `<title>${name}</title><main><p>${`${name} bees fly. `.repeat(20)}</p></main>`;
  site = await startSite({ '/red': page('Red'), '/black': page('Black') });
  chat = await openChatServer(({ messages }) => {
    const asked = JSON.stringify(messages);
    if (asked.includes('Summarize this page')) return 'Bees fly.';
    return JSON.stringify({ bees: ['all', asked.includes('Red bees') ? 'red' : 'black'] });
  });
  server = await startServer({
    allowNetworks: [...site.allow, new URL(chat.url).host].join(','),
    crawlDelayMs: 0,
    chatUrl: chat.url,
    chatModel: 'm',
  });
});
afterAll(async () => {
  await server.close();
  chat.close();
  await site.close();
});

async function call(route: string, body?: unknown) {
  const answer = await fetch(server.urls.compat + route, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.app.firstKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answers
  return { status: answer.status, json: (await answer.json()) as any };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of the answers
async function ended(route: string): Promise<any> {
  for (const until = Date.now() + WAIT_MS; Date.now() < until; ) {
    const { json } = await call(route);
    if (json.status !== 'scraping' && json.status !== 'processing') return json;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job did not end');
}

describe('models', () => {
  it('write data and a summary beside the Markdown', async () => {
    const formats = ['markdown', 'summary', { type: 'json', schema: SCHEMA, prompt: 'Which bees?' }];
    const { json } = await call('/v2/scrape', { url: `${site.origin}/red`, formats });
    expect(json.data).toMatchObject({ summary: 'Bees fly.', json: { bees: ['all', 'red'] } });
    expect(json.data.markdown).toContain('Red bees fly');
    expect(JSON.stringify(chat.requests)).toContain('Which bees?');
  });

  it('write `extract` of version 1', async () => {
    const body = { url: `${site.origin}/black`, formats: ['extract'], extract: { schema: SCHEMA } };
    const { json } = await call('/v1/scrape', body);
    expect(json.data.extract).toEqual({ bees: ['all', 'black'] });
    expect(json.data.metadata).toMatchObject({ title: 'Black', statusCode: 200 });
  });

  it('write the data of a batch', { timeout: WAIT_MS }, async () => {
    const urls = [`${site.origin}/red`, `${site.origin}/black`];
    const { json } = await call('/v2/batch/scrape', { urls, formats: [{ type: 'json', schema: SCHEMA }] });
    const job = await ended(`/v2/batch/scrape/${json.id}`);
    expect(job.data.map((one: { json: unknown }) => one.json)).toEqual([
      { bees: ['all', 'red'] },
      { bees: ['all', 'black'] },
    ]);
  });

  it('extract from several pages', { timeout: WAIT_MS }, async () => {
    const urls = [`${site.origin}/red`, `${site.origin}/black`];
    const { json } = await call('/v1/extract', { urls, schema: SCHEMA, prompt: 'Which bees?', showSources: true });
    expect(json).toEqual({ success: true, id: expect.any(String), urlTrace: [] });
    expect(await ended(`/v1/extract/${json.id}`)).toMatchObject({
      success: true,
      status: 'completed',
      data: { bees: ['all', 'red', 'black'] },
      sources: { bees: urls },
    });
  });

  it('are not asked with an invalid schema', async () => {
    const formats = [{ type: 'json', schema: { type: 5 } }];
    const { status, json } = await call('/v2/scrape', { url: `${site.origin}/red`, formats });
    expect([status, json.details[0].path]).toEqual([400, ['formats']]);
  });

  it.each<[string, object, RegExp]>([
    ['/v2/crawl', { url: 'https://a.example', scrapeOptions: { formats: ['summary'] } }, /scrapeOptions\.formats/],
    ['/v2/batch/scrape', { urls: ['https://a.example'], formats: ['markdown', 'summary'] }, /formats/],
    ['/v2/extract', { prompt: 'x' }, /urls/],
    ['/v2/extract', { urls: ['https://a.example/*'], prompt: 'x' }, /urls\.0/],
    ['/v2/extract', { urls: ['https://a.example'] }, /schema or a prompt/],
  ])('%s %j: 400', async (route, body, message) => {
    const { status, json } = await call(route, body);
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  });
});
