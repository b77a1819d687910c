// Full run only: needs a database server and an S3 store.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresUrl, s3Bucket } from '../../test/support/services.ts';
import { openSharedBlobs, type SharedBlobs } from './blobs/open.ts';
import { openSharedPictures, type SharedPictures } from './shared-pictures.ts';

const hasPostgres = (await postgresUrl()) !== undefined;
const hasS3 = (await s3Bucket()) !== undefined;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x0a]);
const SHOWN = { urls: ['https://a.example/share?token=abc', 'http://b.example:81/'], staleAt: 7 };

describe.skipIf(!hasPostgres || !hasS3).each(['PostgreSQL', 'a bucket'])('pictures of two servers in %s', (place) => {
  let client: pg.Client;
  let dirs: string[];
  let stores: SharedBlobs[];
  let one: SharedPictures;
  let other: SharedPictures;
  let refused: string[];
  let warnings: string[];
  beforeEach(async () => {
    const databaseUrl = (await postgresUrl())!;
    const bucket = place === 'PostgreSQL' ? undefined : await s3Bucket();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    [dirs, stores, refused, warnings] = [[], [], [], []];
    const open = async () => {
      const dir = mkdtempSync(path.join(os.tmpdir(), 'pictures-'));
      const store = await openSharedBlobs({ databaseUrl, bucket });
      dirs.push(dir);
      stores.push(store);
      return openSharedPictures(dir, {
        db: store.pictureTables,
        blobs: store.blobs,
        mayServeCached: async (url) => !refused.includes(url),
        maxBytes: 1_000,
        log: { warn: (_: unknown, message: string) => void warnings.push(message) } as never,
      });
    };
    one = await open();
    other = await open();
  });
  afterEach(async () => {
    one.close();
    other.close();
    await Promise.all(stores.map((store) => store.close()));
    await client.end();
    for (const dir of dirs) rmSync(dir, { recursive: true });
  });

  const bytesOf = async (pictures: SharedPictures, name: string) => {
    const picture = await pictures.get(name);
    return picture && Buffer.from(picture.bytes);
  };

  it('are served by both, until an origin of their page is refused', async () => {
    const name = await one.put(PNG, SHOWN);
    expect(await other.get(name)).toMatchObject({ mediaType: 'image/png', staleAt: 7 });
    for (const pictures of [one, other]) expect(await bytesOf(pictures, name)).toEqual(PNG);
    refused = ['http://b.example:81'];
    for (const pictures of [one, other]) expect(await bytesOf(pictures, name)).toBeUndefined();
    refused = [];
    expect(await bytesOf(other, name)).toEqual(PNG);
    expect(await other.get('x'.repeat(32))).toBeUndefined();
    expect(await other.get('../x')).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it('can be replaced under their name, and equal ones do not depend on each other', async () => {
    const [first, second] = ['a'.repeat(32), 'b'.repeat(32)];
    const image = { bytes: PNG, mediaType: 'image/gif' } as const;
    await one.putNamed(first, image, { urls: [] });
    await one.putNamed(second, image, { urls: [] });
    await one.putNamed(first, { ...image, bytes: Buffer.from('other') }, { urls: [] });
    expect(await bytesOf(other, first)).toEqual(Buffer.from('other'));
    expect(await bytesOf(other, second)).toEqual(PNG);
    expect(await other.get(second)).toMatchObject({ mediaType: 'image/gif' });
  });

  it('are removed after four hours, or earlier, oldest first, beyond the maximum size', async () => {
    const names: string[] = [];
    for (let n = 0; n < 4; n++) names.push(await one.put(Buffer.alloc(200, n), { urls: [] }));
    const old = await one.put(Buffer.from('old'), { urls: [] });
    await client.query('UPDATE pictures SET made_at = made_at - 4 * 3600 * 1000 - 1 WHERE name = $1', [old]);
    expect(await other.get(old)).toBeUndefined();
    await Promise.all([one.sweep(), other.sweep()]);
    // Three pictures with their headers have less than 1,000 bytes, four have more.
    const left = await Promise.all(names.map((name) => other.get(name)));
    expect(left.map((picture) => picture !== undefined)).toEqual([false, true, true, true]);
    const { rows } = await client.query('SELECT name FROM pictures ORDER BY made_at');
    expect(rows.map(({ name }) => name)).toEqual(names.slice(1));
  });

  it('stay on the server that made them while the stores are away', async () => {
    await Promise.all(stores.map((store) => store.close()));
    const name = await one.put(PNG, SHOWN);
    expect(await bytesOf(one, name)).toEqual(PNG);
    await one.put(PNG, SHOWN);
    expect(warnings).toEqual(['pictures cannot be shared: only this server can serve its own']);
    await expect(other.get(name)).rejects.toThrow();
  });
});
