/** The typed client with a whole server: each method of each API, and the errors of each API. */

import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInProcess } from '#app/in-process.ts';
import { type Client, createClient, LecternError, LecternUnreachable, STANDARD_MODELS } from '#client/index.ts';
import { drawnPage } from '#ocr/drawn-pages.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;
const TEA = 'Green tea is made from leaves that were not oxidised, and is drunk hot by many people.';
const BREAD = 'Rye bread keeps for a week in a linen bag, and its crust stays as hard as it was.';
const article = (title: string, text: string) =>
  `<html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p><p><a href="/bread">On</a></p></main></body></html>`;

let site: Site;
let server: TestServer;
let client: Client;
let stranger: Client;
beforeAll(async () => {
  site = await startSite({ '/tea': article('Tea', TEA), '/bread': article('Bread', BREAD) });
  server = await startServer({ allowNetworks: site.allow, auth: 'on' });
  const { reader, search, model: models, flow } = server.urls as Record<string, string>;
  const { accounts } = server.app.accounts;
  const account = await accounts.createAccount({ name: 'client', plan: 'premium', balance: null });
  const { key } = await accounts.mintKey({ accountId: account.id, name: 'client' });
  const urls = { reader, search, models, flow } as Record<'reader' | 'search' | 'models' | 'flow', string>;
  client = createClient({ urls, apiKey: key });
  stranger = createClient({ urls, apiKey: 'not-a-key' });
}, LONG_MS);
afterAll(async () => {
  await server?.close();
  await site?.close();
});

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

const failure = async (work: Promise<unknown>): Promise<LecternError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LecternError);
  return error as LecternError;
};

