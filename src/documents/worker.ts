/** Entry point of a document process: detects the type of a file, then lets its kind read or render it. */
import { readFile, writeFile } from 'node:fs/promises';
import { ENCRYPTED_OFFICE, typeOfContainer } from './container.ts';
import { canonicalType, TYPES, typeOfFileName } from './detect.ts';
import {
  DocumentError,
  type DocumentErrorKind,
  type DocumentFile,
  type ParsedDocument,
  type ParseOptions,
  type PictureOptions,
  type PicturesOptions,
} from './document.ts';
import { kindOf } from './kinds.ts';
import { CONVERTED_OFFICE_TYPES } from './office/converted-types.ts';
import { wellFormed } from './well-formed.ts';

export type Task =
  | { readonly do: 'parse'; readonly file: DocumentFile; readonly options: ParseOptions }
  | { readonly do: 'picture'; readonly file: DocumentFile; readonly options: PictureOptions }
  | { readonly do: 'pictures'; readonly file: DocumentFile; readonly options: PicturesOptions };

export type Outcome =
  | { readonly kind: 'document'; readonly mediaType: string; readonly document: ParsedDocument }
  | { readonly kind: 'picture'; readonly png: Uint8Array }
  /** Images of one or more of the first requested pages. */
  | { readonly kind: 'pictures'; readonly pictures: readonly Uint8Array[] }
  /** The file at `path` must be converted before it can be read or rendered. */
  | { readonly kind: 'convert'; readonly mediaType: string; readonly path: string }
  | { readonly kind: 'fault'; readonly fault: DocumentErrorKind; readonly message: string };

export default async function work(task: Task): Promise<Outcome> {
  try {
    const buffer = await readFile(task.file.path);
    // Some readers reject Buffer and need a plain Uint8Array.
    const stored = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    const { bytes, mediaType } = await openedFile(task.file, stored);
    const file = { ...task.file, mediaType };
    if (mediaType in CONVERTED_OFFICE_TYPES) return toConvert(mediaType, file, bytes, stored);
    const kind = await kindOf(mediaType);
    if (!kind) throw new DocumentError('unsupported', `Files of the type ${mediaType} cannot be read`);
    if (task.do === 'parse') {
      return { kind: 'document', mediaType, document: wellFormed(await kind.parse(file, bytes, task.options)) };
    }
    if (task.do === 'pictures') {
      if (!kind.pictures)
        throw new DocumentError(
          'unsupported',
          `Files of the type ${mediaType} cannot be rendered several pages at a time`,
        );
      return { kind: 'pictures', pictures: await kind.pictures(file, bytes, task.options) };
    }
    if (!kind.picture) return toConvert(mediaType, file, bytes, stored);
    return { kind: 'picture', png: await kind.picture(file, bytes, task.options) };
  } catch (error) {
    if (error instanceof DocumentError) return { kind: 'fault', fault: error.kind, message: error.message };
    throw error;
  }
}

/** The type and content of a file, decrypted if it is an Office package with a password. */
async function openedFile(file: DocumentFile, stored: Uint8Array) {
  const mediaType = actualType(file, stored);
  if (mediaType !== ENCRYPTED_OFFICE) return { bytes: stored, mediaType };
  const { decryptPackage } = await import('./office/encryption/decrypt.ts');
  const bytes = decryptPackage(stored, file.password);
  return { bytes, mediaType: actualType(file, bytes) };
}

/** A decrypted file is written next to the encrypted one, into the folder of the read, which removes it. */
async function toConvert(
  mediaType: string,
  { path }: DocumentFile,
  bytes: Uint8Array,
  stored: Uint8Array,
): Promise<Outcome> {
  if (bytes === stored) return { kind: 'convert', mediaType, path };
  const decrypted = `${path}-decrypted`;
  await writeFile(decrypted, bytes, { mode: 0o600 });
  return { kind: 'convert', mediaType, path: decrypted };
}

function actualType({ mediaType, name, contentType = '' }: DocumentFile, bytes: Uint8Array): string {
  const isOle = bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0;
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  const container = isOle ? TYPES.ole : isZip ? TYPES.zip : undefined;
  const type = container ? typeOfContainer(container, bytes) : mediaType;
  const promised = [typeOfFileName(name), mediaType, canonicalType(contentType.split(';', 1)[0]!.trim().toLowerCase())];
  if (type === TYPES.zip && promised.some((one) => one !== undefined && ZIPPED.has(one))) {
    throw new DocumentError('damaged', 'The file is cut off or damaged: required parts of the document are missing');
  }
  return type;
}

/** Types that are ZIP archives. */
const ZIPPED = new Set<string>([TYPES.docx, TYPES.xlsx, TYPES.pptx, TYPES.odt, TYPES.ods, TYPES.odp, TYPES.epub]);
