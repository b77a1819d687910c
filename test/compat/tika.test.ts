/** Apache Tika's API on the compat host, through the whole server. */

import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { DOCX_TYPE, glazeDocx, kilnPdf } from './documents.suite.ts';

let server: TestServer;
let pdf: Uint8Array;
let docx: Uint8Array;

beforeAll(async () => {
  server = await startServer();
  [pdf, docx] = await Promise.all([kilnPdf(), glazeDocx()]);
});
afterAll(() => server.close());

async function put(path: string, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const answer = await fetch(server.urls.compat + path, {
    method: 'PUT',
    headers,
    body: typeof body === 'string' ? body : Buffer.from(body),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  return { status: answer.status, headers: answer.headers, text, json: isJson ? (JSON.parse(text) as any) : undefined };
}

const LINES = ['Glazes', 'A glaze is a thin layer of glass & <ash>.', 'Feldspar melts first.', 'Quartz melts last.'];
const TABLE = ['Temperatures', 'Glaze\tDegrees', 'Ash\t1260', 'Salt\t1280'];

describe('PUT /tika', () => {
  it('answers with plain text: tables with tabs, an empty line between pages', async () => {
    const office = await put('/tika', docx, { 'content-type': DOCX_TYPE });
    expect([office.status, office.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(office.text.split('\n')).toEqual([...LINES, ...TABLE]);
    const pages = await put('/tika', pdf, { accept: 'text/plain' });
    expect(pages.text.split('\n\n')).toEqual([
      expect.stringMatching(/^Clay\nThe first page/),
      expect.stringMatching(/^Wheel\nThe second page/),
      expect.stringMatching(/^Fire\nThe third page/),
    ]);
  });

  it('answers with XHTML that has a div for each page', async () => {
    const { text, headers } = await put('/tika', pdf, { accept: 'text/html' });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toContain('<html xmlns="http://www.w3.org/1999/xhtml">');
    expect(text).toContain('<title>On kilns</title>');
    expect(text.match(/<div class="page">/g)).toHaveLength(3);
    const office = await put('/tika', docx, { accept: 'text/xml' });
    expect(office.text).toContain('layer of glass &amp; &lt;ash&gt;.</p>');
    expect(office.text).toContain('<ul><li>Feldspar melts first.</li><li>Quartz melts last.</li></ul>');
    expect(office.text).toContain('<td>Ash</td><td>1260</td>');
  });

  it('answers with JSON in the keys of versions 3 and 4', async () => {
    const { json } = await put('/tika', pdf, { accept: 'application/json' });
    expect(json).toMatchObject({
      'Content-Type': 'application/pdf',
      'Content-Length': String(pdf.length),
      'dc:title': 'On kilns',
      'dc:creator': 'Ada Potter',
      'pdf:docinfo:author': 'Ada Potter',
      'xmpTPg:NPages': '3',
      'X-TIKA:Parsed-By': expect.any(Array),
    });
    expect(json['dcterms:created']).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(json['X-TIKA:content']).toContain('<div class="page">');
    expect(json['tk:content']).toBe(json['X-TIKA:content']);
  });
});

describe('the calls of programs', () => {
  it('Open WebUI: PUT /tika/text', async () => {
    const { json } = await put('/tika/text', pdf, {
      'content-type': 'application/pdf',
      'x-tika-pdfextractinlineimages': 'true',
      accept: '*/*',
    });
    expect(json['X-TIKA:content']).toMatch(/^Clay\nThe first page/);
  });

  it('paperless-ngx: POST /tika/form/text and PUT /meta', async () => {
    const form = new FormData();
    form.append('upload-file', new File([Buffer.from(docx)], 'glaze.docx', { type: DOCX_TYPE }));
    const answer = await fetch(`${server.urls.compat}/tika/form/text`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: form,
    });
    expect(await answer.json()).toMatchObject({
      'Content-Type': DOCX_TYPE,
      resourceName: 'glaze.docx',
      'X-TIKA:content': [...LINES, ...TABLE].join('\n'),
    });
    const meta = await put('/meta', docx, { accept: 'application/json', 'content-type': DOCX_TYPE });
    expect(meta.json).toMatchObject({ 'Content-Type': DOCX_TYPE, 'dc:creator': 'Ada Potter' });
    expect(meta.json).not.toHaveProperty('X-TIKA:content');
  });

  it('tika-python: PUT /rmeta/text with gzip and a file name', async () => {
    const { json } = await put('/rmeta/text', gzipSync(docx), {
      accept: 'application/json',
      'content-encoding': 'gzip',
      'content-disposition': "attachment; filename*=UTF-8''gl%C3%A4ze.docx",
    });
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({ resourceName: 'gläze.docx', 'X-TIKA:embedded_depth': '0' });
    expect(json[0]['X-TIKA:content']).toContain('Ash\t1260');
  });

  it('Nextcloud full text search: PUT /tika with any type', async () => {
    const { status, text } = await put('/tika', '{"bees": ["honey"]}', { 'content-type': 'application/json' });
    expect([status, text]).toEqual([200, '{"bees": ["honey"]}']);
  });
});

describe('other endpoints', () => {
  it('one metadata field, as text and as CSV', async () => {
    expect((await put('/meta/dc:title', pdf)).text).toBe('On kilns');
    expect((await put('/meta/dc:title', pdf, { accept: 'text/csv' })).text).toBe('"dc:title","On kilns"\n');
    expect((await put('/meta/no-such-field', pdf)).status).toBe(404);
  });

  it('types and languages', async () => {
    expect((await put('/detect/stream', pdf)).text).toBe('application/pdf');
    expect((await put('/detect/stream', docx)).text).toBe(DOCX_TYPE);
    expect((await put('/detect/stream', 'PK\u0003\u0004 no archive')).text).toBe('application/zip');
    const german = 'Der Fluss fließt durch die Stadt und die Leute gehen über die Brücke.';
    expect((await put('/language/stream', german)).text).toBe('de');
  });

  it.each([
    ['/tika', /^This is Apache Tika/],
    ['/version', /^Apache Tika \d/],
    ['/status', /"OPERATING"/],
  ])('GET %s', async (path, body) => {
    const answer = await fetch(server.urls.compat + path);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(body);
  });
});

describe('errors are plain text', () => {
  const locked = () => readFile(new URL('../fixtures/office/locked-agile.docx', import.meta.url));

  it('an encrypted file is 422, and is read with its password', async () => {
    const refused = await put('/tika', await locked());
    expect([refused.status, refused.headers.get('content-type')]).toEqual([422, 'text/plain; charset=utf-8']);
    expect(refused.text).toMatch(/password/i);
    const read = await put('/tika', await locked(), { password: 'clay' });
    expect([read.status, read.text.includes('\n')]).toEqual([200, true]);
  });

  it.each<[string, string | Uint8Array, Record<string, string>, number]>([
    ['an empty file', '', {}, 422],
    ['a damaged file', '%PDF-1.7 nothing', {}, 422],
    ['an unknown type', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]), {}, 415],
    ['bytes that are not gzip', 'abc', { 'content-encoding': 'gzip' }, 422],
    ['a timeout that is no number', 'abc', { 'x-tika-timeout-millis': 'soon' }, 422],
  ])('%s', async (_, body, headers, status) => {
    expect((await put('/tika', body, headers)).status).toBe(status);
  });

  it('a wrong route of Tika is 404', async () => {
    expect((await put('/unpack', pdf)).status).toBe(404);
  });
});

it('callers in a private network are limited less if the operator admits Tika', async () => {
  const strict = await startServer({ keylessRpm: 1, compatKeyless: ['tika'] });
  try {
    const send = (path: string) => fetch(strict.urls.compat + path, { method: 'PUT', body: 'Bees dance.' });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await send('/tika')).status);
    expect(statuses).toEqual([200, 200, 200]);
    expect((await send('/process')).status).toBe(200);
    expect((await send('/process')).status).toBe(429);
  } finally {
    await strict.close();
  }
});
