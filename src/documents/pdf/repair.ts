/** Detects PDF files whose end is missing, and repairs them if PDF.js cannot. */
import { Buffer } from 'node:buffer';

/** Number of bytes searched at the end of a file (and before an object number), and at its start. */
const TAIL = 2_048;
const HEAD = 1_024;

/** Whether the file ends with a pointer to its cross-reference table, as ISO 32000-1, section 7.5.5, requires. */
export function isComplete(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tail = buffer.subarray(Math.max(0, buffer.length - TAIL)).toString('latin1');
  const start = [...tail.matchAll(/startxref\s+(\d{1,12})/g)].at(-1)?.[1];
  if (start === undefined) return false;
  const header = Math.max(0, buffer.subarray(0, HEAD).indexOf('%PDF-'));
  return [Number(start), Number(start) + header].some((place) =>
    /^\s*(?:xref|\d+\s+\d+\s+obj)/.test(buffer.subarray(place, place + 40).toString('latin1')),
  );
}

/** Appends a new trailer that names the catalogue; null if no catalogue is found. */
export function withNewTrailer(bytes: Uint8Array): Uint8Array | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const name of ['/Type /Catalog', '/Type/Catalog']) {
    const at = buffer.lastIndexOf(name);
    if (at < 0) continue;
    const before = buffer.subarray(Math.max(0, at - TAIL), at).toString('latin1');
    const number = [...before.matchAll(/(\d{1,8})\s+(\d{1,5})\s+obj\b/g)].at(-1);
    if (!number) continue;
    const end = `\nendobj\ntrailer\n<< /Root ${number[1]} ${number[2]} R >>\nstartxref\n0\n%%EOF\n`;
    return new Uint8Array(Buffer.concat([buffer, Buffer.from(end, 'latin1')]));
  }
  return null;
}
