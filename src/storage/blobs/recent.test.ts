import { expect, it } from 'vitest';
import { type Blobs, blobName } from './blobs.ts';
import { withRecentBlobs } from './recent.ts';

const ENOUGH = 1_000_000;

/** A store in memory that counts what is read from it. */
function countingStore() {
  const stored = new Map<string, Uint8Array>();
  let gets = 0;
  const blobs: Blobs = {
    maxBytes: 1_000_000,
    put: async (name, bytes) => void stored.set(name, bytes),
    async get(name) {
      gets++;
      return stored.get(name);
    },
    remove: async (name) => void stored.delete(name),
  };
  return { blobs, stored, gets: () => gets };
}

const blob = (words: string) => {
  const bytes = Buffer.from(words);
  return { name: blobName(bytes), bytes };
};

it('reads a blob from the store once, and a blob that it wrote never', async () => {
  const { blobs, stored, gets } = countingStore();
  const [written, found] = [blob('tea'), blob('rain')];
  const recent = withRecentBlobs(blobs, ENOUGH);
  await recent.put(written.name, written.bytes);
  expect(stored.has(written.name)).toBe(true);
  stored.set(found.name, found.bytes);
  for (let n = 0; n < 3; n++) {
    for (const { name, bytes } of [written, found]) expect(Buffer.from((await recent.get(name))!)).toEqual(bytes);
  }
  expect(gets()).toBe(1);
});

it('does not keep what was removed, is missing, or could not be written', async () => {
  const { blobs, gets } = countingStore();
  const { name, bytes } = blob('tea');
  const recent = withRecentBlobs(
    {
      ...blobs,
      put: async () => {
        throw new Error('full');
      },
    },
    ENOUGH,
  );
  await expect(recent.put(name, bytes)).rejects.toThrow('full');
  expect(await recent.get(name)).toBeUndefined();
  await blobs.put(name, bytes);
  expect(await recent.get(name)).toBeDefined();
  await recent.remove(name);
  expect(await recent.get(name)).toBeUndefined();
  expect(gets()).toBe(3);
});

it('returns bytes of the caller: their change or transfer affects no other', async () => {
  const { blobs } = countingStore();
  const { name, bytes } = blob('tea');
  const recent = withRecentBlobs(blobs, ENOUGH);
  const given = new Uint8Array(bytes);
  await recent.put(name, given);
  given.fill(0);
  const first = (await recent.get(name))!;
  structuredClone(first, { transfer: [first.buffer as ArrayBuffer] });
  expect(Buffer.from((await recent.get(name))!)).toEqual(bytes);
});

it('evicts the least recently used', async () => {
  const { blobs, gets } = countingStore();
  const recent = withRecentBlobs(blobs, 4_000);
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => blob(letter.repeat(1_000)));
  await recent.put(a!.name, a!.bytes);
  await recent.put(b!.name, b!.bytes);
  await recent.get(a!.name);
  await recent.put(c!.name, c!.bytes);
  for (const { name } of [a!, c!]) await recent.get(name);
  expect(gets()).toBe(0);
  await recent.get(b!.name);
  expect(gets()).toBe(1);
});

it('does not keep large blobs', async () => {
  const { blobs, gets } = countingStore();
  const recent = withRecentBlobs(blobs, ENOUGH);
  const { name, bytes } = blob('d'.repeat(256 * 1024 + 1));
  await recent.put(name, bytes);
  for (let n = 0; n < 2; n++) await recent.get(name);
  expect(gets()).toBe(2);
});

it('keeps nothing without a size', async () => {
  const { blobs } = countingStore();
  expect(withRecentBlobs(blobs)).toBe(blobs);
});
