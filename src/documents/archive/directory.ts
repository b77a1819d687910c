/** Locates the entries of a ZIP archive: by its central directory or, if that is lost, by their local headers. */
import { decodeText } from '#html/decode.ts';
import { DocumentError } from '../document.ts';

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly encrypted: boolean;
  /** CRC-32 of the content, if known. */
  readonly checksum: number | undefined;
  /** Offset of the compressed bytes in the archive, and their declared count. */
  readonly start: number;
  readonly packedBytes: number;
}

export interface ZipEntries {
  readonly entries: readonly ZipEntry[];
  /** Whether the entries come from an intact central directory. */
  readonly complete: boolean;
}

const MAX_ENTRIES = 10_000;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;

const IS_ENCRYPTED = 0x0001 | 0x0040;
const HAS_DESCRIPTOR = 0x0008;
const IS_UTF8 = 0x0800;

/** Magic number of an OLE compound file: the older Office formats, and new-style Office files with a password. */
const COMPOUND = 0xe011cfd0;

export function readZipEntries(bytes: Uint8Array): ZipEntries {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length >= 4 && view.getUint32(0, true) === COMPOUND) throw compoundFault(bytes);
  const directory = findDirectory(view);
  if (directory) {
    const entries = fromDirectory(bytes, view, directory);
    if (entries) return { entries, complete: true };
  }
  const entries = fromHeaders(bytes, view);
  if (entries.length === 0) throw new DocumentError('damaged', 'The file is damaged or is not a ZIP archive');
  return { entries, complete: false };
}

function compoundFault(bytes: Uint8Array): DocumentError {
  const { buffer, byteOffset, byteLength } = bytes;
  const isPackage = Buffer.from(buffer, byteOffset, byteLength).includes(Buffer.from('EncryptedPackage', 'utf16le'));
  return isPackage
    ? new DocumentError('encrypted', 'The document is protected by a password')
    : new DocumentError('damaged', 'The content of the file does not match its name or type');
}

interface Directory {
  readonly at: number;
  readonly count: number;
  /** Added to every offset: the number of bytes before the archive. */
  readonly shift: number;
}

function findDirectory(view: DataView): Directory | undefined {
  const lowest = Math.max(0, view.byteLength - END_BYTES - LONGEST_COMMENT);
  for (let at = view.byteLength - END_BYTES; at >= lowest; at--) {
    if (view.getUint32(at, true) !== END) continue;
    const directory = findDirectory64(view, at) ?? {
      count: view.getUint16(at + 10, true),
      size: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true),
      end: at,
    };
    const { count, size, offset, end } = directory;
    const start = end - size;
    if (start < 0 || start < offset) continue;
    if (count === 0) return { at: start, count, shift: 0 };
    if (start + 4 <= view.byteLength && view.getUint32(start, true) === CENTRAL) {
      return { at: start, count, shift: start - offset };
    }
  }
  return undefined;
}

function findDirectory64(view: DataView, end: number) {
  const locator = end - 20;
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR_64) return undefined;
  const at = readSize(view, locator + 8);
  if (at + 56 > view.byteLength || view.getUint32(at, true) !== END_64) return undefined;
  return { count: readSize(view, at + 32), size: readSize(view, at + 40), offset: readSize(view, at + 48), end: at };
}

/** A 64-bit number. Sizes beyond 2^53 lose precision, but they exceed the file size anyway and are refused. */
const readSize = (view: DataView, at: number): number => Number(view.getBigUint64(at, true));

