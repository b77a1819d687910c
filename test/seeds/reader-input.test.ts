/** Sections 4.2 and 4.3: the content to read, and its URL. */
import { afterAll, beforeAll, expect } from 'vitest';
import { makePdf, officeFiles } from './files.ts';
import { type Headers, type ReaderHost, refused, send, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

const HTML = '<title>Tea</title><h1>Tea</h1><p>Green tea is drunk hot, and <a href="next">sometimes</a> cold.</p>';
const GREEN = 'Green tea is drunk hot';

let host: ReaderHost;
let pdf: Buffer;
beforeAll(async () => {
  pdf = await makePdf();
  host = await startReader({
    pages: {
      '/old/page': ({ response }) => void response.writeHead(301, { location: '/new/place' }).end(),
      '/new/place': '<title>Place</title><p>A page that has a <a href="next">relative link</a> in it.</p>',
    },
  });
});
afterAll(() => host.close());

const article = () => `${host.site.origin}/article`;
const base64 = () => pdf.toString('base64');
const upload = async (name: string, bytes: Buffer, filename: string) => {
  const body = new FormData();
  body.set(name, new Blob([new Uint8Array(bytes)]), filename);
  return send(host.server.reader, { method: 'POST', headers: {}, body });
};

hosted.row('4.2', 'The URL to read is given in the path, or in query parameter `url`.', async () => {
  const byPath = await host.at(article());
  const byQuery = await host.get({ url: article() });
  expect(byPath.data).toMatchObject({ title: 'The harbour at night', url: article() });
  expect(byQuery.text).toBe(byPath.text);
  expect((await host.at(encodeURIComponent(article()))).text).toBe(byPath.text);
});

hosted.row(
  '4.2',
  'When no `url` is given, `html` (raw HTML to convert) or `file` / `pdf` (base64-encoded content, or a file object) is used instead.',
  async () => {
    expect((await host.read({ html: HTML })).data.content).toContain(GREEN);
    for (const name of ['file', 'pdf']) {
      const { title } = (await host.read({ [name]: base64() })).data;
      expect(title, name).toBe('On kilns');
      const object = { data: base64(), name: 'kilns.pdf', type: 'application/pdf' };
      expect((await host.post({ [name]: object })).data.title, name).toBe('On kilns');
      expect((await upload(name, pdf, 'kilns.pdf')).data.title, name).toBe('On kilns');
    }
    expect((await host.get({ url: article() })).data.title).toBe('The harbour at night');
    expect((await host.post({})).status).toBe(400);
  },
  'A file object is a part of a form, or JSON with `data` in base64 and optional `name` and `type`.',
);

hosted.row(
  '4.2',
  'Responses are negotiated with header `Accept`: `text/event-stream`, `application/json` or `text/json`, `text/plain`.',
  async () => {
    for (const [accept, type] of [
      ['text/event-stream', 'text/event-stream'],
      ['application/json', 'application/json'],
      ['text/json', 'application/json'],
      ['text/plain', 'text/plain'],
    ] as const) {
      const { headers, text, status } = await host.read({ html: HTML }, { accept });
      expect([accept, status, headers.get('content-type')]).toEqual([accept, 200, `${type}; charset=utf-8`]);
      if (accept === 'text/event-stream') expect(text).toMatch(/^event: data\ndata: \{"title":"Tea"/);
      else if (accept === 'text/plain') expect(text).toMatch(/^Title: Tea\n/);
      else expect(JSON.parse(text)).toMatchObject({ code: 200, data: { title: 'Tea' } });
    }
  },
);

hosted.row(
  '4.2',
  'The GET and POST operations at the root path are declared with optional bearer security (a key may be omitted).',
  async () => {
    const headers = host.key();
    const { paths, components } = (await send(`${host.server.reader}/openapi.json`, { headers: {} })).json;
    for (const method of ['get', 'post']) {
      const { security } = paths['/'][method];
      expect(security).toContainEqual({});
      const [name] = Object.keys(security.find((one: object) => Object.keys(one).length > 0));
      expect(components.securitySchemes[name!]).toMatchObject({ type: 'http', scheme: 'bearer' });
    }
    for (const own of [{}, headers]) expect((await host.read({ html: HTML }, own)).status).toBe(200);
    const wrong = await host.read({ html: HTML }, { authorization: 'Bearer lectern_wrong' });
    expect(wrong.status).toBe(401);
  },
);

/** The parameters up to `retainLinks`, in the order of section 4.3, each with a value. */
const UP_TO_RETAIN_LINKS: Values = {
  url: 'https://tea.test/page',
  preloadUrl: 'https://tea.test/first',
  noServiceWorker: 'true',
  html: HTML,
  base: 'final',
  pdf: '!',
  file: '!',
  page: '1',
  respondWith: 'text',
  withGeneratedAlt: 'false',
  retainImages: 'alt',
  retainMedia: 'text',
  preset: 'index',
  retainLinks: 'text',
};

hosted.row(
  '4.2',
  'The POST operation is shown to accept the same query parameters as GET up to retainLinks; its remaining parameters, its headers and any request body: not shown.',
  async () => {
    // Sent in the query of a POST request without a body.
    for (const [name, value] of Object.entries(UP_TO_RETAIN_LINKS)) {
      const options = { url: 'https://tea.test/page', html: HTML, [name]: value } as Record<string, string>;
      if (name === 'pdf' || name === 'file') options.html = '';
      const url = `${host.server.reader}/?${new URLSearchParams(options)}`;
      const byGet = await send(url, { headers: {} });
      const byPost = await send(url, { headers: {}, method: 'POST' });
      expect([byPost.status, byPost.text], name).toEqual([byGet.status, byGet.text]);
    }
  },
  'POST takes every option, in the query, in a JSON or form body, and in headers.',
);

hosted.row(
  '4.3',
  'url | string | none | URL to read; unnecessary when the URL is in the path',
  async () => {
    const { data } = await host.read({ url: article() });
    expect(data).toMatchObject({ title: 'The harbour at night', url: article() });
    expect((await host.at(article())).data).toEqual(data);
    expect(await host.post({})).toMatchObject(refused('url'));
    expect(await host.read({ url: 'ftp://tea.test/' })).toMatchObject({ status: 400, json: { path: 'url' } });
  },
  '`GET /` without anything to read answers with the addresses of the hosts.',
);

hosted.row(
  '4.3',
  'html | string | none | Raw HTML to convert; used when no url is given',
  async () => {
    const { data } = await host.read({ html: HTML });
    expect(data).toMatchObject({ title: 'Tea', url: expect.stringMatching(/^blob:/) });
    expect(data.content).toContain(GREEN);
    expect((await host.read({ url: article() })).data.content).not.toContain(GREEN);
  },
  'With a URL too, the HTML is converted, and the URL is the base of its links.',
);

hosted.row(
  '4.3',
  'base | enum: initial, final | initial | Base mode for relative URLs',
  async () => {
    const read = (options: Values) => host.read({ url: `${host.site.origin}/old/page`, ...options });
    const initial = await read({ base: 'initial' });
    expect(initial.data.content).toContain(`[relative link](${host.site.origin}/old/next)`);
    expect((await read({})).text).toBe(initial.text);
    const final = await read({ base: 'final' });
    expect(final.data.content).toContain(`[relative link](${host.site.origin}/new/next)`);
    expect(await read({ base: 'other' })).toMatchObject(refused('base'));
  },
  'The mode also says which URL the answer shows.',
);

hosted.row('4.3', 'pdf | file object or string | none | Base64-encoded PDF', async () => {
  const { data } = await host.read({ pdf: base64() });
  expect(data).toMatchObject({ title: 'On kilns', numPages: 2 });
  expect(data.content).toMatch(/speaks of clay\.[\s\S]*speaks of fire\./);
  const object = { data: base64(), name: 'kilns.pdf', type: 'application/pdf' };
  expect((await host.post({ pdf: object })).data.content).toBe(data.content);
  expect((await upload('pdf', pdf, 'kilns.pdf')).data.content).toBe(data.content);
  expect(await host.read({ pdf: '!' })).toMatchObject({ status: 422, json: { path: 'pdf' } });
});

hosted.row(
  '4.3',
  'file | file object or string | none | Base64-encoded file (PDF, DOC, XLS, PPT and others) to convert instead of a URL',
  async () => {
    const files = [{ name: 'kilns.pdf', bytes: pdf, words: 'speaks of clay' }, ...officeFiles()];
    await Promise.all(
      files.map(async ({ name, bytes, words }) => {
        const data = bytes.toString('base64');
        // The type of all other files is detected from their bytes.
        const file = name.endsWith('.csv') ? { data, name } : data;
        expect((await host.post({ file })).json, name).toMatchObject({
          data: { content: expect.stringContaining(words) },
        });
      }),
    );
    const form = await upload('file', Buffer.from('a,b\n1,2\n'), 'table.csv');
    expect(form.data.content).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |');
    expect((await host.read({ file: base64() })).data.title).toBe('On kilns');
    expect(await host.read({ file: '!' })).toMatchObject({ status: 422, json: { path: 'file' } });
  },
);

hosted.row(
  '4.3',
  'page | number, integer >= 1 | none | Page to return for document files (1-indexed); ignored when no file/PDF is uploaded',
  async () => {
    const page = async (options: Values) => (await host.read({ pdf: base64(), ...options })).data.content;
    const [whole, first, second] = [await page({}), await page({ page: 1 }), await page({ page: 2 })];
    expect(whole).toMatch(/clay[\s\S]*fire/);
    expect([first.includes('clay'), first.includes('fire')]).toEqual([true, false]);
    expect([second.includes('clay'), second.includes('fire')]).toEqual([false, true]);
    const file = (await host.read({ file: base64(), page: '2' })).data.content;
    expect(file).toBe(second);
    for (const wrong of [0, -1, 1.5, 'first'])
      expect(await host.read({ pdf: base64(), page: wrong })).toMatchObject(refused('page'));
    // No file is uploaded.
    const url = article();
    const { content } = (await host.read({ url })).data;
    expect((await host.read({ url, page: 2 })).data.content).toBe(content);
    expect((await host.read({ html: HTML, page: 2 })).data.content).toContain(GREEN);
  },
  'Of a document that is read by its URL, the page is returned too.',
);

/** Options that are missing in table 4.4 have a header too. `test/seeds/reader-headers.test.ts` tests the others. */
async function expectHeaders() {
  const byHeader = (headers: Headers) => send(`${host.server.reader}/`, { headers });
  expect((await byHeader({ 'x-url': article() })).data.title).toBe('The harbour at night');
  expect((await byHeader({ 'x-html': HTML })).data.content).toContain(GREEN);
  for (const name of ['x-file', 'x-pdf']) expect((await byHeader({ [name]: base64() })).data.title).toBe('On kilns');
  const plain = await byHeader({ 'x-html': '<p>Some <del>old</del> text.</p>', 'x-no-gfm': 'true' });
  expect(plain.data.content).toBe('Some old text.');
  // Without a browser and without a model, these options are refused by name.
  for (const [name, header, value] of [
    ['injectPageScript', 'x-inject-page-script', 'document.title = 1'],
    ['injectFrameScript', 'x-inject-frame-script', 'document.title = 1'],
    ['jsonSchema', 'x-json-schema', '{"type": "object"}'],
    ['instruction', 'x-instruction', 'Be brief.'],
    ['zeroDataRetention', 'x-zero-data-retention', 'true'],
  ] as const) {
    const asOption = await host.get({ html: HTML, engine: 'direct', [name]: value });
    const asHeader = await host.get({ html: HTML, engine: 'direct' }, { [header]: value });
    expect([name, asHeader.status, asHeader.text]).toEqual([name, asOption.status, asOption.text]);
  }
}

hosted.row(
  '4.3',
  'Every option below can also be given as a request header (table 4.4). Types named pseudo-boolean accept boolean-like text values; their accepted literals: not shown. The shape of the file object accepted by `pdf` and `file`: not shown.',
  async () => {
    await expectHeaders();
    const bold = '<p>Some <del>old</del> text of a page.</p>';
    const isOn = async (value: unknown) => !(await host.post({ html: bold, noGfm: value })).text.includes('~~old~~');
    for (const text of ['true', 'yes', '1', 'on', 'TRUE']) expect([text, await isOn(text)]).toEqual([text, true]);
    for (const text of ['false', 'no', '0', 'none', 'null', 'nil', 'nan', 'undefined', '', 'False'])
      expect([text, await isOn(text)]).toEqual([text, false]);
    expect([await isOn(true), await isOn(1), await isOn(false), await isOn(0), await isOn(null)]).toEqual([
      ...[true, true],
      ...[false, false, false],
    ]);
  },
  'False are `false`, `no`, `none`, `null`, `nil`, `nan`, `undefined`, `0` and the empty text; all other text is true.',
);
