/**
 * Creates ids that sort by creation time, so that database indexes grow only at their end: UUIDs of version 7 (RFC
 * 9562).
 */
import { randomUUID } from 'node:crypto';

const MAX_SEQUENCE = 0xfff;
let lastMs = 0;
let sequence = 0;

/** Ids strictly increase within a process; across processes, they are ordered to the millisecond. */
export function newId(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    sequence = 0;
  } else if (++sequence > MAX_SEQUENCE) {
    lastMs += 1;
    sequence = 0;
  }
  const ms = lastMs.toString(16).padStart(12, '0');
  // A version 4 UUID ends with the same variant bits and 62 random bits.
  const random = randomUUID().slice(19);
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${random}`;
}
