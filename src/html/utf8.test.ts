import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHtml, decodeText } from './decode.ts';
import { decodeUtf8 } from './utf8.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const LATIN_1 = Uint8Array.of(0x63, 0x61, 0x66, 0xe9);

describe('decodeUtf8', () => {
  it.each([
    ['<p>café', 'text/html; charset=utf-8'],
    ['<p>café', 'text/html'],
    ['<p>café', undefined],
    ['<meta charset="UTF-8"><p>café', 'text/html'],
    ["<meta http-equiv=content-type content='text/html; charset=utf8'><p>café", 'text/html'],
    ['<?xml version="1.0" encoding="utf-8"?><p>café</p>', 'text/xml'],
    [`${' '.repeat(1_100)}<meta charset=koi8-r>café`, 'text/html'],
  ])('decodes %j with the type %s', (text, contentType) => {
    expect(decodeUtf8(utf8(text), contentType)).toBe(text);
  });

  it('removes the byte order mark', () => {
    expect(decodeUtf8(utf8('\ufeffcafé'), 'text/plain')).toBe('café');
  });

  it.each([
    ['bytes that are not UTF-8', LATIN_1, 'text/html'],
    ['another encoding in the header', utf8('cafe'), 'text/html; charset=iso-8859-1'],
    ['an unknown encoding in the header', utf8('cafe'), 'text/html; charset=x'],
    ['another encoding in a meta tag', utf8('<meta charset=koi8-r>cafe'), 'text/html'],
    ['two encodings in meta tags', utf8('<meta charset=utf-8><meta charset=koi8-r>cafe'), 'text/html'],
    ['an encoding whose name begins with that of UTF-8', utf8('<meta charset=utf-8x>cafe'), 'text/html'],
    ['another encoding in an XML declaration', utf8('<?xml version="1.0" encoding="koi8-r"?>'), 'text/xml'],
    ['zero bytes', utf8('<\0?\0x\0'), 'text/html'],
  ])('leaves %s to decode.ts', (_, bytes, contentType) => {
    expect(decodeUtf8(bytes, contentType)).toBeUndefined();
  });

  it('decodes as decode.ts does', () => {
    const part = fc.constantFrom(
      ...[
        '<meta ',
        '<?xml ',
        'charset',
        'CharSet',
        ' encoding',
        '=',
        '"',
        "'",
        ' ',
        '>',
        '?>',
        '<!--',
        '-->',
        ';',
        '/',
      ],
      ...['utf-8', 'UTF8', 'utf-16', 'koi8-r', 'x-user-defined', 'content', 'http-equiv', 'content-type', '\ufeff'],
      ...['\0', 'é', '漢', 'a'],
    );
    const type = fc.constantFrom(undefined, 'text/html', 'text/plain; charset=utf-8', 'text/xml;charset=koi8-r');
    let decoded = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), type, fc.boolean(), (parts, contentType, isBroken) => {
        const bytes = isBroken ? Buffer.concat([utf8(parts.join('')), LATIN_1]) : utf8(parts.join(''));
        const text = decodeUtf8(bytes, contentType);
        if (text === undefined) return;
        decoded++;
        expect(decodeHtml(bytes, contentType).text).toBe(text);
        expect(decodeText(bytes, contentType).text).toBe(text);
      }),
      { seed: 20_291, numRuns: 3_000 },
    );
    expect(decoded).toBeGreaterThan(300);
  });
});
