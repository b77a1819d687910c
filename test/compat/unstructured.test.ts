/** Unstructured's API on the compat host, through the whole server. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { DOCX_TYPE, glazeDocx, kilnPdf } from './documents.suite.ts';

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
type Fields = readonly (readonly [name: string, value: string])[];
interface GivenFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly type: string;
}

async function partition(files: readonly GivenFile[], fields: Fields = [], apiKey = key) {
  const body = new FormData();
  for (const { bytes, name, type } of files) body.append('files', new File([Buffer.from(bytes)], name, { type }));
  for (const [name, value] of fields) body.append(name, value);
  const answer = await fetch(`${server.urls.compat}/general/v0/general`, {
    method: 'POST',
    headers: { 'unstructured-api-key': apiKey, accept: 'application/json' },
    body,
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: isJson ? (JSON.parse(text) as Json) : undefined,
  };
}

const glaze = (): GivenFile => ({ bytes: docx, name: 'glaze.docx', type: DOCX_TYPE });
const kiln = (): GivenFile => ({ bytes: pdf, name: 'kiln.pdf', type: 'application/pdf' });
const types = (elements: Json): string[] => elements.map(({ type }: Json) => type);

describe('elements', () => {
  it('of an Office file, as Dify asks for them', async () => {
    const { status, json } = await partition([glaze()], [], '');
    expect(status).toBe(200);
    expect(types(json)).toEqual(['Title', 'NarrativeText', 'ListItem', 'ListItem', 'Title', 'Table', 'Image']);
    const [title, sentence, , , , table, image] = json;
    expect(title).toMatchObject({
      text: 'Glazes',
      element_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      metadata: { filename: 'glaze.docx', filetype: DOCX_TYPE, languages: ['eng'], category_depth: 0 },
    });
    expect(sentence.metadata).toMatchObject({
      parent_id: title.element_id,
      emphasized_text_contents: ['thin'],
      emphasized_text_tags: ['b'],
    });
    expect(table.text).toBe('Glaze Degrees Ash 1260 Salt 1280');
    expect(table.metadata.text_as_html).toContain('<td>Ash</td><td>1260</td>');
    expect(image.text).toBe('A red square');
  });

  it('of a PDF have pages and rectangles, and ids that do not change', async () => {
    const fields = [
      ['coordinates', 'true'],
      ['starting_page_number', '5'],
      ['include_page_breaks', 'true'],
    ] as const;
    const { json } = await partition([kiln()], fields);
    const pages = json
      .filter(({ type }: Json) => type !== 'PageBreak')
      .map(({ metadata }: Json) => metadata.page_number);
    expect(pages).toEqual([5, 5, 6, 6, 7, 7]);
    expect(types(json).filter((type) => type === 'PageBreak')).toHaveLength(2);
    const { points, system, layout_width: width, layout_height: height } = json[0].metadata.coordinates;
    expect([system, width, height]).toEqual(['PixelSpace', 1652.8, 2338.9]);
    expect(points).toHaveLength(4);
    expect(Math.round(points[0][0])).toBe(Math.round((50 * 200) / 72));
    expect((await partition([kiln()], fields)).json).toEqual(json);
  });

  it('pictures in base64', async () => {
    const { json } = await partition([glaze()], [['extract_image_block_types', '["Image", "Table"]']]);
    const { metadata } = json.at(-1);
    expect(metadata.image_mime_type).toBe('image/png');
    expect(Buffer.from(metadata.image_base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
  });

  it('of several files are several lists', async () => {
    const { json } = await partition([glaze(), kiln()]);
    expect(json.map((list: Json) => list[0].text)).toEqual(['Glazes', 'Clay']);
  });

  it('of a compressed file, and as CSV', async () => {
    const packed = { bytes: gzipSync('Ada,36\nBen,40\n'), name: 'people.csv.gz', type: 'application/gzip' };
    const { text, headers } = await partition(
      [packed],
      [
        ['gz_uncompressed_content_type', 'text/csv'],
        ['output_format', 'text/csv'],
      ],
    );
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(text).toMatch(/^type,element_id,text,filename,filetype/);
    expect(text).toMatch(/\nTable,[0-9a-f]{32},Ada 36 Ben 40,people\.csv,text\/csv/);
  });

  it('names fields without an effect', async () => {
    const fields = [
      ['strategy', 'hi_res'],
      ['hi_res_model_name', 'yolox'],
    ] as const;
    expect((await partition([kiln()], fields)).headers.get('x-lectern-ignored')).toBe('hi_res_model_name, strategy');
  });
});

describe('chunks', () => {
  const texts = (chunks: Json): string[] => chunks.map(({ text }: Json) => text);

  it('basic: filled up to the limit', async () => {
    const { json } = await partition([kiln()], [['chunking_strategy', 'basic']]);
    expect(types(json)).toEqual(['CompositeElement']);
    expect(json[0].text).toMatch(/^Clay\n\nThe first[\s\S]+Wheel\n\n[\s\S]+Fire\n\n/);
    const packed = gunzipSync(Buffer.from(json[0].metadata.orig_elements, 'base64')).toString();
    expect(types(JSON.parse(packed))).toHaveLength(6);
  });

  it('by_title: a chunk for each section unless it is short', async () => {
    const strategy = ['chunking_strategy', 'by_title'] as const;
    const apart = await partition([kiln()], [strategy, ['combine_under_n_chars', '0']]);
    expect(texts(apart.json)).toEqual([
      expect.stringMatching(/^Clay\n\n/),
      expect.stringMatching(/^Wheel\n\n/),
      expect.stringMatching(/^Fire\n\n/),
    ]);
    expect((await partition([kiln()], [strategy])).json).toHaveLength(1);
    const pages = await partition([kiln()], [strategy, ['multipage_sections', 'false']]);
    expect(pages.json).toHaveLength(3);
  });

  it('a long text is split at spaces, with an overlap; a table stays alone', async () => {
    const fields = [
      ['chunking_strategy', 'basic'],
      ['max_characters', '40'],
      ['overlap', '10'],
      ['include_orig_elements', 'false'],
    ] as const;
    const { json } = await partition([kiln()], fields);
    expect(texts(json).every((text) => text.length <= 40)).toBe(true);
    const [, second, third] = texts(json);
    expect(second).toMatch(new RegExp(`${third!.split(' ').slice(0, 2).join(' ')}$`));
    expect(json[1].metadata).not.toHaveProperty('orig_elements');
    const office = await partition([glaze()], [['chunking_strategy', 'by_title']]);
    expect(types(office.json)).toContain('Table');
  });
});

describe('errors', () => {
  const empty = { bytes: new Uint8Array(), name: 'a.txt', type: 'text/plain' };
  const program = { bytes: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]), name: 'a', type: '' };

  it.each<[string, readonly GivenFile[], Fields, number, RegExp]>([
    ['no file', [], [['strategy', 'auto']], 422, /files/],
    ['an empty file', [empty], [], 400, /empty/],
    ['an unknown type', [program], [], 415, /type/],
    ['a strategy that is not offered', [empty], [['chunking_strategy', 'by_similarity']], 422, /chunking_strategy/],
    ['a number that is none', [empty], [['max_characters', 'many']], 422, /max_characters/],
  ])('%s', async (_, files, fields, status, message) => {
    const answer = await partition(files, fields);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: expect.stringMatching(message) });
  });

  it('a wrong key is 401, and GET is 405', async () => {
    expect((await partition([kiln()], [], 'wrong')).status).toBe(401);
    expect((await fetch(`${server.urls.compat}/general/v0/general`)).status).toBe(405);
  });
});
