/** Chat completions with pictures, through a real server, with real text recognition and real files. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { PDFDocument } from 'pdf-lib';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPdf } from '#documents/pdf/drawn.suite.ts';
import { startSecret } from '#net/loopback.suite.ts';
import { characterAccuracy, drawnPage, drawText } from '#ocr/drawn-pages.suite.ts';
import { type ChatHost, startChatHost } from '../support/chat-host.ts';
import { COLUMNS_TEXT, columnsPage } from '../support/drawn-page.ts';

const LONG = 240_000;
let host: ChatHost;
let site: http.Server;
let siteHost: string;
/** The origin that the site redirects to: a server that must not be contacted. */
let secretOrigin: string;
beforeAll(async () => {
  site = http.createServer((request, response) => {
    if (request.url === '/page.png')
      response.writeHead(200, { 'content-type': 'text/html' }).end(words('Read me from afar'));
    else if (request.url === '/inside') response.writeHead(302, { location: `${secretOrigin}/page.png` }).end();
    else if (request.url === '/endless') response.writeHead(200, { 'content-length': 10_000_000_000 }).write('x');
    else response.writeHead(404).end();
  });
  await once(site.listen(0, '127.0.0.1'), 'listening');
  siteHost = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  host = await startChatHost({ tesseract: 'tesseract', allow: [siteHost] });
});
afterAll(async () => {
  await host?.close();
  site.closeAllConnections();
  site.close();
});

/** A PNG whose header declares a size that is not the real one. */
const withDeclaredSize = (png: Buffer, width: number, height: number): Buffer => {
  const lying = Buffer.from(png);
  lying.writeUInt32BE(width, 16);
  lying.writeUInt32BE(height, 20);
  return lying;
};

const words = (text: string, width = 700, height = 160) =>
  drawnPage({ width, height }, (context) => {
    drawText(context, text, { left: 40, top: 50, width: width - 80, size: 32 });
  });
const blank = drawnPage({ width: 600, height: 400 }, () => {});

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const dataUri = (bytes: Uint8Array, type = 'image/png') => `data:${type};base64,${base64(bytes)}`;
const image = (bytes: Uint8Array, type?: string) => ({ type: 'image_url', image_url: { url: dataUri(bytes, type) } });
const pdfPart = (bytes: Uint8Array, pages?: string) => ({
  type: 'file',
  file: { file_data: dataUri(bytes, 'application/pdf'), filename: 'pages.pdf', pages },
});
const asking = (content: unknown, more: object = {}) => ({
  model: 'lectern-ocr',
  messages: [{ role: 'user', content }],
  ...more,
});
const ask = (content: unknown, more?: object) => host.post('/v1/chat/completions', asking(content, more));
async function contentOf(content: unknown, more?: object): Promise<string> {
  const { status, body } = await ask(content, more);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.choices[0].message.content;
}

