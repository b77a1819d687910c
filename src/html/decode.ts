/**
 * Decodes bytes to text. The encoding is declared by a byte order mark, the Content-Type header or a meta tag, in this
 * order (HTML standard, "determining the character encoding"). Without a declaration, the encoding is UTF-8 if the
 * bytes are valid UTF-8; otherwise it is guessed from the bytes. A declaration that the bytes clearly contradict is
 * ignored.
 */
import { analyse } from 'chardet';
import { getEncoding } from 'encoding-sniffer';
import iconv from 'iconv-lite';
import { bomCharset, canonicalName, charsetOf, PRESCAN_BYTES, validUtf8 } from './utf8.ts';

export interface DecodedText {
  readonly text: string;
  /** The encoding that was used: its name in the Encoding standard, in lower case. */
  readonly charset: string;
}

/** Decodes an HTML document; the byte order mark is removed. */
export function decodeHtml(bytes: Uint8Array, contentType?: string): DecodedText {
  return decodeBy(bytes, [charsetOf(contentType), metaCharset(bytes)]);
}

/** Decodes plain text, JSON or XML. An XML declaration may specify the encoding. */
export function decodeText(bytes: Uint8Array, contentType?: string): DecodedText {
  return decodeBy(bytes, [charsetOf(contentType), xmlCharset(bytes), utf16Charset(bytes)]);
}

const GUESS_BYTES = 64 * 1024;

function decodeBy(bytes: Uint8Array, declared: readonly (string | undefined)[]): DecodedText {
  const bom = bomCharset(bytes);
  if (bom) return { text: decodeAs(bytes, bom), charset: bom };
  const labels = [...new Set(declared.filter((label) => label !== undefined).map(canonicalName))].filter(
    (label) => label !== undefined,
  );
  const utf8 = validUtf8(bytes);
  for (const charset of labels) {
    if (charset === 'utf-8') {
      if (utf8 !== undefined) return { text: utf8, charset };
      const text = decodeAs(bytes, charset);
      if (isMostlyUtf8(text, bytes)) return { text, charset };
    } else if (!isContradicted(charset, bytes, utf8)) return { text: decodeAs(bytes, charset), charset };
  }
  if (utf8 !== undefined) return { text: utf8, charset: 'utf-8' };
  const charset = guessCharset(bytes) ?? 'windows-1252';
  return { text: decodeAs(bytes, charset), charset };
}

/** Without a declaration this is `replacement`, which decodes nothing and is ignored like an unknown label. */
const metaCharset = (bytes: Uint8Array): string =>
  getEncoding(Buffer.from(bytes.subarray(0, PRESCAN_BYTES)), { defaultEncoding: 'replacement' });

/** Matches ASCII characters only, so it works before the encoding is known (XML 1.0, appendix F). */
const xmlCharset = (bytes: Uint8Array): string | undefined =>
  /^<\?xml[^>]{1,100}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(latin1(bytes.subarray(0, 200)))?.[1];

/** UTF-16 without a byte order mark: `<` or an ASCII letter next to a zero byte (RFC 4627, section 3). */
function utf16Charset([a, b, c, d]: Uint8Array): string | undefined {
  if (a === 0 && b && c === 0 && d) return 'utf-16be';
  return a && b === 0 && c && d === 0 ? 'utf-16le' : undefined;
}

/** Whether bytes are clearly not in their declared encoding, because they are meaningful UTF-8. */
function isContradicted(charset: string, bytes: Uint8Array, utf8: string | undefined): boolean {
  if (charset.startsWith('utf-16')) return !looksLikeUtf16(bytes);
  if (utf8 === undefined || charset.startsWith('iso-2022')) return false;
  // One or two words in a two-byte encoding may happen to be valid UTF-8; longer text never is.
  return bytes.length - utf8.length > (/^(?:gb|big5|euc|shift)/.test(charset) ? 8 : 0);
}

/** Whether the bytes contain a zero byte or are not valid UTF-8. At least one of these is true of any UTF-16 text. */
const looksLikeUtf16 = (bytes: Uint8Array) => {
  const start = bytes.subarray(0, GUESS_BYTES);
  return start.includes(0) || validUtf8(start) === undefined;
};

