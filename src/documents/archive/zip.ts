/**
 * Reads untrusted ZIP archives (PKWARE APPNOTE 6.3). Declared sizes are not trusted: bytes are counted during
 * decompression. Names are lookup keys, never paths.
 */
import zlib from 'node:zlib';
import { decodeText } from '#html/decode.ts';
import { DocumentError } from '../document.ts';
import { readZipEntries, type ZipEntry } from './directory.ts';

/** Maximum number of decompressed bytes, for one entry and for all entries in total. */
const MAX_ENTRY_BYTES = 256 * 1024 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;
/** Maximum compression ratio. Deflate can reach 1,032:1; text and XML in real documents stay far below this limit. */
const MAX_RATIO = 200;
/** Entries up to this size may have any compression ratio. */
const RATIO_FREE_BYTES = 1024 * 1024;

export interface SalvagedEntry {
  readonly bytes: Uint8Array;
  /** False if the entry is cut off or its checksum is wrong; `bytes` then ends before the damage. */
  readonly complete: boolean;
}

export interface Zip {
  /** Names as stored in the archive, with `/` as separator. */
  readonly names: readonly string[];
  /** False if the directory is missing and the entries were found by scanning the file. */
  readonly complete: boolean;
  /** Looks up a name exactly, then case-insensitively (the rule for Office packages). */
  has(name: string): boolean;
  /** The content of an entry; `undefined` if no entry has this name. Throws DocumentError. */
  read(name: string): Uint8Array | undefined;
  /** Like `read`, but returns the beginning of a damaged entry. Zip bombs and encrypted entries still throw. */
  salvage(name: string): SalvagedEntry | undefined;
  /** The content of an entry as text, decoded by its byte order mark or XML declaration, otherwise as UTF-8. */
  text(name: string): string | undefined;
}

/** Throws DocumentError if the bytes are not an archive, have too many entries or need a password. */
export function openZip(bytes: Uint8Array): Zip {
  const { entries, complete } = readZipEntries(bytes);
  const byName = new Map<string, ZipEntry>();
  const byFold = new Map<string, ZipEntry>();
  for (const entry of entries) {
    byName.set(entry.name, entry);
    byFold.set(fold(entry.name), entry);
  }
  const sizes = new Map<ZipEntry, number>();
  let total = 0;

  const find = (name: string) => byName.get(name) ?? byFold.get(fold(name));
  const salvage = (name: string): SalvagedEntry | undefined => {
    const entry = find(name);
    if (!entry) return undefined;
    const known = sizes.get(entry) ?? 0;
    const result = inflate(bytes, entry, MAX_TOTAL_BYTES - total + known);
    total += result.bytes.length - known;
    sizes.set(entry, result.bytes.length);
    return result;
  };
  const read = (name: string): Uint8Array | undefined => {
    const result = salvage(name);
    if (result && !result.complete) throw new DocumentError('damaged', 'An entry of the archive is cut off or damaged');
    return result?.bytes;
  };
  return {
    names: [...byName.keys()],
    complete,
    has: (name) => find(name) !== undefined,
    read,
    salvage,
    text(name) {
      const content = read(name);
      return content && decodeText(content).text;
    },
  };
}

const fold = (name: string): string => name.toLowerCase();

const STORED = 0;
const DEFLATED = 8;

function inflate(archive: Uint8Array, entry: ZipEntry, leftBytes: number): SalvagedEntry {
  if (entry.encrypted) throw new DocumentError('encrypted', 'The archive is protected by a password');
  const packed = archive.subarray(entry.start, entry.start + entry.packedBytes);
  const whole = packed.length === entry.packedBytes;
  if (entry.method === STORED) {
    if (packed.length > Math.min(MAX_ENTRY_BYTES, leftBytes)) throw tooLarge();
    return { bytes: packed, complete: whole && isSound(packed, entry) };
  }
  if (entry.method !== DEFLATED)
    throw new DocumentError('unsupported', 'The archive uses an unsupported compression method');
  const byRatio = Math.max(RATIO_FREE_BYTES, packed.length * MAX_RATIO);
  const content = inflateUpTo(packed, Math.min(MAX_ENTRY_BYTES, byRatio, leftBytes));
  return { bytes: content.bytes, complete: content.complete && isSound(content.bytes, entry) };
}

function inflateUpTo(packed: Uint8Array, maxBytes: number): SalvagedEntry {
  if (maxBytes <= 0) throw tooLarge();
  try {
    return { bytes: zlib.inflateRawSync(packed, { maxOutputLength: maxBytes }), complete: true };
  } catch (error) {
    if (isOverflow(error)) throw tooLarge(error);
  }
  return { bytes: inflateSound(packed, maxBytes), complete: false };
}

const isOverflow = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

const tooLarge = (cause?: unknown) =>
  new DocumentError('too large', 'The archive is too large when decompressed', cause);

/**
 * Returns the output of damaged data up to the damage. Truncated data is decoded to its last byte. For data with a
 * corrupt byte, bisection finds the longest intact prefix.
 */
function inflateSound(packed: Uint8Array, maxBytes: number): Uint8Array {
  const attempt = (length: number): Uint8Array | undefined => {
    try {
      const finishFlush = zlib.constants.Z_SYNC_FLUSH;
      return zlib.inflateRawSync(packed.subarray(0, length), { maxOutputLength: maxBytes, finishFlush });
    } catch (error) {
      if (isOverflow(error)) throw tooLarge(error);
      return undefined;
    }
  };
  let best = attempt(packed.length);
  if (best) return best;
  let sound = 0;
  let broken = packed.length;
  while (broken - sound > 1) {
    const middle = (sound + broken) >> 1;
    const result = attempt(middle);
    if (result) {
      best = result;
      sound = middle;
    } else broken = middle;
  }
  return best ?? new Uint8Array();
}

/** Entries that were found without a directory may have no known checksum. */
const isSound = (content: Uint8Array, { checksum }: ZipEntry): boolean =>
  checksum === undefined || zlib.crc32(content) === checksum;
