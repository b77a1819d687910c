import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeHtml, decodeText } from './decode.ts';

/**
 * Encodes text in encodings that Node can only decode: tries each byte or pair of bytes until one decodes to the
 * letter.
 */
function encode(text: string, charset: string): Uint8Array {
  const decoder = new TextDecoder(charset, { fatal: true });
  const bytesOf = new Map<string, number[]>();
  const add = (bytes: number[]) => {
    try {
      const letter = decoder.decode(Uint8Array.from(bytes));
      if ([...letter].length === 1 && !bytesOf.has(letter)) bytesOf.set(letter, bytes);
    } catch {
      // These bytes are not assigned to a letter.
    }
  };
  for (let first = 0; first < 256; first++) add([first]);
  if (/^(?:gb|big5|euc|shift)/.test(charset)) {
    for (let first = 0x81; first < 0xff; first++) for (let second = 0x40; second < 0xff; second++) add([first, second]);
  }
  return Uint8Array.from([...text].flatMap((letter) => bytesOf.get(letter) ?? []));
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string, order: 'le' | 'be') =>
  order === 'le' ? Buffer.from(text, 'utf16le') : Buffer.from(text, 'utf16le').swap16();
const join = (...parts: Uint8Array[]) => Buffer.concat(parts);

const RUSSIAN =
  'Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.';
const JAPANESE =
  'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。';
const CHINESE = '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。';
const KOREAN =
  '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.';
const TAIWANESE = '人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。';
const page = (text: string, head = '') =>
  `<!doctype html><html><head>${head}<title>x</title></head><body><p>${text}</p></body></html>`;

describe('a declared encoding', () => {
  test.each([
    ['windows-1251', RUSSIAN],
    ['koi8-r', RUSSIAN],
    ['shift_jis', JAPANESE],
    ['euc-jp', JAPANESE],
    ['gbk', CHINESE],
    ['big5', TAIWANESE],
    ['euc-kr', KOREAN],
    ['iso-8859-2', 'Příliš žluťoučký kůň'],
  ])('reads %s declared in the header, a meta charset or a meta http-equiv', (charset, text) => {
    const html = page(text);
    expect(decodeHtml(encode(html, charset), `text/html; charset=${charset}`)).toEqual({ text: html, charset });
    expect(decodeHtml(encode(html, charset), `text/html;Charset="${charset.toUpperCase()}"; x=y`)).toEqual({
      text: html,
      charset,
    });
    for (const meta of [
      `<meta charset="${charset}">`,
      `<META http-equiv=Content-Type content='text/html; charset=${charset}'>`,
    ]) {
      const declared = page(text, meta);
      expect(decodeHtml(encode(declared, charset), 'text/html')).toEqual({ text: declared, charset });
    }
  });

  test('reads the characters of Hong Kong in Big5', () => {
    const html = Buffer.concat([
      Buffer.from('<meta charset="big5-hkscs"><p>'),
      Buffer.from([0x88, 0x62, 0x87, 0x40, 0x8d, 0x60, 0xfa, 0x40, 0xa4, 0xa4]),
    ]);
    const text = '<meta charset="big5-hkscs"><p>\u00ca\u0304\u43f0\u5d3e\u{20547}\u4e2d';
    expect(decodeHtml(html)).toEqual({ text, charset: 'big5' });
    expect(decodeHtml(html, 'text/html; charset=Big5-HKSCS').text).toBe(text);
    const long = Buffer.concat([Buffer.alloc(256 * 1024 - 31, 0x61), html]);
    expect(decodeHtml(long, 'text/html; charset=big5').text.endsWith(text)).toBe(true);
  });

  test('prefers a byte order mark to the header, and the header to a meta tag', () => {
    const html = page(RUSSIAN, '<meta charset=koi8-r>');
    expect(decodeHtml(join(Uint8Array.of(0xef, 0xbb, 0xbf), utf8(html)), 'text/html; charset=koi8-r')).toEqual({
      text: html,
      charset: 'utf-8',
    });
    expect(decodeHtml(encode(html, 'windows-1251'), 'text/html; charset=windows-1251')).toEqual({
      text: html,
      charset: 'windows-1251',
    });
  });

  test.each(['le', 'be'] as const)('reads UTF-16%s with a byte order mark or declared in the header', (order) => {
    const html = page(JAPANESE);
    const mark = utf16('\ufeff', order);
    expect(decodeHtml(join(mark, utf16(html, order)), 'text/html; charset=utf-8')).toEqual({
      text: html,
      charset: `utf-16${order}`,
    });
    expect(decodeHtml(utf16(html, order), `text/html; charset=utf-16${order}`)).toEqual({
      text: html,
      charset: `utf-16${order}`,
    });
  });

  test('ignores a meta tag after the first 1,024 bytes or in a comment', () => {
    const late = page(RUSSIAN, `<!--${' '.repeat(1024)}--><meta charset=koi8-r>`);
    expect(decodeHtml(encode(late, 'windows-1251'))).toEqual({ text: late, charset: 'windows-1251' });
    const commented = page(RUSSIAN, '<!-- <meta charset=koi8-r> -->');
    expect(decodeHtml(encode(commented, 'windows-1251'))).toEqual({ text: commented, charset: 'windows-1251' });
  });

  test('ignores an unknown label', () => {
    const html = page(RUSSIAN, '<meta charset=klingon>');
    expect(decodeHtml(utf8(html), 'text/html; charset=martian')).toEqual({ text: html, charset: 'utf-8' });
    expect(decodeHtml(encode(html, 'windows-1251'), 'text/html; charset=')).toEqual({
      text: html,
      charset: 'windows-1251',
    });
  });
});

