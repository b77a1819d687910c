import { describe, expect, test } from 'vitest';
import { actualMedia, declaredMedia } from './media-type.ts';

const media = (contentType: string | undefined, body: string | Uint8Array) =>
  actualMedia(declaredMedia(contentType), typeof body === 'string' ? Buffer.from(body, 'latin1') : body);

describe('a declared type', () => {
  test.each([
    ['text/html', 'text/html', 'html'],
    ['TEXT/HTML; charset=x', 'text/html', 'html'],
    ['text/html, text/html', 'text/html', 'html'],
    ['text/html, text/plain; charset=x', 'text/plain', 'text'],
    ['text/html, nonsense, */*', 'text/html', 'html'],
    ['nonsense, text/html', 'text/html', 'html'],
    ['text/html; x="a, text/plain"', 'text/html', 'html'],
    ['multipart/mixed; boundary="a,b/c"', 'multipart/mixed', 'other'],
    ['application/xhtml+xml', 'application/xhtml+xml', 'html'],
    ['text/plain', 'text/plain', 'text'],
    ['text/markdown', 'text/markdown', 'text'],
    ['application/json', 'application/json', 'text'],
    ['application/ld+json', 'application/ld+json', 'text'],
    ['application/rss+xml', 'application/rss+xml', 'file'],
    ['application/xml', 'application/xml', 'file'],
    ['text/xml', 'application/xml', 'file'],
    ['text/csv', 'text/csv', 'file'],
    ['image/svg+xml', 'image/svg+xml', 'file'],
    ['application/x-whatever', 'application/x-whatever', 'other'],
    ['video/mp4', 'video/mp4', 'other'],
    ['application/javascript', 'application/javascript', 'text'],
    ['application/pdf', 'application/pdf', 'file'],
    ['image/png', 'image/png', 'file'],
    ['application/vnd.ms-excel', 'text/plain', 'text'],
  ])('%s is %s, read as %s', (contentType, mediaType, kind) => {
    expect(media(contentType, 'any words')).toEqual({ mediaType, kind });
  });
});

describe('a missing or meaningless type', () => {
  test.each([
    ['<!DOCTYPE html><p>x', 'text/html', 'html'],
    ['\xef\xbb\xbf \n<html lang=en>', 'text/html', 'html'],
    ['<!-- a comment --><p>', 'text/html', 'html'],
    ['<p>x', 'text/html', 'html'],
    ['<pre>no pattern', 'text/plain', 'text'],
    ['<?xml version="1.0"?><feed/>', 'application/xml', 'file'],
    ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', 'application/xhtml+xml', 'html'],
    ['{"a":1}', 'text/plain', 'text'],
    ['plain words\nin lines\t\x1b[0m', 'text/plain', 'text'],
    ['\xff\xfe<\0h\0t\0m\0l\0>\0', 'text/html', 'html'],
    ['binary \x00\x01\x02', 'application/octet-stream', 'unknown'],
    ['%PDF-1.7', 'application/pdf', 'file'],
    ['\n\n%PDF-1.4', 'application/pdf', 'file'],
    ['\x1a\x45\xdf\xa3', 'video/webm', 'other'],
  ])('%j is %s', (body, mediaType, kind) => {
    for (const nothing of [undefined, '', 'application/octet-stream', 'nonsense', '*/*']) {
      expect(media(nothing, body)).toEqual({ mediaType, kind });
    }
  });
});