function decodeAs(bytes: Uint8Array, charset: string): string {
  if (charset === 'windows-1252') return decodeWindows1252(bytes);
  if (charset === 'utf-8') return new TextDecoder().decode(bytes);
  const text = decodeBounded(bytes, new TextDecoder(charset));
  return charset === 'big5' && OUTSIDE_BIG5.test(text) ? decodeBounded(bytes, hongKongDecoder()) : text;
}

/**
 * The Big5 of the Encoding standard includes the characters of Hong Kong (HKSCS). Node's does not: they become private
 * use characters, or invalid.
 */
const OUTSIDE_BIG5 = /[\ue000-\uf8ff\ufffd]/;

function hongKongDecoder(): BoundedDecoder {
  const decoder = iconv.getDecoder('big5-hkscs');
  return {
    decode: (bytes, { stream }) => decoder.write(Buffer.from(bytes)) + (stream ? '' : (decoder.end() ?? '')),
  };
}

interface BoundedDecoder {
  decode(bytes: Uint8Array, options: { stream: boolean }): string;
}

const SLICE_BYTES = 256 * 1024;
const MAX_INVALID_BYTES = 512 * 1024;

/**
 * Decodes with a limit on invalid bytes: all decoders except UTF-8's are many times slower for invalid bytes. If there
 * are too many, the data is not text, and the rest is decoded as Latin-1, which accepts any byte.
 */
function decodeBounded(bytes: Uint8Array, decoder: BoundedDecoder): string {
  const parts: string[] = [];
  let invalid = 0;
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (invalid > MAX_INVALID_BYTES) {
      parts.push(latin1(bytes.subarray(at)));
      break;
    }
    const slice = bytes.subarray(at, at + SLICE_BYTES);
    const part = decoder.decode(slice, { stream: at + SLICE_BYTES < bytes.length });
    for (let i = part.indexOf('\ufffd'); i >= 0; i = part.indexOf('\ufffd', i + 1)) invalid++;
    parts.push(part);
  }
  return parts.join('');
}

/** The characters at 0x80 to 0x9f (Encoding standard, index windows-1252). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Some Node versions decode windows-1252 as Latin-1, without its quotes and dashes. */
function decodeWindows1252(bytes: Uint8Array): string {
  if (!bytes.some((byte) => byte >= 0x80 && byte <= 0x9f)) return latin1(bytes);
  const units = Buffer.alloc(bytes.length * 2);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    const unit = byte >= 0x80 && byte <= 0x9f ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte;
    units[i * 2] = unit & 0xff;
    units[i * 2 + 1] = unit >> 8;
  }
  return units.toString('utf16le');
}

const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

/**
 * Whether UTF-8 explains more of the bytes outside ASCII than it leaves invalid. A UTF-8 page may have some broken bytes,
 * such as a character cut in two. In another encoding, most of these bytes are invalid.
 */
function isMostlyUtf8(text: string, bytes: Uint8Array): boolean {
  let all = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! > 0x7f) all++;
  let valid = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80 || code === 0xfffd) continue;
    // Each half of a surrogate pair stands for two of its four bytes.
    valid += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
  }
  return valid * 2 > all;
}

function guessCharset(bytes: Uint8Array): string | undefined {
  for (const { name } of analyse(nonAsciiParts(bytes))) {
    const charset = canonicalName(name);
    if (charset && !charset.startsWith('utf-')) return charset;
  }
  return undefined;
}

/** Bytes of context on either side of a non-ASCII character: a word or two. */
const CONTEXT_BYTES = 32;

/** The non-ASCII parts with some context. A long head of scripts and styles would not help to guess the encoding. */
function nonAsciiParts(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let i = 0, from = 0; i < bytes.length && length < GUESS_BYTES; i++) {
    if (bytes[i]! < 0x80) continue;
    const start = Math.max(from, i - CONTEXT_BYTES);
    let last = i;
    while (i < bytes.length && i - last <= CONTEXT_BYTES && i - start < GUESS_BYTES) {
      if (bytes[i]! >= 0x80) last = i;
      i++;
    }
    parts.push(bytes.subarray(start, i), Uint8Array.of(0x20));
    length += i - start + 1;
    from = i;
  }
  return Buffer.concat(parts);
}
