/**
 * Section 4.3: formats and options that need a model or the remote rendering service, tested with a server for each.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ChatServer, openChatServer, type RecordedRequest } from '#models/chat/chat-server.suite.ts';
import { expectSameAsOption, type Headers, type ReaderHost, refused, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

const PNG = { 'content-type': 'image/png' };

let host: ReaderHost;
let chat: ChatServer;
let renderer: Server;
/** Sites that the rendering service read. */
const renderings: (string | undefined)[] = [];
/** The response of the models. */
let reply = 'What the model wrote.';

beforeAll(async () => {
  const png = (width: number) =>
    sharp({ create: { width, height: 100, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
  const photos = await Promise.all([png(200), png(300)]);
  chat = await openChatServer(() => reply);
  renderer = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    renderings.push((JSON.parse(Buffer.concat(pieces).toString()) as { url?: string }).url);
    const result = '<!doctype html><title>Far away</title><p>Rendered far away.</p>';
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ success: true, result }));
  });
  await new Promise<void>((resolve) => renderer.listen(0, '127.0.0.1', resolve));
  host = await startReader({
    pages: {
      '/photo.png': ({ response }) => void response.writeHead(200, PNG).end(photos[0]),
      '/other.png': ({ response }) => void response.writeHead(200, PNG).end(photos[1]),
      '/gallery': `<title>Gallery</title><main><h1>Gallery</h1><p>One <img src="/photo.png"> two <img src="/other.png" alt="image"> three
<img src="/photo.png?2" alt="A named one"> end.</p></main>`,
    },
    settings: {
      browser: undefined,
      chatUrl: chat.url,
      chatModel: 'the-model',
      ocrModel: 'the-ocr-model',
      cfUrl: `http://127.0.0.1:${(renderer.address() as AddressInfo).port}/client/v4`,
      cfAccount: 'account-1',
      cfToken: 'token-1',
    },
  });
});
afterAll(async () => {
  await host.close();
  chat.close();
  renderer.close();
});

const article = (options: Values = {}, headers: Headers = {}) =>
  host.get({ url: `${host.site.origin}/article`, ...options }, headers);
const last = (): RecordedRequest => chat.requests.at(-1)!;
const said = () => JSON.stringify(last().messages);

