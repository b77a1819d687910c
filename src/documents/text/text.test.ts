import { expect, it } from 'vitest';
import type { DocumentFile } from '../document.ts';
import { kind } from './text.ts';

const parse = (bytes: Uint8Array, mediaType: string, contentType?: string) =>
  kind.parse({ path: '', size: bytes.length, mediaType, contentType } satisfies DocumentFile, bytes, {});

it.each([
  ['application/json', '{"a": [1, 2}'],
  ['application/x-ndjson', '{"a": 1}\n{"a": 2}\n'],
  ['text/plain', '  Indented,\n\twith <b>marks</b> & such\r\n'],
  ['text/markdown', '# Title\n\n- a\n'],
  ['text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'],
  ['application/json', '{"version": "https://jsonfeed.org/version/1.1", "items": 1}'],
  ['application/json', '{"version": "https://jsonfeed.org/version/1.1", "items": [}'],
])('shows %s as it is', async (mediaType, text) => {
  expect(await parse(Buffer.from(text), mediaType)).toEqual({
    title: '',
    pages: [],
    source: text,
    metadata: {},
    notes: [],
    hiddenCount: 0,
  });
});

it('reads a JSON feed under the plain name of JSON', async () => {
  const feed = { version: 'https://jsonfeed.org/version/1', title: 'F', items: [{ id: '1', title: 'a <b> & c' }] };
  const parsed = await parse(Buffer.from(JSON.stringify(feed)), 'application/json');
  expect(parsed).toMatchObject({ title: 'F', pages: [{ number: 1, html: '<h2>a &lt;b&gt; &amp; c</h2>' }] });
});

it('decodes what is declared and what is not', async () => {
  const text = 'Größe: 3 € für ‘alle’, naïve façade';
  expect((await parse(Buffer.from(`\ufeff${text}`, 'utf16le'), 'text/plain')).source).toBe(text);
  const latin = Buffer.from('Größe für alle', 'latin1');
  expect((await parse(latin, 'text/plain', 'text/plain; charset=latin1')).source).toBe('Größe für alle');
});

it('refuses what is empty or too large', async () => {
  await expect(parse(Buffer.from(''), 'text/plain')).rejects.toMatchObject({
    kind: 'damaged',
    message: 'The file is empty',
  });
  await expect(parse(Buffer.alloc(32 * 1024 * 1024 + 1, 'a'), 'text/plain')).rejects.toMatchObject({
    kind: 'too large',
  });
});