/** Returns `undefined` if the directory is inconsistent. */
function fromDirectory(bytes: Uint8Array, view: DataView, directory: Directory): ZipEntry[] | undefined {
  const { count, shift } = directory;
  if (count > MAX_ENTRIES) throw tooMany();
  const entries: ZipEntry[] = [];
  let { at } = directory;
  for (let n = 0; n < count; n++) {
    if (at + CENTRAL_BYTES > bytes.length || view.getUint32(at, true) !== CENTRAL) return undefined;
    const flags = view.getUint16(at + 8, true);
    const nameBytes = view.getUint16(at + 28, true);
    const extraBytes = view.getUint16(at + 30, true);
    const extraAt = at + CENTRAL_BYTES + nameBytes;
    const next = extraAt + extraBytes + view.getUint16(at + 32, true);
    if (next > bytes.length) return undefined;
    const place = placeOf(view, at, extraAt, extraAt + extraBytes);
    const start = contentStart(view, place.offset + shift);
    if (start !== undefined) {
      entries.push({
        name: nameOf(bytes.subarray(at + CENTRAL_BYTES, extraAt), flags),
        method: view.getUint16(at + 10, true),
        encrypted: (flags & IS_ENCRYPTED) !== 0,
        checksum: view.getUint32(at + 16, true),
        start,
        packedBytes: place.packedBytes,
      });
    }
    at = next;
  }
  return entries;
}

const tooMany = () =>
  new DocumentError('too large', `The archive has more than ${MAX_ENTRIES.toLocaleString('en')} entries`);

const IN_EXTRA = 0xffffffff;
const EXTRA_64 = 0x0001;

/** Offset and compressed size of a directory entry. Values beyond 32 bits are stored in its extra field. */
function placeOf(view: DataView, at: number, extraAt: number, extraEnd: number) {
  let packedBytes = view.getUint32(at + 20, true);
  let offset = view.getUint32(at + 42, true);
  for (let field = extraAt; field + 4 <= extraEnd; field += 4 + view.getUint16(field + 2, true)) {
    if (view.getUint16(field, true) !== EXTRA_64) continue;
    const fieldEnd = Math.min(extraEnd, field + 4 + view.getUint16(field + 2, true));
    let value = field + 4;
    if (view.getUint32(at + 24, true) === IN_EXTRA) value += 8;
    if (packedBytes === IN_EXTRA && value + 8 <= fieldEnd) {
      packedBytes = readSize(view, value);
      value += 8;
    }
    if (offset === IN_EXTRA && value + 8 <= fieldEnd) offset = readSize(view, value);
    break;
  }
  return { packedBytes, offset };
}

/** Offset of the compressed bytes after a local header; `undefined` if there is no header at `at`. */
function contentStart(view: DataView, at: number): number | undefined {
  if (at < 0 || at + LOCAL_BYTES > view.byteLength || view.getUint32(at, true) !== LOCAL) return undefined;
  return at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
}

/**
 * A flag marks UTF-8 names. Many writers use UTF-8 without setting the flag; others use the code page of their machine.
 */
const nameOf = (raw: Uint8Array, flags: number): string => {
  const name = flags & IS_UTF8 ? new TextDecoder().decode(raw) : decodeText(raw).text;
  return name.replaceAll('\\', '/').replace(/^\//, '');
};

/** Recovers the entries of an archive without a directory, by scanning for local headers. */
function fromHeaders(bytes: Uint8Array, view: DataView): ZipEntry[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: ZipEntry[] = [];
  let at = bytes.length >= LOCAL_BYTES && view.getUint32(0, true) === LOCAL ? 0 : -1;
  while (at >= 0 && at + LOCAL_BYTES <= bytes.length) {
    const start = contentStart(view, at);
    if (start === undefined || start > bytes.length) break;
    if (entries.length >= MAX_ENTRIES) throw tooMany();
    const flags = view.getUint16(at + 6, true);
    const nameAt = at + LOCAL_BYTES;
    const isSized = (flags & HAS_DESCRIPTOR) === 0;
    const next = isSized ? start + view.getUint32(at + 18, true) : nextHeader(buffer, start);
    entries.push({
      name: nameOf(bytes.subarray(nameAt, nameAt + view.getUint16(at + 26, true)), flags),
      method: view.getUint16(at + 8, true),
      encrypted: (flags & IS_ENCRYPTED) !== 0,
      checksum: isSized ? view.getUint32(at + 14, true) : undefined,
      start,
      packedBytes: (next < 0 ? bytes.length : next) - start,
    });
    at = next;
  }
  return entries;
}

const HEADER = Buffer.from('PK\x03\x04', 'latin1');

const nextHeader = (buffer: Buffer, from: number): number => buffer.indexOf(HEADER, from);