describe('the reader', () => {
  it('reads a URL as a page, as text and as a stream', async () => {
    const { page, meta } = await client.read(`${site.origin}/tea`, { withLinksSummary: true });
    expect(page).toMatchObject({ title: 'Tea', url: `${site.origin}/tea`, links: { On: `${site.origin}/bread` } });
    expect(page.content).toContain(TEA);
    expect(meta.usage.tokens).toBe(page.usage.tokens);
    const text = await client.readText(`${site.origin}/tea`);
    expect(text).toContain('Title: Tea');
    expect(text).toContain(TEA);
    const events = await all(client.readStream(`${site.origin}/tea`, { engine: 'direct' }));
    expect(events.at(-1)).toMatchObject({ event: 'data', page: { title: 'Tea' } });
  });

  it('sends typed options', async () => {
    const { page } = await client.read(`${site.origin}/tea`, {
      respondWith: 'markdown+html',
      targetSelector: ['h1', 'p'],
      markdown: { headingStyle: 'setext' },
      customHeader: { 'x-tea': 'yes' },
      timeout: 30,
      noCache: true,
    });
    expect(page.content).toMatch(/^Tea\n=+$/m);
    expect(page.html).toContain('<h1>');
    expect(site.headers('/tea')).toMatchObject({ 'x-tea': 'yes' });
  });

  it('reads HTML and files, with options beside them', async () => {
    const html = await client.read({ html: article('Own', TEA), url: 'https://example.com/own' });
    expect(html.page).toMatchObject({ title: 'Own', url: 'https://example.com/own' });
    const csv = new TextEncoder().encode('name,place\n"Tea, green",Shizuoka\n');
    const options = { markdown: { bulletListMarker: '-' }, targetSelector: ['table', 'p'], noGfm: false } as const;
    const file = await client.read({ file: csv, name: 'über "tea"\n.csv' }, options);
    expect(file.page.content).toContain('| Tea, green | Shizuoka |');
    const blob = await client.readText({ file: new Blob([csv], { type: 'text/csv' }) }, { respondWith: 'text' });
    expect(blob).toContain('Shizuoka');
  });

  it('reads a file from disk', async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-client-'));
    try {
      const place = path.join(dir, 'page.html');
      await writeFile(place, article('From disk', TEA));
      const { page } = await client.read({ file: await openAsBlob(place), name: 'page.html' });
      expect(page.title).toBe('From disk');
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it(
    'takes pictures of pages',
    async () => {
      const { bytes, type } = await client.readBytes(`${site.origin}/tea`, { respondWith: 'screenshot' });
      expect(type).toBe('image/png');
      expect(Buffer.from(bytes.subarray(1, 4)).toString()).toBe('PNG');
    },
    LONG_MS,
  );

  it('traces', async () => {
    const { meta } = await client.read(`${site.origin}/tea`, { trace: true, noCache: true });
    expect(meta.trace?.spans.length).toBeGreaterThan(0);
    const events = await all(client.readStream(`${site.origin}/tea`, { trace: true }));
    expect(events.at(-1)).toMatchObject({
      event: 'trace',
      page: { title: 'Tea' },
      trace: { spans: expect.anything() },
    });
  });

  it('returns its health', async () => {
    expect(await client.health()).toMatchObject({ status: 'ok', version: '0.0.0-test' });
  });

  it('fails by name', async () => {
    const selector = await failure(client.read(`${site.origin}/tea`, { targetSelector: ':::' }));
    expect(selector).toMatchObject({ status: 400, code: 40001, name: 'ParamValidationError', path: 'targetSelector' });
    const inText = await failure(client.readText(`${site.origin}/tea`, { targetSelector: ':::' }));
    expect(inText).toMatchObject({ status: 400, name: 'ParamValidationError', message: selector.message });
    const inStream = await failure(all(client.readStream(`${site.origin}/tea`, { targetSelector: ':::' })));
    expect(inStream.message).toBe(selector.message);
    const away = await failure(client.read('http://169.254.169.254/'));
    expect(away).toMatchObject({ name: 'SecurityCompromiseError' });
    expect(await failure(stranger.read(`${site.origin}/tea`))).toMatchObject({
      status: 401,
      name: 'AuthenticationFailedError',
    });
  });
});

describe('the search host', () => {
  beforeAll(async () => {
    await Promise.all(['tea', 'bread'].map((name) => client.read(`${site.origin}/${name}`)));
  });

  it('searches the index, as pages, as text and as a stream', async () => {
    const options = { provider: 'reader', num: 2 } as const;
    const { pages, meta } = await client.search('rye bread in a linen bag', options);
    expect(pages[0]).toMatchObject({ title: 'Bread', url: `${site.origin}/bread` });
    expect(pages[0]!.content).toContain(BREAD);
    expect(meta.usage.tokens).toBeGreaterThan(0);
    expect(await client.searchText('rye bread', options)).toContain('[1] Title: Bread');
    const events = await all(client.searchStream('rye bread', options));
    expect(events.at(-1)!.pages[0]).toMatchObject({ title: 'Bread' });
    const passages = await client.search('rye bread', { ...options, passages: 500 });
    expect(passages.pages[0]!.passages![0]!.text).toContain('linen bag');
  });

  it('fails by name', async () => {
    expect(await failure(client.search('x', { num: 100 }))).toMatchObject({ status: 400, path: 'num' });
    expect(await failure(stranger.search('x'))).toMatchObject({ status: 401, code: 40102 });
    expect(await failure(client.searchText(''))).toMatchObject({ status: 400 });
  });
});

describe('the model host', () => {
  it('embeds with the default model and with options', async () => {
    const plain = await client.embed({ input: TEA });
    expect(plain).toMatchObject({ model: STANDARD_MODELS.embed, data: [{ object: 'embedding', index: 0 }] });
    const short = await client.embed({ input: [TEA, { text: BREAD }], dimensions: 64, embedding_type: 'base64' });
    expect(short.data.map(({ embedding }) => Buffer.from(String(embedding), 'base64').byteLength)).toEqual([256, 256]);
  });

  it('ranks', async () => {
    const { model, results } = await client.rerank({
      query: 'how long bread keeps',
      documents: [TEA, BREAD],
      top_n: 1,
    });
    expect(model).toBe(STANDARD_MODELS.rerank);
    expect(results).toMatchObject([{ index: 1, document: { text: BREAD } }]);
  });

  it('lists its models, which include the standard ones', async () => {
    const models = await client.models();
    const ids = models.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([STANDARD_MODELS.embed, STANDARD_MODELS.rerank]));
    expect(models[0]!.context_length).toBeGreaterThan(0);
  });

  const picture = drawnPage({ width: 900, height: 200 }, (context) => {
    context.font = '48px PageRegular';
    context.fillText('Tap water is safe to drink', 60, 110);
  });

  it(
    'reads pictures',
    async () => {
      const { text, usage } = await client.ocr(picture, { outputFormat: 'text' });
      expect(text).toContain('Tap water is safe');
      expect(usage.total_tokens).toBeGreaterThan(0);
      const blob = await client.ocr(new Blob([picture as Uint8Array<ArrayBuffer>], { type: 'image/png' }));
      expect(blob.text).toContain('Tap water');
    },
    LONG_MS,
  );

  it(
    'chats over pictures, at once and as it comes',
    async () => {
      const url = `data:image/png;base64,${Buffer.from(picture).toString('base64')}`;
      const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] as const;
      const whole = await client.chat({ messages });
      const chunks = await all(client.chatStream({ messages, stream_options: { include_usage: true } }));
      const streamed = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      expect(streamed).toBe(whole.choices[0]!.message.content);
      expect(chunks.at(-1)!.usage?.total_tokens).toBe(whole.usage.total_tokens);
    },
    LONG_MS,
  );

  it('fails by code', async () => {
    const model = await failure(client.embed({ model: 'no-such-model', input: 'x' }));
    expect(model).toMatchObject({ status: 400, code: 'INPUT_MODEL_NOT_FOUND' });
    expect(model.requestId).toMatch(/^[0-9a-f]{32}$/);
    const field = await failure(client.rerank({ query: 'x', documents: ['a'], top_n: 0 }));
    expect(field).toMatchObject({ status: 422, path: 'body -> top_n' });
    expect(await failure(stranger.embed({ input: 'x' }))).toMatchObject({ status: 401, code: 'AUTH_INVALID_API_KEY' });
    const chat = await failure(client.chat({ messages: [] }));
    expect(chat).toMatchObject({ status: 400, code: 'invalid_request_error', path: 'messages' });
    const streamed = await failure(all(client.chatStream({ messages: [] })));
    expect(streamed.message).toBe(chat.message);
  });
});

