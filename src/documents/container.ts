/** Detects the type of a document in a container format: a ZIP archive or an OLE file. */
import { type OleStorage, openOle } from './archive/ole.ts';
import { openZip } from './archive/zip.ts';
import { canonicalType, TYPES } from './detect.ts';

/**
 * Detects the type of a complete file when only its container format is known. Throws DocumentError if a ZIP cannot be
 * opened.
 */
export function typeOfContainer(mediaType: string, bytes: Uint8Array): string {
  if (mediaType === TYPES.ole) return typeOfOle(bytes);
  if (mediaType !== TYPES.zip) return mediaType;
  const zip = openZip(bytes);
  const mimetype = zip.has('mimetype') ? zip.text('mimetype')?.trim() : undefined;
  if (mimetype) return canonicalType(mimetype);
  if (zip.has('word/document.xml') || zip.names.some((name) => /^word\/document\d*\.xml$/.test(name)))
    return TYPES.docx;
  if (zip.names.some((name) => name.startsWith('xl/workbook'))) return TYPES.xlsx;
  if (zip.names.some((name) => name.startsWith('ppt/presentation'))) return TYPES.pptx;
  if (zip.has('META-INF/container.xml')) return TYPES.epub;
  return mediaType;
}

/** Marks an OLE file that contains an encrypted new-style Office file. */
export const ENCRYPTED_OFFICE = 'application/x-encrypted-office';

/**
 * The type of an OLE file by the names of its streams. They are compared without regard to case (MS-CFB, section
 * 2.6.4).
 */
function typeOfOle(bytes: Uint8Array): string {
  // Asked first, because attached and embedded files have streams of their own.
  const root = rootOf(bytes);
  const type = typeByStreams((name) => root?.stream(name) !== undefined);
  if (type !== undefined) return type;
  // A damaged directory may still contain the name.
  const names = streamNames(bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (
    typeByStreams((name) => names.has(name.toLowerCase()) || buffer.includes(Buffer.from(name, 'utf16le'))) ?? TYPES.ole
  );
}

const TYPE_OF_STREAM: readonly (readonly [stream: string, type: string])[] = [
  ['__properties_version1.0', TYPES.msg],
  ['EncryptedPackage', ENCRYPTED_OFFICE],
  ['WordDocument', TYPES.doc],
  ['PowerPoint Document', TYPES.ppt],
  ['Workbook', TYPES.xls],
  ['Book', TYPES.xls],
];

const typeByStreams = (has: (stream: string) => boolean): string | undefined =>
  TYPE_OF_STREAM.find(([stream]) => has(stream))?.[1];

function rootOf(bytes: Uint8Array): OleStorage | undefined {
  try {
    return openOle(bytes);
  } catch {
    // A damaged file may still be recognized by its names.
    return undefined;
  }
}

/** Size of a directory entry. Sectors are multiples of it, so every entry begins at a multiple. */
const ENTRY_BYTES = 128;
/** Positions in an entry: the length of the name in bytes, with its final NUL, and the kind of object. */
const LENGTH_AT = 64;
const KIND_AT = 66;
const STREAM = 2;

/** The names of the streams in lower case, and of what looks like a stream (MS-CFB, section 2.6.1). */
function streamNames(bytes: Uint8Array): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = 0; at + ENTRY_BYTES <= bytes.length && names.size < MAX_NAMES; at += ENTRY_BYTES) {
    const length = bytes[at + LENGTH_AT]!;
    if (bytes[at + KIND_AT] !== STREAM || bytes[at + LENGTH_AT + 1] !== 0) continue;
    if (length < 4 || length > LENGTH_AT || length % 2 === 1 || bytes[at + length - 2] !== 0) continue;
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + at, length - 2).toString('utf16le');
    names.add(name.toLowerCase());
  }
  return names;
}

const MAX_NAMES = 100_000;
