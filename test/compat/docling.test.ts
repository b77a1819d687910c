/** docling-serve's API on the compat host, through the whole server. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { DOCX_TYPE, glazeDocx, kilnPdf } from './documents.suite.ts';

let site: Site;
let server: TestServer;
let key: string;
let pdf: Uint8Array;
let docx: Uint8Array;

beforeAll(async () => {
  [pdf, docx] = await Promise.all([kilnPdf(), glazeDocx()]);
  site = await startSite({
    '/kiln.pdf': ({ response }) =>
      void response.writeHead(200, { 'content-type': 'application/pdf' }).end(Buffer.from(pdf)),
    '/wall': ({ response }) =>
      void response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<title>Access denied</title><h1>Access denied</h1>'),
  });
  server = await startServer({ allowNetworks: site.allow.join(',') });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await site.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Json = any;

async function request(url: string, init: RequestInit = {}) {
  const answer = await fetch(server.urls.compat + url, { ...init, headers: { 'x-api-key': key, ...init.headers } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return {
    status: answer.status,
    headers: answer.headers,
    bytes,
    json: isJson ? (JSON.parse(String(bytes)) as Json) : undefined,
  };
}

const post = (url: string, body: unknown) =>
  request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

function form(file: Uint8Array, name: string, type: string, fields: readonly (readonly [string, string])[] = []) {
  const body = new FormData();
  body.append('files', new File([Buffer.from(file)], name, { type }));
  for (const [field, value] of fields) body.append(field, value);
  return { method: 'POST', body };
}

const source = (url: string) => ({ kind: 'http', url });
const file = (bytes: Uint8Array, filename: string) => ({
  kind: 'file',
  base64_string: Buffer.from(bytes).toString('base64'),
  filename,
});

describe('convert/file', () => {
  it('as Open WebUI sends it', async () => {
    const fields = [['image_export_mode', 'placeholder']] as const;
    const { status, json } = await request(
      '/v1/convert/file',
      form(docx, '/app/uploads/glaze.docx', DOCX_TYPE, fields),
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'success', errors: [], timings: {}, processing_time: expect.any(Number) });
    expect(json.document).toEqual({
      filename: 'glaze.docx',
      md_content: expect.stringContaining('<!-- image -->'),
      json_content: null,
      html_content: null,
      text_content: null,
      doctags_content: null,
    });
    expect(json.document.md_content).toMatch(/^# Glazes\n\n.*\n\n[*-]\s+Feldspar/);
    expect(json.document.md_content).not.toContain('![');
  });

  it('writes all formats; a DoclingDocument has pages, boxes and references that resolve', async () => {
    const fields = ['md', 'html', 'text', 'json'].map((format) => ['to_formats', format] as const);
    const { json } = await request('/v1/convert/file', form(pdf, 'kiln.pdf', 'application/pdf', fields));
    const { html_content: html, text_content: text, json_content: made } = json.document;
    expect(html).toContain('<h1>Clay</h1>');
    expect(text).toMatch(/^Clay\nThe first page[^\n]*\n\nWheel\n/);
    expect(made).toMatchObject({
      schema_name: 'DoclingDocument',
      name: 'kiln',
      origin: { mimetype: 'application/pdf', filename: 'kiln.pdf' },
      pages: { 1: { page_no: 1, size: { width: 595, height: 842 } }, 3: { page_no: 3 } },
    });
    expect(made.body.children).toHaveLength(6);
    const [title, sentence] = made.texts;
    expect(title).toMatchObject({ self_ref: '#/texts/0', label: 'title', text: 'Clay', parent: { $ref: '#/body' } });
    expect(sentence).toMatchObject({ label: 'text', prov: [{ page_no: 1, bbox: { coord_origin: 'TOPLEFT' } }] });
    const { l, t, r, b } = sentence.prov[0].bbox;
    expect([Math.round(l), t > 842 - 740 && b < 842 - 710, r > l]).toEqual([50, true, true]);
  });

  it('lists and tables of a DoclingDocument', async () => {
    const { json } = await request('/v1/convert/file', form(docx, 'glaze.docx', DOCX_TYPE, [['to_formats', 'json']]));
    const { groups, texts, tables, pictures } = json.document.json_content;
    expect(groups).toMatchObject([{ label: 'list', children: [{ $ref: '#/texts/2' }, { $ref: '#/texts/3' }] }]);
    expect(texts[2]).toMatchObject({
      label: 'list_item',
      text: 'Feldspar melts first.',
      parent: { $ref: '#/groups/0' },
    });
    expect(tables[0].data).toMatchObject({ num_rows: 3, num_cols: 2 });
    expect(tables[0].data.grid[1].map((cell: Json) => cell.text)).toEqual(['Ash', '1260']);
    expect(tables[0].data.table_cells[0]).toMatchObject({
      text: 'Glaze',
      column_header: true,
      start_col_offset_idx: 0,
    });
    expect(pictures).toMatchObject([{ label: 'picture', annotations: [{ text: 'A red square' }] }]);
  });

  it('pictures as data URLs and as URLs of the same host', async () => {
    const embedded = await request(
      '/v1/convert/file',
      form(docx, 'glaze.docx', DOCX_TYPE, [['image_export_mode', 'embedded']]),
    );
    expect(embedded.json.document.md_content).toMatch(/!\[[^\]]*A red square\]\(data:image\/png;base64,/);
    const referenced = await request(
      '/v1/convert/file',
      form(docx, 'glaze.docx', DOCX_TYPE, [['image_export_mode', 'referenced']]),
    );
    const url = /\((http[^)]+)\)/.exec(referenced.json.document.md_content)![1]!;
    expect(new URL(url).origin).toBe(server.urls.compat);
    expect((await fetch(url)).headers.get('content-type')).toBe('image/png');
  });

  it('selects pages, and joins them with the placeholder', async () => {
    const fields = [
      ['page_range', '2'],
      ['page_range', '3'],
      ['md_page_break_placeholder', '<!-- break -->'],
    ] as const;
    const { json } = await request('/v1/convert/file', form(pdf, 'kiln.pdf', 'application/pdf', fields));
    expect(json.document.md_content).toMatch(/^# Wheel\n\n[^\n]*\n\n<!-- break -->\n\n# Fire\n\n[^\n]*$/);
  });

  it('names options without an effect', async () => {
    const fields = [
      ['do_ocr', 'false'],
      ['table_mode', 'fast'],
      ['force_ocr', 'false'],
    ] as const;
    const { headers } = await request('/v1/convert/file', form(pdf, 'kiln.pdf', 'application/pdf', fields));
    expect(headers.get('x-lectern-ignored')).toBe('table_mode, do_ocr');
  });
});

describe('convert/source', () => {
  it('a URL, and the form of v1alpha', async () => {
    const { json } = await post('/v1/convert/source', { sources: [source(`${site.origin}/kiln.pdf`)] });
    expect(json.document).toMatchObject({ filename: 'kiln.pdf', md_content: expect.stringContaining('# Clay') });
    const older = await post('/v1alpha/convert/source', { http_sources: [{ url: `${site.origin}/kiln.pdf` }] });
    expect(older.json.document.md_content).toBe(json.document.md_content);
  });

  it('as RAGFlow sends it: a file in base64, with fields for chunks', async () => {
    const options = { from_formats: ['pdf'], to_formats: ['json', 'md', 'text'], do_chunking: true };
    const { json, headers } = await post('/v1/convert/source', { options, sources: [file(pdf, 'kiln.pdf')] });
    expect(json.document.text_content).toContain('The second page');
    expect(headers.get('x-lectern-ignored')).toBe('do_chunking');
    const skipped = await post('/v1/convert/source', { options, sources: [file(docx, 'glaze.docx')] });
    expect(skipped.json.status).toBe('skipped');
  });

  it('a source that cannot be read is a failure with status 200', async () => {
    for (const bad of [file(Buffer.from('%PDF-1.7 nothing'), 'a.pdf'), source(`${site.origin}/wall`)]) {
      const { status, json } = await post('/v1/convert/source', { sources: [bad] });
      expect([status, json.status, json.document.md_content]).toEqual([200, 'failure', null]);
      expect(json.errors[0].error_message).not.toBe('');
    }
  });

  it('several sources are an archive', async () => {
    const { headers, bytes } = await post('/v1/convert/source', {
      sources: [file(pdf, 'kiln.pdf'), file(docx, 'glaze.docx')],
    });
    expect(headers.get('content-type')).toBe('application/zip');
    expect(bytes.includes('1-kiln.md') && bytes.includes('2-glaze.md') && bytes.includes('# Glazes')).toBe(true);
  });

  it.each<[string, unknown, number, RegExp]>([
    ['no source', {}, 422, /sources/],
    [
      'a format that is not offered',
      { sources: [source('https://a.example')], options: { to_formats: ['doctags'] } },
      422,
      /to_formats/,
    ],
    ['an unknown kind of source', { sources: [{ kind: 's3' }] }, 422, /sources/],
    [
      'a range that is no range',
      { sources: [source('https://a.example')], options: { page_range: [3, 1] } },
      422,
      /page_range/,
    ],
    ['an address that must not be read', { sources: [source('http://169.254.169.254/latest')] }, 422, /./],
    [
      'text that is not base64',
      { sources: [{ kind: 'file', base64_string: '*', filename: 'a' }] },
      422,
      /base64_string/,
    ],
  ])('%s: %j', async (_, body, status, message) => {
    const answer = await post('/v1/convert/source', body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: expect.stringMatching(message) });
  });

  it('a wrong key is 401', async () => {
    const answer = await request('/v1/convert/source', {
      method: 'POST',
      headers: { 'x-api-key': 'wrong' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
  });
});

describe('tasks', () => {
  const start = async () =>
    (await request('/v1/convert/file/async', form(pdf, 'kiln.pdf', 'application/pdf'))).json as Json;

  async function finished(id: string): Promise<Json> {
    for (;;) {
      const { json } = await request(`/v1/status/poll/${id}?wait=5`);
      if (json.task_status !== 'started') return json;
    }
  }

  it('end with a result, which only their owner sees', async () => {
    const task = await start();
    expect(task).toMatchObject({ task_type: 'convert', task_meta: { num_docs: 1 }, error_message: null });
    expect(await finished(task.task_id)).toMatchObject({
      task_status: 'success',
      task_meta: { num_docs: 1, num_processed: 1, num_succeeded: 1, num_failed: 0 },
    });
    const { json } = await request(`/v1/result/${task.task_id}`);
    expect(json.document.md_content).toContain('# Clay');
    expect((await fetch(`${server.urls.compat}/v1/result/${task.task_id}`)).status).toBe(404);
    const unknown = await request('/v1/status/poll/00000000-0000-0000-0000-000000000000');
    expect([unknown.status, unknown.json]).toEqual([404, { detail: 'Task not found.' }]);
  });

  it('are charged', async () => {
    const before = await spent();
    await finished((await start()).task_id);
    await expect.poll(spent).toBeGreaterThan(before);
  });

  async function spent(): Promise<number> {
    await server.app.accounts.usage.flush();
    const [sum] = await server.app.accounts.usage.sums({ by: [] });
    return sum!.tokens;
  }

  it('of a server that was restarted have failed, and say so', async () => {
    const task = await start();
    await finished(task.task_id);
    const dir = path.join(server.dataDir, 'compat', 'tasks');
    const id = 'f0000000-0000-4000-8000-000000000000';
    const { owner } = JSON.parse(await readFile(path.join(dir, `${task.task_id}.json`), 'utf8'));
    const record = { id, owner, createdAt: Date.now(), status: 'started', parts: 1, failed: 0 };
    await writeFile(path.join(dir, `${id}.json`), JSON.stringify(record));
    const { json } = await request(`/v1/status/poll/${id}`);
    expect(json).toMatchObject({ task_status: 'failure', error_message: expect.stringContaining('restarted') });
    expect((await request(`/v1/result/${id}`)).status).toBe(404);
  });
});

it('state and versions', async () => {
  expect((await request('/health')).json).toMatchObject({ status: 'ok' });
  for (const url of ['/ready', '/livez', '/readyz', '/api'])
    expect((await request(url)).json).toEqual({ status: 'ok' });
  const { json } = await request('/version', { headers: { accept: 'application/json' } });
  expect(json).toMatchObject({ 'docling-serve': expect.any(String), lectern: '0.0.0-test' });
  expect((await request('/v1/chunk/hybrid/file', { method: 'POST', body: '{}' })).status).toBe(404);
});