describe('an undeclared encoding', () => {
  test.each([
    ['“Smart” quotes — and an €', '\x93Smart\x94 quotes \x97 and an \x80'],
    [
      'Los niños comían en el jardín, según dijo la señora; después salió el sol.',
      'Los ni\xf1os com\xedan en el jard\xedn, seg\xfan dijo la se\xf1ora; despu\xe9s sali\xf3 el sol.',
    ],
  ])('recognizes windows-1252: %s', (text, latin1) => {
    expect(decodeHtml(Buffer.from(page(latin1), 'latin1'))).toEqual({ text: page(text), charset: 'windows-1252' });
  });

  test.each([
    ['utf-8', JAPANESE],
    ['windows-1251', RUSSIAN],
    ['shift_jis', JAPANESE],
    ['euc-kr', KOREAN],
    ['big5', TAIWANESE],
  ])('recognizes %s', (charset, text) => {
    const html = page(text);
    expect(decodeHtml(charset === 'utf-8' ? utf8(html) : encode(html, charset), 'text/html')).toEqual({
      text: html,
      charset,
    });
  });

  test('recognizes GBK under any of its names', () => {
    const html = page(CHINESE);
    expect(decodeHtml(encode(html, 'gbk')).text).toBe(html);
  });

  test('is recognized after a long ASCII head', () => {
    const html = page(RUSSIAN, `<style>${'a{b:c}\n'.repeat(30_000)}</style>`);
    expect(decodeHtml(encode(html, 'windows-1251')).text).toBe(html);
  });
});