describe('batches', () => {
  it(
    'are submitted, waited for, and give what came of each line',
    async () => {
      const input = Array.from({ length: 200 }, (_, index) => ({
        custom_id: `doc-${index}`,
        body: { input: `Tea ${index}` },
      }));
      const submitted = await client.batches.submit({
        input: [...input, { custom_id: 'broken', body: { input: 7 } }],
        dimensions: 64,
      });
      const states: string[] = [];
      const job = await client.batches.wait(submitted.batch_id, {
        pollMs: 50,
        onProgress: ({ status }) => states.push(status),
      });
      expect(job).toMatchObject({ status: 'completed', stats: { total: 201, completed: 200, failed: 1 } });
      expect(states.at(-1)).toBe('completed');
      const output = await all(client.batches.output(job.batch_id));
      expect(output.map(({ custom_id }) => custom_id)).toEqual(input.map(({ custom_id }) => custom_id));
      expect(output[0]!.response.body.data[0]!.embedding).toHaveLength(64);
      expect(await all(client.batches.errors(job.batch_id))).toMatchObject([{ custom_id: 'broken', line: 201 }]);
      expect((await client.batches.list({ limit: 5 })).map(({ batch_id }) => batch_id)).toContain(job.batch_id);
      expect(await client.batches.cancel(job.batch_id)).toMatchObject({ status: 'completed' });
      expect((await client.batches.get(job.batch_id)).stats?.completed).toBe(200);
    },
    LONG_MS,
  );

  it('fail by code', async () => {
    expect(await failure(client.batches.get('batch_none'))).toMatchObject({ status: 404, code: 'RESOURCE_NOT_FOUND' });
    expect(await failure(all(client.batches.output('batch_none')))).toMatchObject({ status: 404 });
    expect(await failure(client.batches.submit({}))).toMatchObject({ status: 422, path: 'body -> input' });
    expect(await failure(client.batches.list({ limit: 0 }))).toMatchObject({ status: 422, path: 'query -> limit' });
  });
});

