/** Answers written by models, through the whole server and a real browser, with a server of the chat protocol. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type ChatServer, openChatServer, type RecordedRequest, type Reply } from '#models/chat-server.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 120_000;

let site: Site;
let photo: Buffer;
beforeAll(async () => {
  photo = await sharp({ create: { width: 200, height: 120, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
  const dot = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  site = await startSite({
    '/photo.png': ({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(photo),
    '/dot.png': ({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(dot),
    '/gallery': `<!doctype html><title>Gallery</title><main><h1>Gallery</h1>
<p>One <img src="/photo.png"> two <img src="/dot.png" alt="image"> three <img src="/photo.png?2" alt="A named one"> four
<img src="/none.png" alt="pic"></p></main>`,
  });
});
afterAll(() => site.close());

interface Started {
  readonly chat: ChatServer;
  readonly server: TestServer;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read pages freely
  read(body: Record<string, unknown>): Promise<any>;
  close(): Promise<void>;
}

async function start(
  rule: (request: RecordedRequest) => Reply,
  settings: Record<string, unknown> = {},
): Promise<Started> {
  const chat = await openChatServer(rule, { key: 'secret-key' });
  const server = await startServer({
    allowNetworks: site.allow.join(','),
    chatUrl: chat.url,
    chatModel: 'the-model',
    chatKey: 'secret-key',
    ocrModel: 'the-ocr-model',
    ...settings,
  });
  return {
    chat,
    server,
    async read(body) {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      return (await fetch(server.reader, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    },
    async close() {
      await server.close();
      chat.close();
    },
  };
}

/** A request to the remote browser service. */
interface Rendering {
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly body: { readonly url?: string };
}

/** What the model of the shared server answers. */
let rule: (request: RecordedRequest) => Reply;
let shared: Started;
let renderer: Server;
const renderings: Rendering[] = [];
beforeAll(async () => {
  renderer = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString());
    renderings.push({ url: request.url, token: request.headers.authorization, body });
    const html = '<!doctype html><title>Far away</title><p>Rendered far away.</p>';
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ success: true, result: html }));
  });
  await new Promise<void>((resolve) => renderer.listen(0, '127.0.0.1', resolve));
  shared = await start((request) => rule(request), {
    cfUrl: `http://127.0.0.1:${(renderer.address() as AddressInfo).port}/client/v4`,
    cfAccount: 'account-1',
    cfToken: 'token-1',
  });
}, LONG_MS);
beforeEach(() => void shared.chat.requests.splice(0));
afterAll(async () => {
  await shared?.close();
  renderer?.close();
});

const textOf = ({ messages }: RecordedRequest) => JSON.stringify(messages);

it('readerlm-v2, structured answers, streams and charges', { timeout: LONG_MS }, async () => {
  let answers = 0;
  const { chat, server, read } = shared;
  rule = ({ response_format }) => {
    if (!response_format) return '# The harbour\n\nIt [sleeps](javascript:alert(1)).';
    answers++;
    return answers === 1 ? '{"fish": "herring"}' : '{"fish": ["herring", "mackerel"]}';
  };
  const plain = await read({ url: `${site.origin}/article`, respondWith: 'readerlm-v2' });
  expect(Object.keys(plain.data)).toEqual(['title', 'description', 'url', 'targetStatus', 'content', 'usage']);
  expect(plain.data.content).toBe('# The harbour\n\nIt [sleeps].');
  expect(plain.data.usage.tokens).toBe(12_000);
  expect(chat.headers[0]!.authorization).toBe('Bearer secret-key');
  expect(textOf(chat.requests[0]!)).toContain('Herring');

  const jsonSchema = {
    type: 'object',
    required: ['fish'],
    properties: { fish: { type: 'array', items: { type: 'string' } } },
  };
  const structured = await read({ url: `${site.origin}/article`, jsonSchema, instruction: 'List the fish.' });
  expect(JSON.parse(structured.data.content)).toEqual({ fish: ['herring', 'mackerel'] });
  expect(answers).toBe(2);
  expect(textOf(chat.requests.at(-1)!)).toContain('List the fish.');

  const bad = await read({ url: `${site.origin}/article`, jsonSchema: { type: 'nonsense' } });
  expect(bad).toMatchObject({ code: 400, path: 'jsonSchema' });

  const text = await fetch(`${server.reader}/${site.origin}/article`, { headers: { 'x-engine': 'readerlm-v2' } });
  expect(await text.text()).toMatch(
    /^Title: The harbour at night\n\nURL Source: .*\n\nMarkdown Content:\n# The harbour/,
  );
  const stream = await fetch(`${server.reader}/${site.origin}/article`, {
    headers: { 'x-respond-with': 'readerlm-v2', accept: 'text/event-stream' },
  });
  const events = parseEvents(await stream.text());
  expect(events.at(-1)!.data).toMatchObject({ content: '# The harbour\n\nIt [sleeps].' });
});

