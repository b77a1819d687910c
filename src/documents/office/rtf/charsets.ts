/** RTF code pages: text bytes use the code page of their font, otherwise that of the document. */
import { symbolOf } from '../fonts.ts';

/** Code pages by the value of `\fcharset`. */
const PAGES: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  130: 1361,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
};
const SYMBOL_CHARSET = 2;

const DOUBLE: Readonly<Record<number, string>> = {
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  1361: 'euc-kr',
  950: 'big5',
  54936: 'gb18030',
};

const OTHERS: Readonly<Record<number, string>> = {
  874: 'windows-874',
  866: 'ibm866',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  65001: 'utf-8',
  20866: 'koi8-r',
  28592: 'iso-8859-2',
  28595: 'iso-8859-5',
};

/** The characters at 0x80 to 0x9f, which some Node versions decode as Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

export interface Charset {
  /** Whether a character may consist of several bytes, so that consecutive bytes must be decoded as a unit. */
  readonly wide: boolean;
  decode(bytes: Uint8Array): string;
}

/** A table of 256 characters, or a decoder. */
function fromPage(page: number): Charset {
  const wide = DOUBLE[page] ?? (page === 65001 ? 'utf-8' : undefined);
  if (wide !== undefined) {
    const decoder = new TextDecoder(wide);
    return { wide: true, decode: (bytes) => decoder.decode(bytes) };
  }
  return { wide: false, decode: (bytes) => byTable(bytes, tableOf(page)) };
}

function byTable(bytes: Uint8Array, table: string): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(/[\x80-\xff]/g, (letter) => table[letter.charCodeAt(0)]!);
}

const ALL = Uint8Array.from({ length: 256 }, (_, code) => code);

function tableOf(page: number): string {
  if (page >= 1250 && page <= 1258 && page !== 1252) return new TextDecoder(`windows-${page}`).decode(ALL);
  const label = OTHERS[page];
  if (label !== undefined) return new TextDecoder(label).decode(ALL);
  const latin = Buffer.from(ALL).toString('latin1');
  return latin.slice(0, 0x80) + WINDOWS_1252 + latin.slice(0xa0);
}

const known = new Map<number, Charset>();

export function charsetOfPage(page: number): Charset {
  let charset = known.get(page);
  if (!charset) {
    charset = fromPage(page);
    known.set(page, charset);
  }
  return charset;
}

/** The code page for the `\fcharset` of a font; `undefined` if the font uses the document's code page. */
export function charsetOfFont(number: number, name: string): Charset | undefined {
  if (number === SYMBOL_CHARSET || /^(?:symbol|wingdings)$/i.test(name)) {
    return { wide: false, decode: (bytes) => [...bytes].map((code) => symbolOf(name, code)).join('') };
  }
  const page = PAGES[number];
  return page === undefined ? undefined : charsetOfPage(page);
}
