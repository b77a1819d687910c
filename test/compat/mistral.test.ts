/** Mistral's files and OCR on the compat host, through the whole server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnsPage } from '../support/drawn-page.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { DOCX_TYPE, glazeDocx, kilnPdf } from './documents.suite.ts';

const LONG_MS = 120_000;
let server: TestServer;
let key: string;
let pdf: Uint8Array;
let docx: Uint8Array;

beforeAll(async () => {
  server = await startServer();
  key = server.app.firstKey!;
  [pdf, docx] = await Promise.all([kilnPdf(), glazeDocx()]);
});
afterAll(() => server.close());

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Json = any;

async function request(path: string, init: RequestInit = {}) {
  const authorization = { authorization: `Bearer ${key}` };
  const answer = await fetch(server.urls.compat + path, { ...init, headers: { ...authorization, ...init.headers } });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Json };
}

const ocr = (document: unknown, fields: Record<string, unknown> = {}) =>
  request('/v1/ocr', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mistral-ocr-latest', document, ...fields }),
  });

const dataUrl = (bytes: Uint8Array, type: string) => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
const kiln = () => ({ type: 'document_url', document_url: dataUrl(pdf, 'application/pdf') });
const glaze = () => ({ type: 'document_url', document_url: dataUrl(docx, DOCX_TYPE), document_name: 'glaze.docx' });

async function upload(purpose = 'ocr'): Promise<{ status: number; json: Json }> {
  const body = new FormData();
  body.append('file', new File([Buffer.from(pdf)], 'kiln.pdf', { type: 'application/pdf' }));
  body.append('purpose', purpose);
  return request('/for/mistral/v1/files', { method: 'POST', body });
}

describe('files', () => {
  it('upload, signed URL, OCR and deletion, as Open WebUI and LibreChat do it', async () => {
    const { status, json: file } = await upload();
    expect(status).toBe(200);
    expect(file).toMatchObject({
      object: 'file',
      bytes: pdf.length,
      filename: 'kiln.pdf',
      purpose: 'ocr',
      sample_type: 'ocr_input',
      source: 'upload',
    });
    const { json: link } = await request(`/v1/files/${file.id}/url?expiry=1`, {
      headers: { accept: 'application/json' },
    });
    expect(new URL(link.url).origin).toBe(server.urls.compat);
    const bytes = Buffer.from(await (await fetch(link.url)).arrayBuffer());
    expect(bytes.equals(Buffer.from(pdf))).toBe(true);
    // The host of the link may be another name of this server.
    const elsewhere = link.url.replace(server.urls.compat, 'http://lectern.internal:1');
    const { json } = await ocr({ type: 'document_url', document_url: elsewhere }, { include_image_base64: false });
    expect(json.pages.map(({ index }: Json) => index)).toEqual([0, 1, 2]);
    expect(json.usage_info).toEqual({ pages_processed: 3, doc_size_bytes: pdf.length });
    const gone = await request(`/v1/files/${file.id}`, { method: 'DELETE' });
    expect(gone.json).toEqual({ id: file.id, object: 'file', deleted: true });
    expect((await ocr({ type: 'document_url', document_url: link.url })).status).toBe(404);
    expect((await fetch(link.url)).status).toBe(404);
  });

  it('are listed, described and read by their id, by their owner alone', async () => {
    const { json: file } = await upload();
    const { json: all } = await request('/v1/files?purpose=ocr');
    expect(all).toMatchObject({ object: 'list', total: expect.any(Number) });
    expect(all.data.map(({ id }: Json) => id)).toContain(file.id);
    expect((await request(`/v1/files/${file.id}`)).json).toEqual(file);
    // OpenAI's clients have the same paths, and see the same files.
    expect((await request('/v1/files')).json.data.map(({ id }: Json) => id)).toContain(file.id);
    expect((await request(`/for/openai/v1/files/${file.id}`)).json).toEqual(file);
    const { json } = await ocr({ type: 'file', file_id: file.id });
    expect(json.pages[0].markdown).toMatch(/^# Clay\n\nThe first page/);
    const account = await server.app.accounts.accounts.createAccount({ name: 'other', plan: 'premium' });
    const other = await server.app.accounts.accounts.mintKey({ accountId: account.id, name: 'other' });
    const foreign = { headers: { authorization: `Bearer ${other.key}` } };
    expect((await request(`/v1/files/${file.id}`, foreign)).status).toBe(404);
    expect((await request('/v1/files', foreign)).json.data).toEqual([]);
  });

  it('a forged or expired URL gives nothing', async () => {
    const { json: file } = await upload();
    const { url } = (await request(`/v1/files/${file.id}/url`)).json as { url: string };
    const later = url.replace(/expires=(\d+)/, (_, seconds) => `expires=${Number(seconds) + 1}`);
    const forged = url.replace(/signature=./, (found) => (found.endsWith('A') ? 'signature=B' : 'signature=A'));
    for (const bad of [later, forged, url.split('?')[0]!]) expect((await fetch(bad)).status).toBe(404);
  });

  it('need a key, and the purpose ocr', async () => {
    expect((await request('/v1/files', { headers: { authorization: '' } })).status).toBe(401);
    const { status, json } = await upload('batch');
    expect([status, json.detail[0].loc]).toEqual([422, ['body', 'purpose']]);
  });
});

describe('OCR', { timeout: LONG_MS }, () => {
  it('pages have sizes, and blocks with places', async () => {
    const { json } = await ocr(kiln(), { include_blocks: true });
    expect(json).toMatchObject({ model: 'mistral-ocr-latest', document_annotation: null });
    const [page] = json.pages;
    expect(page).toMatchObject({ index: 0, images: [], dimensions: { dpi: 200, width: 1653, height: 2339 } });
    expect(page.blocks).toMatchObject([
      { type: 'title', content: 'Clay' },
      { type: 'text', content: expect.stringMatching(/^The first page/) },
    ]);
    expect(page.blocks[1].top_left_x).toBe(Math.round((50 * 200) / 72));
    expect(page.blocks[1].bottom_right_y).toBeGreaterThan(page.blocks[1].top_left_y);
  });

  it.each([
    [
      [0, 2],
      [0, 2],
    ],
    ['1-2', [1, 2]],
    [[1], [1]],
  ])('pages %j', async (pages, indexes) => {
    const { json } = await ocr(kiln(), { pages });
    expect(json.pages.map(({ index }: Json) => index)).toEqual(indexes);
  });

  it('pictures have ids in the Markdown, and bytes on request', async () => {
    const { json } = await ocr(glaze(), { include_image_base64: true });
    const [{ markdown, images }] = json.pages;
    expect(markdown).toContain('![img-0.png](img-0.png)');
    expect(images).toMatchObject([
      { id: 'img-0.png', image_base64: expect.stringMatching(/^data:image\/png;base64,/) },
    ]);
    const without = (await ocr(glaze())).json.pages[0];
    expect(without.images).toMatchObject([{ id: 'img-0.png', image_base64: null }]);
    expect((await ocr(glaze(), { image_limit: 0 })).json.pages[0].images).toEqual([]);
  });

  it('tables are taken out of the Markdown', async () => {
    expect((await ocr(glaze())).json.pages[0].markdown).toContain('| Ash | 1260 |');
    const { markdown, tables } = (await ocr(glaze(), { table_format: 'html' })).json.pages[0];
    expect(markdown).toContain('[tbl-0.html](tbl-0.html)');
    expect(markdown).not.toContain('Ash');
    expect(tables).toMatchObject([
      { id: 'tbl-0.html', format: 'html', content: expect.stringContaining('<td>Ash</td>') },
    ]);
    expect((await ocr(glaze(), { table_format: 'markdown' })).json.pages[0].tables[0].content).toMatch(/^\| Glaze /);
  });

  it('recognizes the text of a picture', async () => {
    const { json } = await ocr({ type: 'image_url', image_url: { url: dataUrl(columnsPage, 'image/png') } });
    expect(json.pages).toHaveLength(1);
    expect(json.pages[0].markdown).toContain('Rivers carry sediment');
    expect(json.pages[0].dimensions.width).toBeGreaterThan(100);
  });

  it.each<[string, unknown, Record<string, unknown>, number, RegExp]>([
    ['no document', undefined, {}, 422, /document/],
    ['an unknown type', { type: 'audio_url' }, {}, 422, /document/],
    [
      'an address that must not be read',
      { type: 'document_url', document_url: 'http://169.254.169.254/' },
      {},
      422,
      /./,
    ],
    ['an unknown file', { type: 'file', file_id: '0b5a' }, {}, 404, /file/],
    ['pages that are none', { type: 'file', file_id: 'a' }, { pages: '3-1' }, 422, /pages/],
    [
      'an annotation',
      { type: 'file', file_id: 'a' },
      { bbox_annotation_format: { type: 'json' } },
      422,
      /bbox_annotation/,
    ],
    ['another model', { type: 'file', file_id: 'a' }, { model: 'mistral-large' }, 404, /mistral-large/],
  ])('%s', async (_, document, fields, status, message) => {
    const answer = await ocr(document, fields);
    expect(answer.status).toBe(status);
    const text = status === 422 ? answer.json.detail[0].msg : answer.json.message;
    expect(text).toMatch(message);
  });

  it('pages that the document does not have', async () => {
    const { status, json } = await ocr(kiln(), { pages: [7, 8] });
    expect([status, json.detail[0].loc]).toEqual([422, ['body', 'pages']]);
  });
});
