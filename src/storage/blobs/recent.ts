/**
 * Keeps recently read and written blobs in memory. A blob is named after its content, so a blob in memory is never
 * outdated. It may have been removed from the store, so callers must know from their own index that it still exists.
 */
import { LRUCache } from 'lru-cache';
import type { Blobs } from './blobs.ts';

/** Maximum size of a blob in memory, in bytes: larger ones would evict too many others. */
const MAX_BLOB_BYTES = 256 * 1024;
/** Size of an entry without its content, in bytes: measured at 365 in V8's heap, the rest is estimated. */
const ENTRY_BYTES = 700;

/** `maxBytes` is the maximum size of all blobs in memory, in bytes. By default, none is kept. */
export function withRecentBlobs(blobs: Blobs, maxBytes = 0): Blobs {
  if (maxBytes === 0) return blobs;
  const recent = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    maxEntrySize: MAX_BLOB_BYTES + ENTRY_BYTES,
    sizeCalculation: (bytes) => bytes.length + ENTRY_BYTES,
  });
  // Copies, because callers may transfer their bytes to another thread, and because a view would keep its whole buffer.
  const keep = (name: string, bytes: Uint8Array) => {
    if (bytes.length <= MAX_BLOB_BYTES) recent.set(name, new Uint8Array(bytes));
  };
  return {
    maxBytes: blobs.maxBytes,
    async put(name, bytes) {
      await blobs.put(name, bytes);
      keep(name, bytes);
    },
    async get(name) {
      const known = recent.get(name);
      if (known) return new Uint8Array(known);
      const bytes = await blobs.get(name);
      if (bytes) keep(name, bytes);
      return bytes;
    },
    async remove(name) {
      recent.delete(name);
      await blobs.remove(name);
    },
  };
}
