/**
 * Determines the kind of a body: by its Content-Type, or by its first bytes if the header is missing or clearly wrong.
 */
import {
  canonicalType,
  hasLatePdfHeader,
  isReadableType,
  TYPES,
  typeOfBytes,
  typeOfFileName,
} from '#documents/detect.ts';
import { ownValue } from '#own-value.ts';

/**
 * `html` and `text` are decoded, a `file` becomes a document, and `other` cannot be read; for `unknown`, the body must
 * be examined.
 */
export type Kind = 'html' | 'text' | 'file' | 'other' | 'unknown';

export interface Media {
  /** The media type in lower case, without parameters. */
  readonly mediaType: string;
  readonly kind: Kind;
}

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml']);

/** Uninformative types: servers use them for files of unknown type. */
const EMPTY_TYPES = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/unknown',
  'application/x-download',
  'application/download',
  'application/force-download',
  'unknown/unknown',
  '*/*',
]);

/** Text types that neither begin with `text/` nor end in `+xml` or `+json`. */
const TEXT_TYPES = new Set(
  'json javascript x-javascript ecmascript typescript yaml x-yaml toml x-toml x-ndjson ndjson jsonl jsonlines x-jsonlines json-seq sql graphql x-sh x-httpd-php x-tex x-latex x-subrip x-bibtex mbox srt'
    .split(' ')
    .map((name) => `application/${name}`),
);

const isTextType = (type: string) =>
  !isReadableType(type) && (type.startsWith('text/') || /\+(?:json|yaml)$/.test(type) || TEXT_TYPES.has(type));

/** Types that are never read, regardless of the body. */
const isMediaOrFont = (type: string) => /^(?:audio|video|font|model)\//.test(type);

/**
 * Lower case, without parameters. Of several types, the last valid one is used (Fetch standard, "extract a MIME type").
 */
export function mediaTypeOf(contentType: string | undefined): string {
  const [first = '', ...others] = (contentType ?? '')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .split(/[,\n]/)
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase());
  return others.findLast(isType) ?? first;
}

const isType = (text: string) => /^[^\s/]+\/[^\s/]+$/.test(text) && text !== '*/*';

/** The kind according to the header alone; `unknown` if the body must be examined. */
export function declaredMedia(contentType: string | undefined): Media {
  const type = mediaTypeOf(contentType);
  if (HTML_TYPES.has(type)) return { mediaType: type, kind: 'html' };
  if (EMPTY_TYPES.has(type) || !isType(type)) return { mediaType: '', kind: 'unknown' };
  if (isReadableType(type)) return { mediaType: canonicalType(type), kind: 'file' };
  if (isMediaOrFont(type)) return { mediaType: type, kind: 'other' };
  return { mediaType: type, kind: isTextType(type) ? 'text' : 'unknown' };
}

/**
 * The kind according to the header, the first bytes (4 KiB are enough) and the file name. Magic bytes take precedence
 * over the header: a file sent as text is treated as a file, and a page sent as a file is treated as a page.
 */
export function actualMedia(declared: Media, bytes: Uint8Array, name?: string): Media {
  if (declared.kind === 'other') return declared;
  const magic = typeOfBytes(bytes);
  if (magic) return { mediaType: magic, kind: isReadableType(magic) ? 'file' : 'other' };
  if (/[/+]json$/.test(declared.mediaType) && isJsonFeed(bytes)) return { mediaType: TYPES.jsonFeed, kind: 'file' };
  const feed = mislabeledFeed(declared.mediaType, bytes);
  if (feed) return { mediaType: feed, kind: 'file' };
  if (declared.kind !== 'file' && declared.kind !== 'unknown') return declared;
  if (hasLatePdfHeader(bytes)) return { mediaType: TYPES.pdf, kind: 'file' };
  if (declared.kind === 'file') return mislabeledFile(declared, bytes, name) ?? declared;
  const found = sniff(bytes);
  const named = found.kind === 'html' ? undefined : typeOfFileName(name);
  if (named) return { mediaType: named, kind: 'file' };
  // An unknown declared type is better evidence than a body that looks like text.
  return declared.mediaType && found.kind !== 'html' ? { mediaType: declared.mediaType, kind: 'other' } : found;
}

/** A JSON feed declares itself at its start, and is usually sent as plain JSON (jsonfeed.org, version 1.1). */
const isJsonFeed = (bytes: Uint8Array) =>
  /^\s*\{[^[\]{}]*"version"\s*:\s*"https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org/.test(
    Buffer.from(bytes.subarray(0, SNIFF_BYTES)).toString('latin1'),
  );

