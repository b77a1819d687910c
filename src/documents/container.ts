/** Detects the type of a document in a container format: a ZIP archive or an OLE file. */
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

/** An OLE file lists the names of its streams in its directory, as UTF-16 (MS-CFB, section 2.6.1). */
function typeOfOle(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (name: string) => buffer.includes(Buffer.from(name, 'utf16le'));
  if (has('EncryptedPackage')) return ENCRYPTED_OFFICE;
  if (has('WordDocument')) return TYPES.doc;
  if (has('PowerPoint Document')) return TYPES.ppt;
  if (has('Workbook') || has('Book')) return TYPES.xls;
  return TYPES.ole;
}
