import { expect, it } from 'vitest';
import { writeOle } from './archive/ole.suite.ts';
import { ENCRYPTED_OFFICE, typeOfContainer } from './container.ts';
import { TYPES, typeOfBytes } from './detect.ts';

/** An OLE file with these streams in its directory. */
function ole(...names: string[]): Uint8Array {
  const bytes = Buffer.alloc(512 + names.length * 128);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  for (const [at, name] of names.entries()) {
    const start = 512 + at * 128;
    bytes.write(name, start, 'utf16le');
    bytes.writeUInt16LE((name.length + 1) * 2, start + 64);
    bytes.writeUInt8(2, start + 66);
  }
  return bytes;
}

const typeOf = (bytes: Uint8Array) => typeOfContainer(typeOfBytes(bytes) ?? '', bytes);

it('finds the streams of an OLE file, whatever their case', () => {
  expect(typeOf(ole('Data', 'WORDDOCUMENT'))).toBe(TYPES.doc);
  expect(typeOf(ole('worddocument'))).toBe(TYPES.doc);
  expect(typeOf(ole('POWERPOINT DOCUMENT'))).toBe(TYPES.ppt);
  expect(typeOf(ole('book'))).toBe(TYPES.xls);
  expect(typeOf(ole('encryptedpackage'))).toBe(ENCRYPTED_OFFICE);
  expect(typeOf(ole('Data', 'My book'))).toBe(TYPES.ole);
});

it('knows a workbook by its own streams, not by those of embedded files', () => {
  const word = { WordDocument: new Uint8Array(10), CompObj: new Uint8Array(10) };
  expect(typeOf(writeOle({ MBD00032A24: word, Workbook: new Uint8Array(10) }))).toBe(TYPES.xls);
  expect(
    typeOf(writeOle({ ObjectPool: { _1: { Workbook: new Uint8Array(10) } }, WordDocument: new Uint8Array(10) })),
  ).toBe(TYPES.doc);
});

it('recognises a file of Word 2', () => {
  expect(typeOfBytes(Buffer.from('dba52d0031400904', 'hex'))).toBe(TYPES.doc);
});