/**
 * Servers send sign-in and error pages with the type of the requested file, and plain-text tables with the type of a
 * spreadsheet.
 */
function mislabeledFile({ mediaType }: Media, bytes: Uint8Array, name: string | undefined): Media | undefined {
  const found = sniff(bytes);
  if (found.kind === 'html') return found;
  if (found.kind !== 'text' || !CONTAINERS.has(mediaType)) return undefined;
  const named = typeOfFileName(name);
  const table = named && TABLES.has(named) ? named : typeOfRows(bytes);
  return table ? { mediaType: table, kind: 'file' } : found;
}

/** Archives and OLE containers, which never begin as text. */
const CONTAINERS = new Set<string>([
  TYPES.doc,
  TYPES.xls,
  TYPES.ppt,
  TYPES.docx,
  TYPES.xlsx,
  TYPES.pptx,
  TYPES.odt,
  TYPES.ods,
  TYPES.odp,
]);
const TABLES = new Set<string>([TYPES.csv, TYPES.tsv]);

const SEPARATORS = [
  ['\t', TYPES.tsv],
  [';', TYPES.csv],
  [',', TYPES.csv],
  ['|', TYPES.csv],
] as const;
const MAX_LINES = 20;
/** A body of at least this length counts as truncated. */
const SNIFFED_BYTES = 4_096;

/**
 * The type of table if its separator occurs equally often, at least once, in each of the first lines. Requires at least
 * two lines.
 */
function typeOfRows(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes).toString('latin1').replaceAll('\0', '');
  if (/^sep=/i.test(start)) return TYPES.csv;
  // Quoted cells may contain separators and line breaks.
  const lines = start.replaceAll(/"[^"]*"/g, '').split(/\r\n|\r|\n/, MAX_LINES + 1);
  const isCut = bytes.length >= SNIFFED_BYTES || lines.length > MAX_LINES;
  const whole = (isCut ? lines.slice(0, -1) : lines).filter((line) => line.trim() !== '');
  if (whole.length < 2) return undefined;
  const counts = (separator: string) => whole.map((line) => line.split(separator).length - 1);
  return SEPARATORS.find(([separator]) => {
    const [first, ...rest] = counts(separator);
    return first !== undefined && first > 0 && rest.every((count) => count === first);
  })?.[1];
}

/** The types of feeds and sitemaps, by their root element. */
const FEEDS: Readonly<Record<string, string>> = {
  rss: TYPES.rss,
  feed: TYPES.atom,
  urlset: TYPES.xml,
  sitemapindex: TYPES.xml,
};
const RDF_NAMESPACES = ['http://purl.org/rss/1.0/', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'];

/**
 * A feed sent as a page or as plain text. For pages: the rules of the MIME Sniffing standard (section 7.3), and
 * sitemaps. Plain text must begin with the feed.
 */
function mislabeledFeed(declaredType: string, bytes: Uint8Array): string | undefined {
  if (declaredType !== 'text/html' && declaredType !== 'text/plain') return undefined;
  const text = Buffer.from(bytes)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (declaredType === 'text/plain' && !/^\s*<(?:\?xml|rss|feed|urlset)[\s>]/.test(text)) return undefined;
  const root = /^<([a-z]+(?::RDF)?)[\s>]/.exec(afterProlog(text))?.[1] ?? '';
  if (root === 'rdf:RDF') return RDF_NAMESPACES.every((name) => text.includes(name)) ? TYPES.rss : undefined;
  return ownValue(FEEDS, root);
}

/** The text after comments, declarations and processing instructions; '' if one of them is not closed. */
function afterProlog(text: string): string {
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? '')) at++;
    const end = text.startsWith('<!--', at)
      ? '-->'
      : text.startsWith('<!', at)
        ? '>'
        : text.startsWith('<?', at)
          ? '?>'
          : undefined;
    if (end === undefined) return text.slice(at);
    const found = text.indexOf(end, at);
    if (found < 0) return '';
    at = found + end.length;
  }
}

const SNIFF_BYTES = 1_445;

function sniff(bytes: Uint8Array): Media {
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
      : { mediaType: 'application/xml', kind: 'file' };
  }
  return { mediaType: 'text/plain', kind: 'text' };
}

/** The patterns of the MIME Sniffing standard, section 7.1. */
const startsLikeHtml = (text: string) =>
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]/i.test(text) ||
  text.startsWith('<!--');