describe('a wrongly declared encoding', () => {
  test('decodes UTF-8 declared as another encoding as UTF-8', () => {
    for (const declared of ['iso-8859-1', 'windows-1252', 'windows-1251', 'shift_jis', 'gbk', 'utf-16']) {
      expect(decodeHtml(utf8(page(RUSSIAN)), `text/html; charset=${declared}`)).toEqual({
        text: page(RUSSIAN),
        charset: 'utf-8',
      });
    }
  });

  test('takes the encoding of text wrongly declared as UTF-8 from its meta tag, else from its bytes', () => {
    const html = page(RUSSIAN, '<meta charset=windows-1251>');
    expect(decodeHtml(encode(html, 'windows-1251'), 'text/html; charset=utf-8')).toEqual({
      text: html,
      charset: 'windows-1251',
    });
    const bare = page(JAPANESE, '<meta charset=utf-8>');
    expect(decodeHtml(encode(bare, 'shift_jis'))).toEqual({ text: bare, charset: 'shift_jis' });
  });

  test('decodes a word as declared GBK even if its bytes are valid UTF-8', () => {
    const html = page('联通');
    expect(decodeHtml(encode(html, 'gbk'), 'text/html; charset=gb2312')).toEqual({ text: html, charset: 'gbk' });
  });

  test('decodes declared UTF-8 as UTF-8 if that explains more of the bytes', () => {
    const broken = (count: number) => join(utf8(page(JAPANESE)), Buffer.alloc(count, 0xff));
    for (const count of [1, 4, 100])
      expect(decodeHtml(broken(count), 'text/html; charset=utf-8')).toEqual({
        text: page(JAPANESE) + '\ufffd'.repeat(count),
        charset: 'utf-8',
      });
    expect(decodeHtml(broken(1000), 'text/html; charset=utf-8').charset).not.toBe('utf-8');
    const latin1 = Buffer.from(page('caf\xe9'), 'latin1');
    expect(decodeHtml(latin1, 'text/html; charset=utf-8')).toEqual({ text: page('café'), charset: 'windows-1252' });
  });

  test.each([
    ['windows-1251', RUSSIAN],
    ['shift_jis', JAPANESE],
    ['gbk', CHINESE],
    ['euc-jp', JAPANESE],
    ['euc-kr', KOREAN],
    ['big5', TAIWANESE],
  ])('does not decode %s declared as UTF-8 as UTF-8', (charset, text) => {
    expect(decodeHtml(encode(page(text), charset), 'text/html; charset=utf-8').text).toBe(page(text));
  });

  test('decodes UTF-8 with a few invalid bytes as UTF-8', () => {
    const bytes = join(utf8(page(RUSSIAN)), Uint8Array.of(0xd0));
    expect(decodeHtml(bytes, 'text/html; charset=utf-8')).toEqual({ text: `${page(RUSSIAN)}\ufffd`, charset: 'utf-8' });
  });
});

describe('text that is not HTML', () => {
  test('takes the encoding of XML from its declaration', () => {
    const xml = `<?xml version="1.0" encoding="windows-1251"?><a>${RUSSIAN}</a>`;
    expect(decodeText(encode(xml, 'windows-1251'), 'application/xml')).toEqual({ text: xml, charset: 'windows-1251' });
    expect(decodeText(encode(xml, 'koi8-r'), 'application/xml; charset=koi8-r')).toEqual({
      text: xml,
      charset: 'koi8-r',
    });
  });

  test('recognizes UTF-16 without a byte order mark by its zero bytes', () => {
    for (const order of ['le', 'be'] as const) {
      expect(decodeText(utf16('{"a":"ß"}', order), 'application/json')).toEqual({
        text: '{"a":"ß"}',
        charset: `utf-16${order}`,
      });
    }
  });

  test('ignores a meta tag in plain text', () => {
    expect(decodeText(utf8('<meta charset=koi8-r> ß'), 'text/plain')).toEqual({
      text: '<meta charset=koi8-r> ß',
      charset: 'utf-8',
    });
  });
});

test('decodes long multi-byte text completely, wherever it is split into slices', () => {
  for (const charset of ['shift_jis', 'gbk', 'utf-16le']) {
    const text = page(`x${(charset === 'gbk' ? CHINESE : JAPANESE).repeat(4_000)}`);
    const bytes = charset === 'utf-16le' ? utf16(text, 'le') : encode(text, charset);
    expect(decodeHtml(bytes, `text/html; charset=${charset}`).text === text).toBe(true);
  }
});

test('decodes megabytes of bytes that are invalid in their declared encoding to some text', () => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, 0x80);
  const { text } = decodeHtml(bytes, 'text/html; charset=shift_jis');
  expect(text.length).toBe(bytes.length);
  expect(text.startsWith('\x80\x80') || text.startsWith('\ufffd\ufffd')).toBe(true);
});

test('decodes the quotes and dashes of windows-1252 in every version of Node', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const { text } = decodeHtml(bytes, 'text/html; charset=iso-8859-1');
  expect(text.slice(0x80, 0xa2)).toBe('€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ\xa0¡');
});

test('round-trips any UTF-8 text, and decodes any bytes to a string', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const { text: decoded } = decodeHtml(utf8(text), 'text/html; charset=utf-8');
      expect(decoded).toBe(text.replace(/^\ufeff/, ''));
    }),
    { seed: 7 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.option(fc.string()), (bytes, label) => {
      expect(typeof decodeHtml(bytes, `text/html; charset=${label}`).text).toBe('string');
      expect(typeof decodeText(bytes, undefined).text).toBe('string');
    }),
    { seed: 7 },
  );
});
