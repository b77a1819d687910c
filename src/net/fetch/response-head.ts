/**
 * The head of an HTTP/1 answer, read as leniently as browsers read it and written anew for a strict parser. What says
 * where the body ends must not be open to two readings. The decisions are those of docs/guide/http.md.
 */
import { type Problem, problem } from '#errors.ts';
import { interimResponseOnly } from './failures.ts';

/** Where the body of an answer ends: before it begins, after so many bytes, by chunks, or with the connection. */
export type Framing = 'none' | 'chunked' | 'close' | number;

export interface ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  /** Status line and headers as a strict parser takes them, with the empty line. */
  readonly text: string;
}

type Headers = readonly (readonly [name: string, value: string])[];

const fault = (message: string): Problem => problem('AssertionFailureError', { message });

export const notHttp1 = () => fault('The target did not answer in HTTP');
export const headTooLarge = () => fault('The headers of the target are too large');
const invalidStatus = () => fault('The target answered with a status that does not exist');
const severalLengths = () => fault('The target gives two different lengths for its content');
const unknownTransfer = () => fault('The target sends its content in a transfer encoding that cannot be read');
const severalLocations = () => fault('The target redirects to two addresses at once');

/** Where a status line begins: browsers ignore up to four bytes before it. -1: these bytes are no answer; undefined: too few. */
export function findHeadStart(bytes: Buffer): number | undefined {
  const text = bytes.toString('latin1', 0, MAX_BEFORE + PROTOCOL.length).toUpperCase();
  const at = text.indexOf(PROTOCOL);
  return at >= 0 ? at : text.length < MAX_BEFORE + PROTOCOL.length ? undefined : -1;
}
const PROTOCOL = 'HTTP';
const MAX_BEFORE = 4;

/** The index after the empty line that ends a head; -1 when it is not there yet. `from` is where no search has been. */
export function findHeadEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}
const LF = 0x0a;
const CR = 0x0d;

/** Throws AssertionFailureError for a head that is none, or that could be read in two ways. */
export function parseHead(bytes: Buffer, method: string): ResponseHead {
  const text = bytes.toString('latin1');
  if (text.includes('\0')) throw notHttp1();
  const [first = '', ...rest] = text.split('\n').map((line) => line.replace(/\r+$/, '').replaceAll('\r', ' '));
  const { isOld, status, reason } = statusLine(first);
  const { headers, isRegular } = headersOf(rest);
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const framing = hasBody ? framingOf(headers, isOld) : 'none';
  const kept = headers.filter(([name]) => !REWRITTEN.has(name.toLowerCase()));
  const lengths = valuesOf(headers, 'content-length');
  const endsConnection =
    !isRegular || framing === 'close' || (framing === 'chunked' && lengths.length > 0) || isLast(headers, isOld);
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    ...[...kept, ...single(headers, status)].map(([name, value]) => `${name}: ${printable(value)}`),
    ...framingLines(hasBody ? framing : soleLength(lengths)),
    ...(endsConnection ? ['Connection: close'] : []),
  ];
  return { status, framing, text: `${lines.join('\r\n')}\r\n\r\n` };
}

/** An answer whose status line names no number counts as 200, an unknown version as 1.0, as in browsers. */
function statusLine(line: string): { isOld: boolean; status: number; reason: string } {
  const version = /^HTTP\/(\d)\.(\d)/i.exec(line);
  const isOld = !version || Number(`${version[1]}${version[2]}`) < 11;
  const space = line.indexOf(' ');
  const rest = space < 0 ? '' : line.slice(space).trimStart();
  const digits = /^\d+/.exec(rest)?.[0];
  const status = digits === undefined ? 200 : Number(digits);
  assertStatus(status);
  // Another protocol follows, which nobody asked for (RFC 9110, section 15.2.2).
  if (status === 101) throw interimResponseOnly(status);
  return { isOld, status, reason: printable(rest.slice(digits?.length ?? 0)).trim() };
}

/** Throws for what is no status: those of three digits are, assigned or not. */
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
      // Belongs to the header before it (RFC 9112, section 5.2), and goes with it.
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

/** RFC 9112, section 6.3; a length that is none is passed over, as browsers do. */
function framingOf(headers: Headers, isOld: boolean): Framing {
  if (isChunked(valuesOf(headers, 'transfer-encoding'), isOld)) return 'chunked';
  return soleLength(valuesOf(headers, 'content-length')) ?? 'close';
}

/**
 * Whether a body comes in chunks. Throws for any other transfer encoding but `identity`, for both at once, and for chunks
 * in HTTP/1.0, which has none: others on the way may read such an answer in another way.
 */
export function isChunked(values: readonly string[], isOld: boolean): boolean {
  const codings = new Set(
    listOf(values)
      .map((coding) => coding.toLowerCase())
      .filter(Boolean),
  );
  if (codings.size > 1 || [...codings].some((coding) => coding !== 'chunked' && coding !== 'identity')) {
    throw unknownTransfer();
  }
  if (codings.has('chunked') && isOld) throw unknownTransfer();
  return codings.has('chunked');
}

function soleLength(values: readonly string[]): number | undefined {
  const [length, ...others] = new Set(listOf(values));
  if (others.length) throw severalLengths();
  return length !== undefined && /^\d+$/.test(length) && BigInt(length) <= MAX_LENGTH ? Number(length) : undefined;
}
/** What browsers count in. */
const MAX_LENGTH = 2n ** 63n - 1n;

const framingLines = (framing: Framing | undefined): string[] => {
  if (framing === 'chunked') return ['Transfer-Encoding: chunked'];
  return typeof framing === 'number' ? [`Content-Length: ${BigInt(framing)}`] : [];
};

/** Headers of which there can be one: others of the same value are left out, and only a redirect needs to know which counts. */
function single(headers: Headers, status: number): Headers {
  const locations = new Set(valuesOf(headers, 'location'));
  if (locations.size > 1 && REDIRECT_STATUSES.has(status)) throw severalLocations();
  const named = (name: string, [value]: Iterable<string>): Headers => (value === undefined ? [] : [[name, value]]);
  return [...named('Location', locations), ...named('Content-Disposition', valuesOf(headers, 'content-disposition'))];
}

const isLast = (headers: Headers, isOld: boolean): boolean => {
  const tokens = listOf(valuesOf(headers, 'connection')).map((token) => token.toLowerCase());
  return tokens.includes('close') || (isOld && !tokens.includes('keep-alive'));
};

/** The statuses whose `Location` is followed (Fetch standard, "redirect status"). */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that are written by what was understood of them. */
const REWRITTEN = new Set(['transfer-encoding', 'content-length', 'connection', 'location', 'content-disposition']);