it('vlm gets a picture of the page, svc-ocr its text; pictures are described', { timeout: LONG_MS }, async () => {
  const { chat, read } = shared;
  rule = () => 'What the model saw.';
  const vlm = await read({ url: `${site.origin}/article`, respondWith: 'vlm', instruction: 'Only the fish.' });
  expect(vlm.data).toMatchObject({ title: 'The harbour at night', content: 'What the model saw.' });
  expect(textOf(chat.requests[0]!)).toMatch(/Only the fish\.[\s\S]*data:image\/png;base64,iVBOR/);
  const ocr = await read({ url: `${site.origin}/article`, respondWith: 'svc-ocr' });
  expect(ocr.data.content).toBe('What the model saw.');
  expect(chat.requests.at(-1)!.model).toBe('the-ocr-model');
  const image = await read({ url: `${site.origin}/photo.png`, instruction: 'Which colour?' });
  expect(image.data).toMatchObject({ title: 'photo.png', content: 'What the model saw.' });
  expect(textOf(chat.requests.at(-1)!)).toContain('Which colour?');
  const small = await read({ url: `${site.origin}/dot.png` });
  expect(small.data.content).toMatch(/20 x 20/);
});

it('writes missing alternative texts', { timeout: LONG_MS }, async () => {
  const { chat, read } = shared;
  rule = () => 'A teal field.';
  const all = await read({ url: `${site.origin}/gallery`, withGeneratedAlt: true, withImagesSummary: true });
  const { content, images, usage } = all.data;
  expect(content).toContain(`![Image 1: A teal field.](${site.origin}/photo.png)`);
  expect(content).toMatch(/!\[Image 2: [^\]]*20 x 20[^\]]*\]/);
  expect(content).toContain('![Image 3: A named one]');
  expect(content).toContain('![Image 4: pic]');
  expect(images['Image 1: A teal field.']).toBe(`${site.origin}/photo.png`);
  expect(usage.tokens).toBeGreaterThanOrEqual(765);
  expect(chat.requests).toHaveLength(1);
  const texts = await read({ url: `${site.origin}/gallery`, retainImages: 'alt_p' });
  expect(texts.data.content).toContain('(Image 1: A teal field.)');
  expect(chat.requests).toHaveLength(1);
});

it('renders in the remote service if its engine is requested', { timeout: LONG_MS }, async () => {
  const { read } = shared;
  const { data } = await read({ url: `${site.origin}/article`, engine: 'cf-browser-rendering' });
  expect(data).toMatchObject({ title: 'Far away', content: 'Rendered far away.' });
  expect(data.metadata['lectern:engine']).toBe('cf-browser-rendering');
  expect(data.usage.tokens).toBe(4_000);
  expect(renderings).toMatchObject([
    {
      url: '/client/v4/accounts/account-1/browser-rendering/content',
      token: 'Bearer token-1',
      body: { url: `${site.origin}/article` },
    },
  ]);
  const private_ = await read({ url: 'http://10.1.2.3/', engine: 'cf-browser-rendering' });
  expect(private_).toMatchObject({ code: 451 });
});

it('uses no model outside of the EU if the region is eu', { timeout: LONG_MS }, async () => {
  const { chat, read, close } = await start(() => 'never', { browser: 'none', region: 'eu' });
  onTestFinished(() => close());
  const before = site.hits('/article');
  for (const asked of [
    { respondWith: 'readerlm-v2' },
    { jsonSchema: { type: 'object' } },
    { respondWith: 'vlm' },
    { respondWith: 'svc-ocr' },
    { withGeneratedAlt: true },
    { respondWith: 'readerlm-v2', robotsTxt: '*' },
  ]) {
    const refused = await read({ url: `${site.origin}/article`, ...asked });
    const said = expect.stringContaining('EU');
    expect(refused).toMatchObject({ code: 422, name: 'DownstreamServiceFailureError', message: said });
  }
  expect(chat.requests).toEqual([]);
  expect([site.hits('/article'), site.hits('/robots.txt')]).toEqual([before, 0]);
  const marked = await start(() => 'inside', { browser: 'none', region: 'eu', euHosts: '127.0.0.1' });
  onTestFinished(() => marked.close());
  const allowed = await marked.read({ url: `${site.origin}/article`, respondWith: 'readerlm-v2' });
  expect(allowed.data.content).toBe('inside');
});
