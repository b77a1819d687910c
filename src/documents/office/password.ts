/**
 * Checks whether an old Office file has a password, from the few bytes that record it: the file information block of
 * Word (MS-DOC, 2.5.2), the first records of a workbook (MS-XLS, 2.4.117), the current user stream of PowerPoint
 * (MS-PPT, 2.3.2). The file's directory (MS-CFB, 2.6) gives their positions.
 */

const ENTRY_BYTES = 128;
const SHORT_BYTES = 4096;
const SHORT_SECTOR_BYTES = 64;
const ENCRYPTED_WORD = 0x0100;
const FILE_PASS = 0x2f;
const MAX_RECORDS = 40;
/** Record type, header size, and the token of an encrypted presentation. The length field of the record is skipped. */
const USER_ATOM = Buffer.from('0000f60f', 'hex');
const ENCRYPTED_SLIDES = 0xf3d1c4df;

export function isPasswordProtected(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 1024 || file.readUInt32BE(0) !== 0xd0cf11e0) return false;
  const word = startOf(file, 'WordDocument');
  if (word !== undefined) return word + 12 <= file.length && (file.readUInt16LE(word + 10) & ENCRYPTED_WORD) !== 0;
  const book = startOf(file, 'Workbook') ?? startOf(file, 'Book');
  return book === undefined ? hasEncryptedUser(file) : hasFilePass(file, book);
}

/** Offset of a stream. Short streams are stored in the mini stream, which is assumed to be contiguous. */
function startOf(file: Buffer, name: string): number | undefined {
  const entry = entryOf(file, name);
  if (entry === undefined) return undefined;
  const sectorBytes = file.readUInt16LE(0x1e) === 12 ? 4096 : 512;
  const first = file.readUInt32LE(entry + 116);
  let start = (first + 1) * sectorBytes;
  if (file.readUInt32LE(entry + 120) < SHORT_BYTES) {
    const root = (file.readUInt32LE(0x30) + 1) * sectorBytes;
    if (root + ENTRY_BYTES > file.length) return undefined;
    start = (file.readUInt32LE(root + 116) + 1) * sectorBytes + first * SHORT_SECTOR_BYTES;
  }
  return start < file.length ? start : undefined;
}

/** Offset of a stream's directory entry. */
function entryOf(file: Buffer, name: string): number | undefined {
  const key = Buffer.from(`${name}\0`, 'utf16le');
  for (let at = file.indexOf(key); at >= 0; at = file.indexOf(key, at + 2)) {
    const isEntry = at % ENTRY_BYTES === 0 && at + ENTRY_BYTES <= file.length;
    if (isEntry && file.readUInt16LE(at + 64) === key.length) return at;
  }
  return undefined;
}

function hasFilePass(file: Buffer, start: number): boolean {
  let at = start;
  for (let count = 0; count < MAX_RECORDS && at + 4 <= file.length; count++) {
    if (file.readUInt16LE(at) === FILE_PASS) return true;
    at += 4 + file.readUInt16LE(at + 2);
  }
  return false;
}

function hasEncryptedUser(file: Buffer): boolean {
  for (let at = file.indexOf(USER_ATOM); at >= 0 && at + 16 <= file.length; at = file.indexOf(USER_ATOM, at + 1)) {
    if (file.readUInt32LE(at + 8) === 0x14 && file.readUInt32LE(at + 12) === ENCRYPTED_SLIDES) return true;
  }
  return false;
}
