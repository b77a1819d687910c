/** Parses the header of a gzip member (RFC 1952, section 2.3). */

export const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && (second ?? 0x8b) === 0x8b;

const FIXED_BYTES = 10;
const FLAGS = { checksum: 0x02, extra: 0x04, name: 0x08, comment: 0x10 };

/** Length of the header in bytes; undefined if it does not end within `start`. */
export function gzipHeaderLength(start: Uint8Array): number | undefined {
  if (start.length < FIXED_BYTES) return undefined;
  const flags = start[3]!;
  let length = FIXED_BYTES;
  if (flags & FLAGS.extra) length += 2 + start[length]! + 256 * start[length + 1]!;
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if (!(flags & flag)) continue;
    const end = start.indexOf(0, length);
    if (end < 0) return undefined;
    length = end + 1;
  }
  if (flags & FLAGS.checksum) length += 2;
  return length <= start.length ? length : undefined;
}