async function pdfOf(...pictures: Uint8Array[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (const picture of pictures) {
    const embedded = await document.embedPng(picture);
    const page = document.addPage([embedded.width / 2, embedded.height / 2]);
    page.drawImage(embedded, { x: 0, y: 0, width: embedded.width / 2, height: embedded.height / 2 });
  }
  return document.save();
}

describe('an answer', () => {
  it(
    'is the Markdown of a page with two columns and a table, in the envelope of the protocol',
    async () => {
      const { status, body, headers } = await ask([
        { type: 'text', text: 'Transcribe this page.' },
        image(columnsPage),
      ]);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(body).toMatchObject({ object: 'chat.completion', model: 'lectern-ocr', system_fingerprint: null });
      expect(body.id).toMatch(/^chatcmpl-[0-9a-f]+$/);
      expect(Math.abs(body.created - Date.now() / 1000)).toBeLessThan(600);
      const [{ message, ...choice }] = body.choices;
      expect(choice).toEqual({ index: 0, logprobs: null, finish_reason: 'stop' });
      expect(message).toMatchObject({ role: 'assistant', refusal: null });
      expect(message.content).toMatch(/^# A Page of Two Columns\n\nRivers carry/);
      expect(message.content).toContain(
        '| Bridge | Arches | Length | Built |\n| --- | --- | --- | --- |\n| Old Bridge |',
      );
      const prose = message.content.slice(0, message.content.indexOf('\n\n|')).replace(/^# /, '');
      expect(characterAccuracy(COLUMNS_TEXT, prose)).toBeGreaterThan(0.97);
      // 3 x 4 tiles of 512 pixels at 85 tokens each, plus the words of the prompt (docs/reference/wire/models.md, Chat
      // completion answers).
      const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = body.usage;
      expect([prompt > 1_020, prompt < 1_040, completion > 250, total]).toEqual([
        true,
        true,
        true,
        prompt + completion,
      ]);
      expect(host.charges.at(-1)).toMatchObject({ tokens: total });
    },
    LONG,
  );

  it(
    'is the same when streamed',
    async () => {
      const page = drawnPage({ width: 900, height: 700 }, (context) => {
        for (let at = 0; at < 5; at++)
          drawText(context, 'This paragraph is short, and an empty line comes after it, as it should.', {
            left: 40,
            top: 50 + 130 * at,
            width: 820,
            size: 30,
          });
      });
      const content = [image(page)];
      const whole = await contentOf(content);
      expect(whole.match(/This paragraph is short/g)).toHaveLength(5);
      const { status, type, events } = await host.stream(asking(content, { stream_options: { include_usage: true } }));
      expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8']);
      expect(events.at(-1)).toBe('data: [DONE]');
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')));
      for (const chunk of chunks)
        expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: 'lectern-ocr' });
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
      expect(chunks[0].choices).toEqual([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
      const deltas = chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta.content ?? '');
      expect(deltas.join('')).toBe(whole);
      expect(deltas.filter(Boolean).length).toBeGreaterThan(3);
      expect(chunks.at(-2).choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
      expect((await host.stream(asking(content))).events.join()).not.toContain('"usage"');
    },
    LONG,
  );
});

describe('the output', () => {
  it(
    'is plain text if the option or the prompt asks for it',
    async () => {
      const text = 'Seven words stand on this small page';
      expect((await contentOf([image(words(text))], { output_format: 'text' })).trim()).toBe(text);
      const pages = [image(words(text)), image(words('And here is the second one'))];
      const both = await contentOf([{ type: 'text', text: 'Give me the plain text.' }, ...pages]);
      expect(both).toBe(`${text}\fAnd here is the second one`);
    },
    LONG,
  );

  it(
    'is HTML, hOCR, or JSON with boxes in pixels of the picture',
    async () => {
      const picture = words('Upright words', 900, 200);
      expect(await contentOf([image(picture)], { output_format: 'html' })).toBe('<p>Upright words</p>');
      const hocr = await contentOf([image(picture)], { output_format: 'hocr' });
      expect(hocr).toMatch(/<div class="ocr_page" id="page_1" title="bbox 0 0 900 200; ppageno 0">/);
      expect(hocr).toMatch(/<span class="ocrx_word" title="bbox \d+ \d+ \d+ \d+; x_wconf \d+">Upright<\/span>/);
      const [page] = JSON.parse(await contentOf([image(picture)], { output_format: 'json' })).pages;
      expect(page).toMatchObject({ page: 1, width: 900, height: 200, turned: 0, blocks: [{ type: 'paragraph' }] });
      const [left, top, right, bottom] = page.blocks[0].lines[0].words[0].box;
      // The text is drawn from x = 40, with its baseline at y = 82, and is 32 pixels high.
      expect([Math.abs(left - 42) < 8, Math.abs(top - 58) < 8, right > 130, Math.abs(bottom - 88) < 10]).toEqual(
        Array(4).fill(true),
      );
      expect(page.blocks[0].confidence).toBeGreaterThan(0.8);
    },
    LONG,
  );

  it(
    'has boxes in the coordinates of the original image if the image was rotated',
    async () => {
      const upright = words('Several words that were turned around', 900, 300);
      const turned = await sharp(upright).rotate(180).png().toBuffer();
      const boxOf = async (picture: Uint8Array) => {
        const [page] = JSON.parse(await contentOf([image(picture)], { output_format: 'json' })).pages;
        const word = page.blocks[0].lines[0].words[0];
        return { text: word.text, box: word.box, turned: page.turned };
      };
      const [one, other] = [await boxOf(upright), await boxOf(turned)];
      expect([one.text, other.text, one.turned, other.turned]).toEqual(['Several', 'Several', 0, 180]);
      const [left, top, right, bottom] = other.box;
      const back = [900 - right, 300 - bottom, 900 - left, 300 - top];
      for (const [at, value] of back.entries()) expect(Math.abs(value - one.box[at])).toBeLessThan(6);
    },
    LONG,
  );

  it(
    'ends at max_tokens and before a stop sequence',
    async () => {
      const picture = words('one two three four five six seven', 900);
      const short = await ask([image(picture)], { max_tokens: 3 });
      expect(short.body.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'one two three' } });
      expect(short.body.usage.completion_tokens).toBe(3);
      const newer = await ask([image(picture)], { max_tokens: 1, max_completion_tokens: 2 });
      expect(newer.body.choices[0].message.content).toBe('one two');
      const stopped = await ask([image(picture)], { stop: [' four', 'nothing'] });
      expect(stopped.body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one two three' } });
    },
    LONG,
  );

  it(
    'is empty for a blank page',
    async () => {
      const { status, body } = await ask([image(blank)]);
      expect(status).toBe(200);
      expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '' } });
      expect(body.usage).toMatchObject({ prompt_tokens: 170, completion_tokens: 0 });
    },
    LONG,
  );
});

