/** Similar pages in different encodings, which must be detected. */
import type { Pages } from '../site.ts';

const bytes = (contentType: string, ...parts: (string | readonly number[])[]): Pages[string] => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
  return ({ response }) => void response.writeHead(200, { 'content-type': contentType }).end(body);
};

export const charsets: Pages = {
  // "Привет" in windows-1251, declared by the header.
  '/charset/cyrillic': bytes(
    'text/html; charset=windows-1251',
    '<!doctype html><title>Cyrillic</title><p>',
    [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2],
    '</p>',
  ),
  // "日本" in Shift_JIS, declared by a meta tag.
  '/charset/japanese': bytes(
    'text/html',
    '<!doctype html><meta charset="shift_jis"><title>Japanese</title><p>',
    [0x93, 0xfa, 0x96, 0x7b],
    '</p>',
  ),
  // "naïve" in latin1, not declared.
  '/charset/latin': bytes('text/html', '<!doctype html><title>Latin</title><p>na\u00efve</p>'),
};
