/**
 * Tells old requests (RequestProto of generations 1 and 2) from current ones (DataRequestProto) by their bytes.
 *
 * Both number their fields from 1, and nearly all fields are length-delimited, so the field numbers alone are
 * ambiguous. Field 1 decides: in old messages it is the request id (a string), in current ones the header (a message).
 * Every stock client sets it. A header begins with the tag of one of its fields. The tags of the request id, the status
 * and the endpoint are control characters (0x0a, 0x12, 0x1a), which no id contains. The tags of the target and the
 * timeout are `"` and `(`: an id that begins with one of them and continues like a header is ambiguous. So is a message
 * without field 1 that has none of the fields 5 to 10, which only old messages have.
 */
import { isUtf8 } from 'node:buffer';
import type { OldGeneration } from './old-document.ts';
import { isHeader } from './request.ts';
import { BYTES, createReader, tagOf } from './wire.ts';

/** The length-delimited fields of a message by number; `undefined` if it has fields that old messages do not have. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, Uint8Array> | undefined {
  const fields = new Map<number, Uint8Array>();
  const reader = createReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const number = tag >>> 3;
      if ((tag & 7) !== BYTES || number < 1 || number > 10) return undefined;
      fields.set(number, reader.bytes());
    }
    return fields;
  } catch {
    return undefined;
  }
}

const CONTROL = /[\u0000-\u001f\u007f]/;

function isText(bytes: Uint8Array): boolean {
  return bytes.length > 0 && isUtf8(bytes) && !CONTROL.test(Buffer.from(bytes).toString());
}

/** A message of generation 1 has one body; one of generation 2 has a body and a header or parameters. */
const generationOf = (fields: ReadonlyMap<number, Uint8Array>): OldGeneration =>
  [2, 3, 4, 5].filter((number) => fields.has(number)).length > 1 ? 2 : 1;

/** A quick check that recognizes nearly all current messages. */
function beginsWithHeader(bytes: Uint8Array): boolean {
  const reader = createReader(bytes);
  try {
    return reader.uint32() === tagOf(1, BYTES) && (reader.bytes()[0] ?? 0) < 0x20;
  } catch {
    return false;
  }
}

/**
 * `prefersOld` decides ambiguous messages. Returns `undefined` for current messages and bytes that are not a message.
 */
export function oldGenerationOf(bytes: Uint8Array, prefersOld: boolean): OldGeneration | undefined {
  const fields = bytes.length > 0 && !beginsWithHeader(bytes) ? fieldsOf(bytes) : undefined;
  if (!fields) return undefined;
  const first = fields.get(1);
  if (!first) {
    const isOld = prefersOld || [...fields.keys()].some((number) => number >= 5);
    return isOld ? generationOf(fields) : undefined;
  }
  if (!isText(first) || (isHeader(first) && !prefersOld)) return undefined;
  return generationOf(fields);
}