describe('crawls', () => {
  it(
    'are followed as they go, and looked at afterwards',
    async () => {
      const request = { url: `${site.origin}/tea`, scope: 'host', delayMs: 0, sitemap: false } as const;
      const events = await all(client.crawl.stream(request));
      const done = events.at(-1)!;
      expect(done).toMatchObject({ event: 'done', data: { status: 'completed', stats: { done: 2 } } });
      const titles = events.flatMap((one) => (one.event === 'page' ? [one.data.page.title] : []));
      expect(titles).toEqual(['Tea', 'Bread']);
      const id = done.event === 'done' ? done.data.crawl_id : '';
      const lines = await all(client.crawl.pages(id, { after: 1 }));
      expect(lines.map(({ seq, url }) => [seq, url])).toContainEqual([2, `${site.origin}/bread`]);
      expect((await client.crawl.list({ limit: 3 })).map(({ crawl_id }) => crawl_id)).toContain(id);
      expect(await client.crawl.cancel(id)).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it(
    'are started, and followed later',
    async () => {
      const { crawl_id, status } = await client.crawl.start({ url: `${site.origin}/bread`, depth: 0, sitemap: false });
      expect(status).toBe('pending');
      const [line] = await all(client.crawl.pages(crawl_id, { follow: true }));
      expect(line).toMatchObject({ event: 'page', page: { title: 'Bread' } });
      expect(await client.crawl.get(crawl_id)).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it('fail by name', async () => {
    const option = await failure(client.crawl.start({ url: site.origin, options: { timeout: -1 } }));
    expect(option).toMatchObject({ status: 400, path: 'options.timeout' });
    expect(await failure(client.crawl.get('crawl_none'))).toMatchObject({ status: 404 });
    expect(await failure(all(client.crawl.pages('crawl_none')))).toMatchObject({ status: 404 });
    expect(await failure(stranger.crawl.start({ url: site.origin }))).toMatchObject({ status: 401 });
  });
});

describe('the flow', () => {
  it('takes documents and answers questions', async () => {
    const data = [
      { id: 'tea', text: TEA },
      { id: 'bread', uri: `${site.origin}/bread` },
    ];
    const indexed = await client.flow.post('/index', { data });
    expect(indexed.data.map(({ id }) => id)).toEqual(['tea', 'bread']);
    const { data: answers } = await client.flow.post('/search', {
      data: [{ text: 'what is tea made from?' }],
      parameters: { limit: 1 },
    });
    expect(answers[0]!.matches).toMatchObject([{ parent_id: 'tea' }]);
    await client.flow.post('/delete', { data: [{ id: 'tea' }, { id: 'bread' }] });
  });

  it('fails with the name of the error', async () => {
    const error = await failure(client.flow.post('/index', { data: [{ uri: 'http://169.254.169.254/' }] }));
    expect(error).toMatchObject({ name: 'SecurityCompromiseError', path: 'Read' });
    const shape = await failure(client.flow.post('/index', { data: [{ text: { no: 'text' } as unknown as string }] }));
    expect(shape.status).toBe(422);
  });
});

it('works over the socket of a process, also for files', async () => {
  const inProcess = await openInProcess({ ...server.app.faces, flow: server.app.flow });
  try {
    const inner = createClient(inProcess);
    const { page } = await inner.read({ file: new TextEncoder().encode(article('Inner', TEA)), name: 'a.html' });
    expect(page.title).toBe('Inner');
    expect((await inner.read({ html: article('Inner', TEA) })).page.content).toContain(TEA);
    expect((await inner.models()).length).toBeGreaterThan(1);
  } finally {
    await inProcess.close();
  }
});

it('reports how long to wait at a limit, and a server that is unreachable', async () => {
  const limited = await startServer({ browser: 'none', keylessRpm: '2' });
  const own = createClient({ baseUrl: limited.reader, retries: 0 });
  try {
    const read = () => own.read({ html: article('Tea', TEA) });
    await read();
    await read();
    const error = await failure(read());
    expect(error).toMatchObject({ status: 429, name: 'RateLimitTriggeredError' });
    expect(error.retryAfterMs).toBeGreaterThan(0);
    expect((await own.health()).status).toBe('ok');
  } finally {
    await limited.close();
  }
  expect(await failure(own.health())).toBeInstanceOf(LecternUnreachable);
});