describe('the input can be', () => {
  it.each([
    ['JPEG', 'image/jpeg', (picture: Sharp) => picture.jpeg()],
    ['WebP', 'image/webp', (picture: Sharp) => picture.webp()],
    ['TIFF', 'image/tiff', (picture: Sharp) => picture.tiff()],
    ['PNG that is declared as another type', 'image/jpeg', (picture: Sharp) => picture.png()],
  ])(
    '%s',
    async (_, type, encode) => {
      const bytes = await encode(sharp(words('Read me in any format'))).toBuffer();
      expect(await contentOf([image(bytes, type)])).toBe('Read me in any format');
    },
    LONG,
  );

  it(
    'a bare or legacy form',
    async () => {
      const picture = words('Read me in any form');
      for (const part of [
        { type: 'image_url', image_url: dataUri(picture) },
        { type: 'image', format: 'base64', value: base64(picture) },
        { type: 'image', value: dataUri(picture) },
      ])
        expect(await contentOf([part])).toBe('Read me in any form');
    },
    LONG,
  );

  it(
    'a conversation, of which the last user message is read',
    async () => {
      const { body } = await host.post('/v1/chat/completions', {
        model: 'svc-ocr-v1',
        messages: [
          { role: 'system', content: 'You read pages.' },
          { role: 'user', content: [image(words('The first page'))] },
          { role: 'assistant', content: 'The first page' },
          { role: 'user', content: [image(words('The last page'))] },
        ],
      });
      expect(body.choices[0].message.content).toBe('The last page');
    },
    LONG,
  );

  it(
    'a PDF, with all pages or the named ones',
    async () => {
      const pdf = await pdfOf(words('Page number one'), words('Page number two'), words('Page number three'));
      const all = ['Page number one', 'Page number two', 'Page number three'].join('\n\n---\n\n');
      expect(await contentOf([pdfPart(pdf)])).toBe(all);
      expect(await contentOf([pdfPart(pdf, '3,1-2')])).toBe(
        ['Page number three', 'Page number one', 'Page number two'].join('\n\n---\n\n'),
      );
      const { status, body } = await ask([pdfPart(pdf, '4')]);
      expect([status, body.error.param]).toEqual([400, 'messages[0].content[0].file.pages']);
    },
    LONG,
  );

  it(
    'a TIFF of several pages',
    async () => {
      const pages = [words('The upper page'), words('The lower page')];
      const tall = await sharp({ create: { width: 700, height: 320, channels: 3, background: '#fff' } })
        .composite(pages.map((input, at) => ({ input, left: 0, top: 160 * at })))
        .png()
        .toBuffer();
      const raw = await sharp(tall).removeAlpha().raw().toBuffer();
      const tiff = await sharp(raw, { raw: { width: 700, height: 320, channels: 3, pageHeight: 160 } })
        .tiff()
        .toBuffer();
      expect(await contentOf([image(tiff, 'image/tiff')])).toBe('The upper page\n\n---\n\nThe lower page');
    },
    LONG,
  );
});

