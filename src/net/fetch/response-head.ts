/**
 * Parses the head of an HTTP/1 response as leniently as browsers do, and rewrites it for a strict parser. The end of
 * the body must be unambiguous. The decisions are explained in docs/guide/http.md.
 */
import { type Problem, problem } from '#errors.ts';
import { interimResponseOnly } from './failures.ts';

/** How the end of a body is determined: no body, chunked coding, the end of the connection, or a number of bytes. */
export type Framing = 'none' | 'chunked' | 'close' | number;

export interface ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  /** Status line and headers in strict form, including the empty line. */
  readonly text: string;
}

type Headers = readonly (readonly [name: string, value: string])[];

const fault = (message: string): Problem => problem('AssertionFailureError', { message });

export const notHttp1 = () => fault('The target did not send a valid HTTP response');
export const headTooLarge = () => fault('The headers of the target are too large');
const invalidStatus = () => fault('The target sent an invalid HTTP status');
const severalLengths = () => fault('The target sent two different Content-Length values');
const unknownTransfer = () => fault('The target uses an unsupported transfer encoding');
const severalLocations = () => fault('The target redirects to two different URLs');

/**
 * Index of the status line; browsers ignore up to four bytes before it. -1: not HTTP. undefined: more bytes are needed.
 */
export function findHeadStart(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1', 0, MAX_BEFORE + PROTOCOL.length).toUpperCase();
  const at = text.indexOf(PROTOCOL);
  return at >= 0 ? at : text.length < MAX_BEFORE + PROTOCOL.length ? undefined : -1;
}
const PROTOCOL = 'HTTP';
const MAX_BEFORE = 4;

/** Index after the empty line that ends the head; -1 if not found. Searches from `from`. */
export function findHeadEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}
const LF = 0x0a;
const CR = 0x0d;

/** Throws AssertionFailureError for an invalid or ambiguous head. */
export function parseHead(bytes: Buffer, method: string): ResponseHead {
  const text = bytes.toString('latin1');
  if (text.includes('\0')) throw notHttp1();
  const [first = '', ...rest] = text.split('\n').map((line) => line.replace(/\r+$/, '').replaceAll('\r', ' '));
  const { isHttp10, status, reason } = statusLine(first);
  const { headers, isRegular } = headersOf(rest);
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const framing = hasBody ? framingOf(headers, isHttp10) : 'none';
  const unchanged = headers.filter(([name]) => !REWRITTEN.has(name.toLowerCase()));
  const lengths = valuesOf(headers, 'content-length');
  const closesConnection =
    !isRegular || framing === 'close' || (framing === 'chunked' && lengths.length > 0) || wantsClose(headers, isHttp10);
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    ...[...unchanged, ...singleHeaders(headers, status)].map(([name, value]) => `${name}: ${printable(value)}`),
    ...framingLines(hasBody ? framing : soleLength(lengths)),
    ...(closesConnection ? ['Connection: close'] : []),
  ];
  return { status, framing, text: `${lines.join('\r\n')}\r\n\r\n` };
}

/** Like browsers, treats a missing status code as 200 and an unknown version as HTTP/1.0. */
function statusLine(line: string): { isHttp10: boolean; status: number; reason: string } {
  const version = /^HTTP\/(\d)\.(\d)/i.exec(line);
  const isHttp10 = !version || Number(`${version[1]}${version[2]}`) < 11;
  const space = line.indexOf(' ');
  const rest = space < 0 ? '' : line.slice(space).trimStart();
  const digits = /^\d+/.exec(rest)?.[0];
  const status = digits === undefined ? 200 : Number(digits);
  assertStatus(status);
  // The target switches to a protocol that was not requested (RFC 9110, section 15.2.2).
  if (status === 101) throw interimResponseOnly(status);
  return { isHttp10, status, reason: printable(rest.slice(digits?.length ?? 0)).trim() };
}

/** Throws unless the status has three digits. Unassigned statuses are valid. */
export function assertStatus(status: number): void {
  if (!(status >= 100 && status <= 999)) throw invalidStatus();
}

