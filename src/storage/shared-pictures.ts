/**
 * Pictures that every server can serve: rows in PostgreSQL, and blobs. While the stores are away, or for a picture that
 * is too large for them, a picture stays on the server that made it.
 */
import { type Kysely, sql } from 'kysely';
import { within } from '#concurrency/deadline.ts';
import type { Log } from '#telemetry/log.ts';
import { type Blobs, blobName } from './blobs/blobs.ts';
import { decodePicture, encodePicture } from './picture-file.ts';
import {
  isPictureName,
  type NamedPicture,
  newPictureName,
  openPictures,
  PICTURE_LIFETIME_MS,
  PICTURE_SWEEP_MS,
  PICTURES_MAX_BYTES,
  type PictureSource,
  type Pictures,
  type PicturesOptions,
} from './pictures.ts';
import type { PictureTables } from './shared-pictures-table.ts';

export interface SharedPicturesOptions extends Pick<PicturesOptions, 'mayServeCached'> {
  readonly db: Kysely<PictureTables>;
  readonly blobs: Blobs;
  /** Maximum size of all pictures, in bytes. Default: 1 GB. */
  readonly maxBytes?: number | undefined;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

export interface SharedPictures extends Pictures {
  /** Removes pictures that are too old, and the oldest ones beyond the maximum size. */
  sweep(): Promise<void>;
}

/** How long a response waits for the stores, in milliseconds. */
const PUT_MS = 5_000;
const GET_MS = 3_000;
/** Time within which a server removes the pictures that it chose, in milliseconds. */
const REMOVING_MS = 120_000;
const STEP = 100;

const NOW_MS = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

export async function openSharedPictures(
  dataDir: string,
  { db, blobs, mayServeCached, maxBytes = PICTURES_MAX_BYTES, log }: SharedPicturesOptions,
): Promise<SharedPictures> {
  const local = await openPictures(dataDir, { mayServeCached });
  let failing = false;

  async function putShared(name: string, image: NamedPicture, shown: PictureSource): Promise<void> {
    const bytes = encodePicture(image, shown, name);
    if (bytes.length > blobs.maxBytes) throw new RangeError('the picture is too large to be shared');
    const hash = blobName(bytes);
    const row = { hash, bytes: bytes.length, made_at: NOW_MS, removing_until: null };
    const before = await db.selectFrom('pictures').select('hash').where('name', '=', name).executeTakeFirst();
    await db
      .insertInto('pictures')
      .values({ name, ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
    await blobs.put(hash, bytes);
    if (before && before.hash !== hash) await blobs.remove(before.hash);
  }

  async function put(name: string, image: NamedPicture, shown: PictureSource): Promise<void> {
    if (!isPictureName(name)) throw new Error('the name of a picture must have 32 characters');
    try {
      await within(PUT_MS, putShared(name, image, shown));
      failing = false;
    } catch (error) {
      if (!failing) log?.warn({ err: error }, 'pictures cannot be shared: only this server can serve its own');
      failing = true;
      await local.putNamed(name, image, shown);
    }
  }

  async function getShared(name: string) {
    const row = await db
      .selectFrom('pictures')
      .select('hash')
      .where('name', '=', name)
      .where('made_at', '>', sql<number>`${NOW_MS} - ${PICTURE_LIFETIME_MS}`)
      .where('removing_until', 'is', null)
      .executeTakeFirst();
    const bytes = row && (await blobs.get(row.hash));
    return bytes && decodePicture(bytes, mayServeCached);
  }

  /** Several servers may do this at once: each picture is chosen by one of them. */
  async function sweep(): Promise<void> {
    for (;;) {
      const { rows } = await sql<{ name: string; hash: string }>`
        UPDATE pictures SET removing_until = ${NOW_MS} + ${REMOVING_MS} WHERE name IN (
          SELECT name FROM pictures WHERE removing_until <= ${NOW_MS} OR (removing_until IS NULL
            AND (made_at <= ${NOW_MS} - ${PICTURE_LIFETIME_MS} OR name IN (
              SELECT name FROM (
                SELECT name, sum(bytes) OVER (ORDER BY made_at DESC, name) AS total FROM pictures
                WHERE removing_until IS NULL
              ) AS summed WHERE total > ${maxBytes}
            )))
          LIMIT ${STEP} FOR UPDATE SKIP LOCKED)
        RETURNING name, hash`.execute(db);
      for (const { name, hash } of rows) {
        await blobs.remove(hash);
        await db.deleteFrom('pictures').where('name', '=', name).where('hash', '=', hash).execute();
      }
      if (rows.length < STEP) return;
    }
  }

  // What fails is tried again after the interval.
  const timer = setInterval(() => void sweep().catch(() => {}), PICTURE_SWEEP_MS);
  timer.unref();
  return {
    async put(png, shown) {
      const name = newPictureName();
      await put(name, { bytes: png, mediaType: 'image/png' }, shown);
      return name;
    },
    putNamed: put,
    async get(name) {
      if (!isPictureName(name)) return undefined;
      return (await local.get(name)) ?? (await within(GET_MS, getShared(name)));
    },
    sweep,
    close() {
      clearInterval(timer);
      local.close();
    },
  };
}
