/**
 * Bytes for requests: in the bucket if there is one and they are large, else in Redis. Their time is limited in both:
 * Redis removes expired keys itself, and a sorted set in Redis lists the objects of the bucket, which any server or
 * worker removes after their time.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Attachments, attachmentTooLarge } from '#concurrency/remote-work.ts';
import { problem } from '#errors.ts';
import { type Blobs, blobName } from '../blobs/blobs.ts';
import { PREFIX, type QueueConnection } from './connection.ts';

export interface StoredAttachments extends Attachments {
  /** Removes objects of the bucket whose time is over. */
  sweep(): Promise<void>;
}

/** Bytes up to this size are in Redis, even if there is a bucket. */
export const INLINE_BYTES = 256 * 1024;
/** Without a bucket, the limit of bytes that are sent to a worker. */
const MAX_REDIS_BYTES = 64 * 1024 * 1024;
/** With a bucket. Servers and workers hold an attachment in memory while they store or fetch it. */
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
const KEEP_MS = 10 * 60_000;
const SWEPT_AT_ONCE = 20;
/** Random bytes at the end of an object, so that equal files have objects of their own that can be removed. */
const SALT_BYTES = 16;

const OBJECTS = `${PREFIX}:objects`;
const keyOf = (name: string) => `${PREFIX}:attachment:${name}`;

export function createAttachments(connection: QueueConnection, blobs: Blobs | undefined): StoredAttachments {
  const isObject = (name: string) => name.startsWith('o');
  const objectOf = (name: string) => name.slice(1);
  const expiry = () => String(Date.now() + KEEP_MS);

  async function remove(name: string): Promise<void> {
    if (!isObject(name)) return void (await connection.send(['DEL', keyOf(name)]));
    await blobs?.remove(objectOf(name));
    await connection.send(['ZREM', OBJECTS, name]);
  }

  const maxBytes = blobs ? Math.min(blobs.maxBytes - SALT_BYTES, MAX_OBJECT_BYTES) : MAX_REDIS_BYTES;

  return {
    maxBytes,
    async put(bytes) {
      if (bytes.byteLength > maxBytes) throw attachmentTooLarge(maxBytes);
      if (blobs && bytes.byteLength > INLINE_BYTES) {
        const salted = Buffer.concat([bytes, randomBytes(SALT_BYTES)]);
        const name = `o${blobName(salted)}`;
        // Listed first, so that an object is removed even if this process is killed.
        await connection.send(['ZADD', OBJECTS, expiry(), name]);
        await blobs.put(objectOf(name), salted).catch(away);
        return name;
      }
      const name = `r${randomUUID()}`;
      await connection.send(['SET', keyOf(name), bytes, 'PX', String(KEEP_MS)]);
      return name;
    },
    async get(name) {
      if (isObject(name)) return (await blobs?.get(objectOf(name)).catch(away))?.subarray(0, -SALT_BYTES);
      return ((await connection.send(['GET', keyOf(name)])) as Buffer | null) ?? undefined;
    },
    async keep(name) {
      if (!isObject(name)) return (await connection.send(['PEXPIRE', keyOf(name), String(KEEP_MS)])) === 1;
      await connection.send(['ZADD', OBJECTS, 'XX', expiry(), name]);
      return (await connection.send(['ZSCORE', OBJECTS, name])) !== null;
    },
    remove,
    async sweep() {
      if (!blobs) return;
      const due = ['ZRANGEBYSCORE', OBJECTS, '-inf', String(Date.now()), 'LIMIT', '0', String(SWEPT_AT_ONCE)];
      for (const name of (await connection.send(due)) as Buffer[]) await remove(String(name));
    },
  };
}

function away(error: unknown): never {
  const message = 'The store of files for other machines cannot be reached; try again later';
  throw problem('ServiceAwayError', { message, retryAfter: 2 }, error);
}