function headersOf(lines: readonly string[]): { headers: Headers; isRegular: boolean } {
  const headers: [string, string][] = [];
  let last: [string, string] | undefined;
  let isRegular = true;
  for (const line of lines) {
    if (line === '') continue;
    const isContinued = line.startsWith(' ') || line.startsWith('\t');
    const colon = line.indexOf(':');
    const name = colon < 0 ? '' : line.slice(0, colon).trimEnd();
    const value = (isContinued ? line : line.slice(colon + 1)).replace(/^[ \t]+|[ \t]+$/g, '');
    if (isContinued) {
      // A continuation of the preceding header (RFC 9112, section 5.2).
      if (last) last[1] = `${last[1]} ${value}`.trimStart();
    } else if (TOKEN.test(name)) {
      last = [name, value];
      headers.push(last);
    } else last = undefined;
    isRegular &&= last !== undefined;
  }
  return { headers, isRegular };
}
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const printable = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');

const valuesOf = (headers: Headers, name: string): string[] =>
  headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);

const listOf = (values: readonly string[]): string[] =>
  values.flatMap((value) => value.split(',')).map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''));

/** Implements RFC 9112, section 6.3. Like browsers, ignores an invalid Content-Length. */
function framingOf(headers: Headers, isHttp10: boolean): Framing {
  if (isChunked(valuesOf(headers, 'transfer-encoding'), isHttp10)) return 'chunked';
  return soleLength(valuesOf(headers, 'content-length')) ?? 'close';
}

/**
 * Whether the body is chunked. Throws for transfer encodings other than `chunked` and `identity`, for both at once, and
 * for chunked coding in HTTP/1.0, because intermediaries may interpret such responses differently.
 */
export function isChunked(values: readonly string[], isHttp10: boolean): boolean {
  const codings = new Set(
    listOf(values)
      .map((coding) => coding.toLowerCase())
      .filter(Boolean),
  );
  if (codings.size > 1 || [...codings].some((coding) => coding !== 'chunked' && coding !== 'identity')) {
    throw unknownTransfer();
  }
  if (codings.has('chunked') && isHttp10) throw unknownTransfer();
  return codings.has('chunked');
}

function soleLength(values: readonly string[]): number | undefined {
  const [length, ...others] = new Set(listOf(values));
  if (others.length) throw severalLengths();
  return length !== undefined && /^\d+$/.test(length) && BigInt(length) <= MAX_LENGTH ? Number(length) : undefined;
}
/** The largest signed 64-bit integer, which is also the limit in browsers. */
const MAX_LENGTH = 2n ** 63n - 1n;

const framingLines = (framing: Framing | undefined): string[] => {
  if (framing === 'chunked') return ['Transfer-Encoding: chunked'];
  return typeof framing === 'number' ? [`Content-Length: ${BigInt(framing)}`] : [];
};

/**
 * Headers that must occur only once. Equal duplicates are dropped; differing `Location` headers of a redirect are an
 * error.
 */
function singleHeaders(headers: Headers, status: number): Headers {
  const locations = new Set(valuesOf(headers, 'location'));
  if (locations.size > 1 && REDIRECT_STATUSES.has(status)) throw severalLocations();
  const named = (name: string, [value]: Iterable<string>): Headers => (value === undefined ? [] : [[name, value]]);
  return [...named('Location', locations), ...named('Content-Disposition', valuesOf(headers, 'content-disposition'))];
}

const wantsClose = (headers: Headers, isHttp10: boolean): boolean => {
  const tokens = listOf(valuesOf(headers, 'connection')).map((token) => token.toLowerCase());
  return tokens.includes('close') || (isHttp10 && !tokens.includes('keep-alive'));
};

/** The statuses whose `Location` is followed (Fetch standard, "redirect status"). */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that are rewritten from their parsed values. */
const REWRITTEN = new Set(['transfer-encoding', 'content-length', 'connection', 'location', 'content-disposition']);