describe('a file declared as text', () => {
  test.each([
    ['%PDF-1.4\n%\xe2\xe3', 'application/pdf'],
    ['{\\rtf1\\ansi', 'application/rtf'],
    ['\x89PNG\r\n\x1a\n\0\0\0', 'image/png'],
    ['\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
    ['GIF89a\x01\0', 'image/gif'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
    ['\0\0\0\x20ftypavif', 'image/avif'],
    ['PK\x03\x04\x14\0\0mimetypeapplication/epub+zip', 'application/epub+zip'],
    ['PK\x03\x04\x14\0', 'application/zip'],
    ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/x-ole-storage'],
    ['BM\x9a\x00\x00\x00\x00\x00\x00\x00', 'image/bmp'],
  ])('%j is %s', (body, mediaType) => {
    for (const name of ['text/html', 'text/plain; charset=utf-8', 'application/json', undefined]) {
      expect(media(name, body)).toEqual({ mediaType, kind: 'file' });
    }
  });

  test('that cannot be read is named', () => {
    expect(media('text/plain', 'ID3\x04\0\0')).toEqual({ mediaType: 'audio/mpeg', kind: 'other' });
  });

  test.each([
    'BMW builds cars',
    'ID3 is a tag format',
    'BZh is no word',
    'PK',
    'II*',
    'RIFF and RAFF are twins',
    'GIF is a format',
  ])('text with a similar start is text: %s', (body) => {
    expect(media('text/plain', body)).toEqual({ mediaType: 'text/plain', kind: 'text' });
    expect(media(undefined, body)).toEqual({ mediaType: 'text/plain', kind: 'text' });
  });
});

test('HTML declared as a file is HTML', () => {
  expect(media('application/pdf', '<!doctype html><title>Sign in</title>').kind).toBe('html');
  expect(media('image/png', '\x89PNG\r\n\x1a\n')).toEqual({ mediaType: 'image/png', kind: 'file' });
});

test('the file name decides if neither type nor bytes do', () => {
  const typeOf = (type: string | undefined, name: string, body = 'a,b\n1,2') =>
    actualMedia(declaredMedia(type), Buffer.from(body, 'latin1'), name);
  expect(typeOf(undefined, 'table.CSV')).toEqual({ mediaType: 'text/csv', kind: 'file' });
  expect(typeOf('text/plain', 'table.csv')).toEqual({ mediaType: 'text/plain', kind: 'text' });
  expect(typeOf(undefined, 'notes.md')).toEqual({ mediaType: 'text/plain', kind: 'text' });
  expect(typeOf(undefined, 'x.doc', '\x00\x01')).toEqual({ mediaType: 'application/msword', kind: 'file' });
});

test('a JSON feed is recognized by its start', () => {
  const feed = '{"version": "https://jsonfeed.org/version/1.1", "title": "Kiln", "items": []}';
  expect(media('application/json', feed)).toEqual({ mediaType: 'application/feed+json', kind: 'file' });
  expect(media('application/json', '{"about": {"version": "https://jsonfeed.org/version/1.1"}}').kind).toBe('text');
});

describe('text declared as an Office file', () => {
  const excel = (body: string, name?: string) =>
    actualMedia(declaredMedia('application/vnd.ms-excel'), Buffer.from(body, 'latin1'), name);

  test.each([
    ['name,amount\r\n"Salt, coarse",4\r\nRye,12\r\n', 'text/csv'],
    ['name;amount\nsalt;1,5\nrye;2,25\n', 'text/csv'],
    ['name\tamount\nsalt, coarse\t4\n', 'text/tab-separated-values'],
    ['sep=|\na|b\n', 'text/csv'],
  ])('%j is %s', (body, mediaType) => {
    expect(excel(body, 'export.xls')).toEqual({ mediaType, kind: 'file' });
  });

  test('is a table if its name or its content says so, otherwise text', () => {
    expect(excel('one column\nof words', 'list.csv')).toEqual({ mediaType: 'text/csv', kind: 'file' });
    const rows = Array.from({ length: 500 }, (_, n) => `${n},row ${n}`).join('\n');
    expect(excel(rows.slice(0, 4_096))).toEqual({ mediaType: 'text/csv', kind: 'file' });
    expect(excel('Words, and more words.\nAnd no table.')).toEqual({ mediaType: 'text/plain', kind: 'text' });
  });

  test('does not include real Office files', () => {
    const ole = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
    expect(excel(ole)).toEqual({ mediaType: 'application/x-ole-storage', kind: 'file' });
    expect(excel('\x09\x08\x10\x00old')).toEqual({ mediaType: 'application/vnd.ms-excel', kind: 'file' });
  });
});

describe('a feed declared as HTML', () => {
  const rdf =
    '<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel>';

  test.each([
    ['\xef\xbb\xbf\n<rss version="2.0">', 'application/rss+xml'],
    ['<?xml version="1.0"?><!-- by hand --><!DOCTYPE rss><rss>', 'application/rss+xml'],
    ['<?xml version="1.0"?>\n<?xml-stylesheet href="x.xsl"?>\n<feed xmlns="x">', 'application/atom+xml'],
    ['<?xml version="1.0"?><urlset>', 'application/xml'],
    [rdf, 'application/rss+xml'],
  ])('%j is %s', (body, mediaType) => {
    expect(media('text/html', body)).toEqual({ mediaType, kind: 'file' });
  });

  test.each([
    '<!doctype html><rss-reader>',
    '<?xml version="1.0"?><html><body><rss></html>',
    '<!-- <rss> that does not end',
    '<rdf:RDF xmlns="other"><x>',
    '<constructor>',
    '<p>of <rss>',
  ])('%j is a page', (body) => {
    expect(media('text/html', body)).toEqual({ mediaType: 'text/html', kind: 'html' });
  });

  test('text/plain is a feed only if it starts as one', () => {
    expect(media('text/plain', '<?xml version="1.0"?><rss>')).toEqual({
      mediaType: 'application/rss+xml',
      kind: 'file',
    });
    expect(media('text/plain', '<urlset>')).toEqual({ mediaType: 'application/xml', kind: 'file' });
    for (const body of ['<!-- note --><rss>', 'Write <rss> at the start', '<?xml version="1.0"?><html>'])
      expect(media('text/plain', body)).toEqual({ mediaType: 'text/plain', kind: 'text' });
  });
});
