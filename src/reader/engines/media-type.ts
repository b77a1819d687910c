/** What a body is: by its Content-Type, by its first bytes when the header says nothing or plainly the wrong thing. */

export type Kind = 'html' | 'text' | 'other' | 'unknown';

export interface Media {
  /** Lower case, without parameters. */
  readonly mediaType: string;
  readonly kind: Kind;
}

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml']);

/** Types that say nothing, or are what servers call files they know nothing about. */
const EMPTY_TYPES = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/unknown',
  'unknown/unknown',
  '*/*',
]);

/** Text that its type does not begin with `text/` or end in `+xml` or `+json`. */
const TEXT_TYPES = new Set(
  'json xml javascript x-javascript ecmascript typescript yaml x-yaml toml x-toml x-ndjson ndjson jsonl jsonlines x-jsonlines json-seq xml-dtd sql graphql x-sh x-httpd-php x-tex x-latex x-subrip x-bibtex mbox srt'
    .split(' ')
    .map((name) => `application/${name}`),
);

const isTextType = (type: string) =>
  type.startsWith('text/') || /\+(?:xml|json|yaml)$/.test(type) || TEXT_TYPES.has(type);

export const mediaTypeOf = (contentType: string | undefined): string =>
  (contentType ?? '').split(/[;,]/, 1)[0]!.trim().toLowerCase();

/** What the header alone says; `unknown` when it takes the body to tell. */
export function declaredMedia(contentType: string | undefined): Media {
  const type = mediaTypeOf(contentType);
  if (HTML_TYPES.has(type)) return { mediaType: type, kind: 'html' };
  if (EMPTY_TYPES.has(type) || !/^[^\s/]+\/[^\s/]+$/.test(type)) return { mediaType: '', kind: 'unknown' };
  return { mediaType: type, kind: isTextType(type) ? 'text' : 'other' };
}

/** What header and body say together. A file that is sent under the name of text is still that file. */
export function actualMedia(declared: Media, bytes: Uint8Array): Media {
  if (declared.kind === 'other') return declared;
  const magic = magicOf(bytes);
  if (magic) return { mediaType: magic, kind: 'other' };
  return declared.kind === 'unknown' ? sniffed(bytes) : declared;
}

const SNIFF_BYTES = 1_445;

function sniffed(bytes: Uint8Array): Media {
  const start = Buffer.from(bytes.subarray(0, SNIFF_BYTES)).toString('latin1');
  const text = start.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').trimStart();
  const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(start);
  if (!isUtf16 && /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(start))
    return { mediaType: 'application/octet-stream', kind: 'unknown' };
  const plain = isUtf16 ? text.replaceAll('\0', '') : text;
  if (startsLikeHtml(plain)) return { mediaType: 'text/html', kind: 'html' };
  if (/^<\?xml\b/i.test(plain)) {
    return /<html[\s>]/i.test(plain)
      ? { mediaType: 'application/xhtml+xml', kind: 'html' }
      : { mediaType: 'application/xml', kind: 'text' };
  }
  return { mediaType: 'text/plain', kind: 'text' };
}

/** The patterns of the MIME Sniffing standard, section 7.1. */
const startsLikeHtml = (text: string) =>
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]/i.test(text) ||
  text.startsWith('<!--');

const MAGIC: readonly (readonly [start: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/x-ole-storage'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['BM', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['\x1f\x8b', 'application/gzip'],
  ['7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
  ['Rar!\x1a\x07', 'application/vnd.rar'],
  ['BZh', 'application/x-bzip2'],
  ['\xfd7zXZ\0', 'application/x-xz'],
  ['(\xb5/\xfd', 'application/zstd'],
  ['ID3', 'audio/mpeg'],
  ['OggS\0', 'application/ogg'],
  ['fLaC', 'audio/flac'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  ['\x7fELF', 'application/x-executable'],
  ['\0asm', 'application/wasm'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['SQLite format 3\0', 'application/vnd.sqlite3'],
];

const OOXML: readonly (readonly [folder: string, type: string])[] = [
  ['word/', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xl/', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['ppt/', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
];

function magicOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4_096)).toString('latin1');
  const type = MAGIC.find(([magic]) => start.startsWith(magic))?.[1];
  // Two or three letters begin many a text as well; a file has bytes that text has not.
  if (type && /^[\x20-\x7e]{2,3}$/.test(start.slice(0, 3)) && !/[\x00-\x08]/.test(start.slice(0, 64))) {
    return start.startsWith('%PDF-') ? type : undefined;
  }
  if (type === 'application/zip') {
    const named = /mimetype(application\/[a-z.+-]+)/.exec(start)?.[1];
    return named ?? OOXML.find(([folder]) => start.includes(folder))?.[1] ?? type;
  }
  if (type) return type;
  if (start.startsWith('RIFF'))
    return { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' }[start.slice(8, 12)];
  if (start.slice(4, 8) === 'ftyp')
    return /^(?:avif|avis|heic|mif1)/.test(start.slice(8, 12)) ? 'image/avif' : 'video/mp4';
  return undefined;
}
