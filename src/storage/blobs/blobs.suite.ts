/** What every store of blobs does. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Blobs, blobName } from './blobs.ts';

export interface OpenBlobs {
  readonly blobs: Blobs;
  /** Replaces the stored content of a blob. */
  damage(name: string, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;

export function testBlobs(title: string, open: () => Promise<OpenBlobs>): void {
  describe(title, () => {
    let opened: OpenBlobs;
    let blobs: Blobs;
    beforeEach(async () => {
      opened = await open();
      blobs = opened.blobs;
    });
    afterEach(() => opened.close());

    const bytes = Buffer.from('a cup of tea');
    const name = blobName(bytes);
    const stored = async (of: string) => {
      const found = await blobs.get(of);
      return found && Buffer.from(found);
    };

    it('returns what was put until it is removed', async () => {
      expect(await blobs.get(name)).toBeUndefined();
      await blobs.put(name, bytes);
      await blobs.put(name, bytes);
      expect(await stored(name)).toEqual(bytes);
      await blobs.remove(name);
      await blobs.remove(name);
      expect(await blobs.get(name)).toBeUndefined();
    });

    it('treats a damaged blob as missing, and replaces it', async () => {
      await blobs.put(name, bytes);
      for (const damaged of ['a cu', 'a cup of pea', '']) {
        await opened.damage(name, Buffer.from(damaged));
        expect(await blobs.get(name)).toBeUndefined();
      }
      await blobs.put(name, bytes);
      expect(await stored(name)).toEqual(bytes);
    });

    it('stores blobs of any size up to its limit', async () => {
      for (const size of [0, 1, 5 * MB, 16 * MB, 16 * MB + 1, 40 * MB].filter((each) => each <= blobs.maxBytes)) {
        const large = randomBytes(size);
        await blobs.put(blobName(large), large);
        expect((await stored(blobName(large)))?.equals(large)).toBe(true);
      }
    });

    it('stores many blobs at once', async () => {
      const many = Array.from({ length: 30 }, (_, at) => Buffer.from(`cup ${at}`));
      await Promise.all(many.map((each) => blobs.put(blobName(each), each)));
      expect(await Promise.all(many.map((each) => stored(blobName(each))))).toEqual(many);
    });
  });
}
