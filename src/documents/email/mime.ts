/** Splits a MIME entity into its parts (RFC 2045, 2046) and decodes their content. */
import { DocumentError } from '../document.ts';
import { type Header, readHeader } from './header.ts';

export interface MimePart {
  readonly header: Header;
  /** `text/plain` if none is declared. */
  readonly mediaType: string;
  /** The parts of a multipart entity. */
  readonly children: readonly MimePart[];
  /** The decoded content of an entity without parts. */
  content(): Uint8Array;
}

/** Deeper parts and further parts are left out. */
const MAX_DEPTH = 20;
const MAX_PARTS = 2_000;

export interface ParsedMime {
  readonly root: MimePart;
  /** False if parts were left out. */
  readonly complete: boolean;
}

interface Pending {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  readonly defaultType: string;
  readonly siblings: MimePart[];
}

/** `bytes` is the entity with its header. Throws DocumentError if it has no header. */
export function parseMime(bytes: Uint8Array): ParsedMime {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const top: MimePart[] = [];
  const waiting: Pending[] = [
    { from: startOf(source), to: source.length, depth: 0, defaultType: 'text/plain', siblings: top },
  ];
  let count = 0;
  let complete = true;
  // First in, first out, so that the parts keep their order.
  for (let next = 0; next < waiting.length; next++) {
    const { from, to, depth, defaultType, siblings } = waiting[next]!;
    count += 1;
    if (count > MAX_PARTS) {
      complete = false;
      break;
    }
    const { header, bodyFrom } = readPartHeader(source, from, to);
    const type = header.structured('content-type');
    const boundary = type.value.startsWith('multipart/') ? type.parameter('boundary') : '';
    const children: MimePart[] = [];
    siblings.push({
      header,
      mediaType: /^[^/\s]+\/[^/\s]+$/.test(type.value) ? type.value : defaultType,
      children,
      content: () => decodeTransfer(source.slice(bodyFrom, to), header.structured('content-transfer-encoding').value),
    });
    if (boundary === '') continue;
    if (depth >= MAX_DEPTH) complete = false;
    else {
      const childType = type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
      for (const [start, end] of partsBetween(source, boundary, bodyFrom, to)) {
        waiting.push({ from: start, to: end, depth: depth + 1, defaultType: childType, siblings: children });
      }
    }
  }
  return { root: top[0]!, complete };
}

/** Mailboxes begin a message with a line `From ` that is not a field. */
function startOf(source: string): number {
  const start = /^[\s\xef\xbb\xbf]*/.exec(source.slice(0, 1_024))![0].length;
  const from = source.startsWith('From ', start) ? source.indexOf('\n', start) + 1 : start;
  if (!/^[!-9;-~]+[ \t]*:/.test(source.slice(from, from + 1_024)))
    throw new DocumentError('damaged', 'The file is not an email message');
  return from;
}

function readPartHeader(source: string, from: number, to: number): { header: Header; bodyFrom: number } {
  // A part may begin with the empty line.
  const empty = /^\r?\n/.exec(source.slice(from, from + 2));
  if (empty) return { header: readHeader(''), bodyFrom: from + empty[0].length };
  // A search in the whole source would go beyond the part.
  const part = source.slice(from, to);
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => ({ mark, at: part.indexOf(mark) }));
  const [first] = ends.filter(({ at }) => at >= 0).sort((one, two) => one.at - two.at);
  const end = first ? from + first.at : to;
  return { header: readHeader(source.slice(from, end)), bodyFrom: Math.min(to, end + (first?.mark.length ?? 0)) };
}

/** The ranges between the lines with the boundary. The last one is open if the message is cut off. */
function partsBetween(whole: string, boundary: string, base: number, limit: number): [from: number, to: number][] {
  const parts: [number, number][] = [];
  const source = whole.slice(base, limit);
  const mark = `--${boundary}`;
  let start: number | undefined;
  for (let at = source.indexOf(mark); at >= 0; at = source.indexOf(mark, at + mark.length)) {
    if (at > 0 && source[at - 1] !== '\n') continue;
    const after = source.slice(at + mark.length, at + mark.length + 2);
    if (after !== '' && !/^(?:--|[ \t\r\n])/.test(after)) continue;
    // The line end before the boundary belongs to the boundary.
    const end = Math.max(start ?? at, at - (source[at - 2] === '\r' ? 2 : 1));
    if (start !== undefined) parts.push([base + start, base + end]);
    start = undefined;
    if (after === '--') break;
    const lineEnd = source.indexOf('\n', at);
    if (lineEnd < 0 || parts.length >= MAX_PARTS) break;
    start = lineEnd + 1;
  }
  if (start !== undefined && base + start < limit) parts.push([base + start, limit]);
  return parts;
}

function decodeTransfer(body: string, encoding: string): Uint8Array {
  if (encoding === 'base64') return new Uint8Array(Buffer.from(body, 'base64'));
  if (encoding !== 'quoted-printable') return new Uint8Array(Buffer.from(body, 'latin1'));
  const text = body
    .replace(/(?<![ \t])[ \t]+(?=\r?\n|$)/g, '')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return new Uint8Array(Buffer.from(text, 'latin1'));
}