it(
  'an image URL is fetched under the same rules as any other URL',
  async () => {
    const secret = await startSecret();
    secretOrigin = secret.origin;
    const read = (path: string) => ask([{ type: 'image_url', image_url: { url: `http://${siteHost}${path}` } }]);
    expect((await read('/page.png')).body.choices[0].message.content).toBe('Read me from afar');
    const failures: unknown[] = [];
    for (const path of ['/inside', '/endless', '/none']) {
      const { status, body } = await read(path);
      failures.push([status, body.error.param, body.error.message.replace(/^.*' /, '')]);
    }
    const param = 'messages[0].content[0].image_url.url';
    expect(failures).toEqual([
      [400, param, 'cannot be fetched'],
      [400, param, 'is larger than 32 MB'],
      [400, param, 'cannot be fetched: the server responded with status 404'],
    ]);
    expect(secret.connections()).toBe(0);
  },
  LONG,
);

describe('bad input is refused with the parameter', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>';
  /** A PNG whose header declares 30,000 pixels per side. */
  async function hugePng(): Promise<Buffer> {
    const small = await sharp(blank).png().toBuffer();
    const lying = Buffer.from(small);
    lying.writeUInt32BE(30_000, 16);
    lying.writeUInt32BE(30_000, 20);
    return lying;
  }
  const encrypted = Buffer.from(
    Buffer.from(drawPdf({ pages: [{ content: 'BT /F1 12 Tf 72 720 Td (secret) Tj ET' }] }))
      .toString('latin1')
      .replace(
        'trailer\n<<',
        `trailer\n<< /Encrypt << /Filter /Standard /V 1 /R 2 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> /P -4 >> /ID [<00><00>]`,
      ),
    'latin1',
  );

  it.each([
    ['no bytes', () => image(Buffer.alloc(0)), /is empty/],
    [
      'bytes that are no image',
      () => image(Buffer.from('just some words that say nothing of pixels')),
      /must be a PNG, JPEG, WebP or TIFF image, or a PDF|is not an image/,
    ],
    ['SVG with a script', () => image(Buffer.from(svg), 'image/svg+xml'), /SVG/],
    ['SVG that is declared as PNG', () => image(Buffer.from(svg)), /SVG/],
    ['30,000 pixels per side', async () => image(await hugePng()), /pixels/],
    ['a PDF with a password', () => pdfPart(encrypted), /protected by a password/],
    ['a truncated image', () => image(words('x').subarray(0, -30)), /truncated/],
    [
      'a header with a wrong size',
      () => image(withDeclaredSize(words('x'), 3_000, 2_000)),
      /cannot be read: it is damaged/,
    ],
    ['half a PNG header', () => image(Buffer.from('89504e470d0a1a0a0000000d', 'hex')), /truncated/],
    ['more than 8 MB', () => image(Buffer.concat([words('x'), Buffer.alloc(8 * 1024 * 1024)])), /larger than 8 MB/],
    ['broken base64', () => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,%%%' } }), /base64/],
    ['another scheme', () => ({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }), /http\(s\) URL/],
    [
      'a URL of this machine',
      () => ({ type: 'image_url', image_url: { url: 'http://127.0.0.1:1/x.png' } }),
      /cannot be fetched$/,
    ],
    [
      'a URL of a cloud metadata service',
      () => ({ type: 'image_url', image_url: { url: 'http://169.254.169.254/latest' } }),
      /cannot be fetched$/,
    ],
  ])(
    '%s',
    async (_, part, message) => {
      const { status, body } = await ask([{ type: 'text', text: 'Read this.' }, await part()]);
      expect([status, body.error.type, body.error.code]).toEqual([400, 'invalid_request_error', null]);
      expect(body.error.param).toMatch(/^messages\[0\]\.content\[1\]\./);
      expect(body.error.message).toMatch(message);
      expect(body.error.request_id).toMatch(/^[0-9a-f]{32}$/);
      expect(JSON.stringify(body)).not.toMatch(/\/tmp|node_modules/);
    },
    LONG,
  );

  it.each([
    ['no model', { messages: [] }, 'model'],
    ['no messages', { model: 'lectern-ocr' }, 'messages'],
    ['an empty list', { model: 'lectern-ocr', messages: [] }, 'messages'],
    ['no image', asking('Hello'), 'messages'],
    ['a role', { model: 'lectern-ocr', messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['a part', asking([{ type: 'input_audio' }]), 'messages[0].content[0].type'],
    ['n', asking('x', { n: 2 }), 'n'],
    ['max_tokens', asking('x', { max_tokens: 0 }), 'max_tokens'],
    ['output_format', asking('x', { output_format: 'pdf' }), 'output_format'],
    ['temperature', asking('x', { temperature: 3 }), 'temperature'],
    ['stream', asking('x', { stream: 'yes' }), 'stream'],
    ['pages', asking([pdfPart(Buffer.from('%PDF-1.7'), '0')]), 'messages[0].content[0].file.pages'],
    ['21 images', asking(Array.from({ length: 21 }, () => image(blank))), 'messages'],
  ])('%s', async (_, body, param) => {
    const answer = await host.post('/v1/chat/completions', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code: null, param });
  });

  it('a model that is not served', async () => {
    const { status, body } = await host.post('/v1/chat/completions', { ...asking('x'), model: 'no-such-model' });
    expect([status, body.error.code]).toEqual([400, 'INPUT_MODEL_NOT_FOUND']);
    expect(body.error.message).toBe(
      'Model no-such-model not found. Available for /v1/chat/completions: lectern-ocr, svc-ocr-v1, svc-ocr',
    );
  });

  it('a prompt that is too long', async () => {
    const { status, body } = await ask([{ type: 'text', text: 'word '.repeat(40_000) }, image(blank)]);
    expect([status, body.error.code]).toEqual([400, 'INPUT_TOKEN_LIMIT_EXCEEDED']);
  });

  it(
    'more tokens than the limit of a minute, before an image is read',
    async () => {
      const small = await startChatHost({ accounts: { 'free-key': { plan: 'free', balance: null } } });
      try {
        const large = await sharp({ create: { width: 6_000, height: 6_000, channels: 3, background: '#fff' } })
          .png()
          .toBuffer();
        const part = image(large);
        const body = JSON.stringify(asking(Array(20).fill(part), { max_tokens: 1 }));
        const admitted = new AbortController();
        // 144 tiles for each image are 244,800 tokens, and 500,000 tokens are left in this minute.
        const answers = [1, 2, 3].map(() =>
          fetch(`${small.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: 'Bearer free-key' },
            body,
            signal: admitted.signal,
          }),
        );
        const refused = await Promise.any(
          answers.map(async (answer) => {
            expect((await answer).status).toBe(429);
            return (await answer).json();
          }),
        );
        expect(refused).toMatchObject({
          error: { code: 'RATE_TOKEN_LIMIT_EXCEEDED', type: 'rate_limit_error' },
        });
        // The others were admitted. There is no need to read their responses to the end.
        admitted.abort();
        const ended = await Promise.allSettled(answers);
        expect(ended.filter((one) => one.status === 'fulfilled' && one.value.status === 429)).toHaveLength(1);
      } finally {
        await small.close();
      }
    },
    LONG,
  );

  it(
    'a body that is too large, an empty balance, a deadline and a wrong key',
    async () => {
      const small = await startChatHost({
        accounts: { 'poor-key': { plan: 'free', balance: 0 } },
        maxBodyBytes: 100_000,
        deadlineMs: 1,
      });
      const errorOf = async (content: unknown, headers?: Record<string, string>) => {
        const { status, body } = await small.post('/v1/chat/completions', asking(content), headers);
        return [status, body.error.type, body.error.code];
      };
      try {
        expect(await errorOf('x'.repeat(200_000))).toEqual([413, 'invalid_request_error', null]);
        const poor = { authorization: 'Bearer poor-key' };
        expect(await errorOf([image(blank)], poor)).toEqual([403, 'permission_error', 'AUTHZ_INSUFFICIENT_BALANCE']);
        expect(await errorOf([image(blank)])).toEqual([504, 'server_error', 'SERVICE_TIMEOUT']);
        const none = { authorization: 'Bearer not-a-key' };
        expect(await errorOf([], none)).toEqual([401, 'authentication_error', 'AUTH_INVALID_API_KEY']);
        expect(await errorOf([], { authorization: '' })).toEqual([401, 'authentication_error', 'AUTH_MISSING_API_KEY']);
      } finally {
        await small.close();
      }
    },
    LONG,
  );

  it('leaves no file behind', async () => {
    // Text recognition has its working directory there, with a subfolder for each run.
    const left = () => readdirSync(host.temporaryDir, { recursive: true }).filter((name) => name !== 'programs');
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });
});

it('is in the list of models', async () => {
  const list = (await (await fetch(`${host.url}/v1/models`)).json()) as { data: Record<string, unknown>[] };
  expect(list.data.find(({ id }) => id === 'lectern-ocr')).toMatchObject({
    object: 'model',
    input_modalities: ['text', 'image', 'file'],
    output_modalities: ['text'],
  });
  const one = (await (await fetch(`${host.url}/v1/models/svc-ocr`)).json()) as Record<string, unknown>;
  expect(one.object).toBe('model');
});