hosted.row(
  '4.3',
  'respondWith | enum or string | content | Form of the crawled data. Values: markdown, html, text, pageshot, screenshot, content, frontmatter, any combination of these, vlm, svc-ocr-v1, svc-ocr, readerlm-v2',
  async () => {
    const footer = 'Nobody in particular';
    const by = async (respondWith: string) => (await article({ respondWith, engine: 'direct' })).data;
    const content = await by('content');
    expect(content.content).toContain('## The market');
    expect(content.content).not.toContain(footer);
    expect((await article({ engine: 'direct' })).data).toEqual(content);
    expect((await by('markdown')).content).toMatch(/## The market[\s\S]*Nobody in particular/);
    const html = await by('html');
    expect(html.html).toMatch(/^<!doctype html><html lang="en"><head>[\s\S]*<h2>The market<\/h2>/i);
    expect(html).not.toHaveProperty('content');
    const text = await by('text');
    expect(text.text).toMatch(/The market[\s\S]*Herring/);
    expect(text.text).not.toMatch(/<h2>|## /);
    expect((await by('frontmatter')).content).toMatch(
      /^---\ntitle: "The harbour at night"\n[\s\S]*\n---\n[\s\S]*## The market/,
    );
    // The formats can be joined with any of these separators.
    for (const join of ['+', ',', ', ', ' ']) {
      const data = await by(['markdown', 'html', 'text'].join(join));
      expect(data).toMatchObject({ html: html.html, text: text.text, content: expect.stringContaining(footer) });
    }
    const { data: all } = await article({ respondWith: 'content,html,text,frontmatter,screenshot,pageshot' });
    expect(Object.keys(all)).toEqual(
      expect.arrayContaining(['content', 'html', 'text', 'screenshotUrl', 'pageshotUrl']),
    );
    expect(all.content).toMatch(/^---\ntitle: /);
    for (const url of [all.screenshotUrl, all.pageshotUrl]) {
      const picture = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
    }
    for (const [respondWith, field] of [
      ['screenshot', 'screenshotUrl'],
      ['pageshot', 'pageshotUrl'],
    ] as const)
      expect((await article({ respondWith })).data).toMatchObject({ [field]: expect.stringMatching(/^http.*\.png$/) });
    for (const [respondWith, model, input] of [
      ['vlm', 'the-model', 'data:image/png;base64'],
      ['readerlm-v2', 'the-model', '<h2>The market</h2>'],
      ['svc-ocr', 'the-ocr-model', 'data:image/png;base64'],
      ['svc-ocr-v1', 'the-ocr-model', 'data:image/png;base64'],
    ] as const) {
      const { data } = await article({ respondWith });
      expect([respondWith, data?.content, last().model]).toEqual([respondWith, 'What the model wrote.', model]);
      expect(said()).toContain(input);
    }
    expect(await article({ respondWith: 'nonsense' })).toMatchObject(refused('respondWith'));
  },
);

hosted.row(
  '4.3',
  'withGeneratedAlt | pseudo-boolean | none | Generate alt text for images without meaningful alt text; does not work when X-Respond-With is specified',
  async () => {
    reply = 'A teal field.';
    const gallery = async (options: Values, headers: Headers = {}) =>
      (await host.get({ url: `${host.site.origin}/gallery`, engine: 'direct', ...options }, headers)).data;
    for (const options of [{}, { withGeneratedAlt: 'false' }])
      expect((await gallery(options)).content).not.toContain('A teal field.');
    const { content } = await gallery({ withGeneratedAlt: 'true' });
    expect(content).toContain(`![Image 1: A teal field.](${host.site.origin}/photo.png)`);
    expect(content).toContain(`![Image 2: A teal field.](${host.site.origin}/other.png)`);
    expect(content).toContain('![Image 3: A named one]');
    const before = chat.requests.length;
    for (const [options, headers] of [
      [{ withGeneratedAlt: 'true', respondWith: 'markdown' }, {}],
      [{ withGeneratedAlt: 'true' }, { 'x-respond-with': 'content' }],
    ] as const) {
      const data = await gallery(options, headers);
      expect(data.content).not.toContain('A teal field.');
      expect(data.warning).toContain('withGeneratedAlt has no effect: respondWith is given');
    }
    expect(chat.requests).toHaveLength(before);
  },
);

hosted.row('4.4', 'X-With-Generated-Alt | withGeneratedAlt', async () => {
  reply = 'A teal field.';
  const at = async (value: string) =>
    (await host.at(`${host.site.origin}/gallery`, { 'x-engine': 'direct', 'x-with-generated-alt': value })).data
      .content;
  expect(await at('true')).toContain('![Image 1: A teal field.]');
  expect(await at('false')).not.toContain('A teal field.');
});

hosted.row(
  '4.3',
  'retainImages | enum: all, none, alt, all_p, alt_p | all | all = all images; none = no images; alt = only alt text; all_p = all images with generated alt text; alt_p = only alt text, with generated alt',
  async () => {
    reply = 'A teal field.';
    const by = async (options: Values) => {
      const target = { url: `${host.site.origin}/gallery`, engine: 'direct', respondWith: 'markdown' };
      return (await host.read({ ...target, ...options })).data.content as string;
    };
    const { origin } = host.site;
    const all = await by({ retainImages: 'all' });
    expect(all).toContain(`One ![Image 1](${origin}/photo.png) two ![Image 2: image](${origin}/other.png)`);
    expect(await by({})).toBe(all);
    expect(await by({ retainImages: 'none' })).not.toMatch(/Image \d|named|png/);
    const alt = await by({ retainImages: 'alt' });
    expect(alt).toContain('(Image 2: A named one)');
    expect(alt).not.toContain('.png');
    expect(await by({ retainImages: 'all_p' })).toContain(
      `![Image 1: A teal field.](${origin}/photo.png) two ![Image 2: A teal field.](${origin}/other.png)`,
    );
    const described = await by({ retainImages: 'alt_p' });
    expect(described).toContain('One (Image 1: A teal field.) two (Image 2: A teal field.)');
    expect(described).not.toContain('.png');
    expect(await article({ retainImages: 'some' })).toMatchObject(refused('retainImages'));
  },
);

hosted.row(
  '4.3',
  'engine | enum or string: browser, direct, cf-browser-rendering | none | Crawling engine',
  async () => {
    const scripted = async (engine?: string) =>
      (await host.get({ url: `${host.site.origin}/rendered`, ...(engine && { engine }) })).data;
    expect(await scripted('browser')).toMatchObject({
      title: 'Rendered',
      content: expect.stringContaining('second word'),
    });
    expect(await scripted('direct')).toMatchObject({ title: 'Loading' });
    // If no engine is specified, the page is rendered, because scripts change it.
    expect((await scripted()).content).toContain('second word');
    const remote = await article({ engine: 'cf-browser-rendering' });
    expect(remote.data).toMatchObject({ title: 'Far away', content: 'Rendered far away.' });
    expect(renderings).toEqual([`${host.site.origin}/article`]);
    expect((await scripted('netscape')).content).toContain('second word');
  },
  'Without it, or with another name, pages are rendered if scripts would change them.',
);

// Service workers never run, so the option could only change the request to the rendering service, which has no such
// option.
hosted.row('4.4', 'X-No-Service-Worker | noServiceWorker', () =>
  expectSameAsOption(host, {
    header: 'X-No-Service-Worker',
    option: 'noServiceWorker',
    value: 'true',
    target: { url: `${host.site.origin}/article`, engine: 'cf-browser-rendering' },
  }),
);

hosted.row('4.3', 'instruction | string | none | Accepted parameter', async () => {
  reply = 'Herring.';
  const { status, data } = await article({ respondWith: 'readerlm-v2', engine: 'direct', instruction: 'Name a fish.' });
  expect([status, data.content]).toEqual([200, 'Herring.']);
  expect(said()).toContain('Name a fish.');
  const unused = await article({ engine: 'direct', instruction: 'Name a fish.' });
  expect(unused.data.warning).toContain('instruction has no effect');
});

hosted.row(
  '4.3',
  'jsonSchema | any value, nullable | none | Accepted parameter',
  async () => {
    reply = '{"fish": "herring"}';
    const schema = { type: 'object', properties: { fish: { type: 'string' } } };
    for (const jsonSchema of [schema, JSON.stringify(schema), {}]) {
      const body = { url: `${host.site.origin}/article`, engine: 'direct', jsonSchema };
      const { status, text, data } = await host.post(body);
      expect([status, text]).toEqual([200, expect.anything()]);
      expect(JSON.parse(data.content)).toEqual({ fish: 'herring' });
    }
    const plain = await host.post({ url: `${host.site.origin}/article`, engine: 'direct', jsonSchema: null });
    expect(plain.data.content).toContain('## The market');
    const number = await host.post({ url: `${host.site.origin}/article`, jsonSchema: 5 });
    expect(number).toMatchObject(refused('jsonSchema'));
  },
  'A value that is no JSON Schema is refused.',
);

hosted.open(
  '4.3',
  'Semantics of instruction, jsonSchema and zeroDataRetention: not shown.',
  '`instruction` is the prompt of a model that reads the page, `jsonSchema` the schema of a JSON answer that a model writes, ' +
    'and `zeroDataRetention` stores and logs nothing of the read ([options](options.md)).',
);
