import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPictures, type Pictures } from './pictures.ts';

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x0a);

let dir: string;
let refused: string[];
let pictures: Pictures;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'pictures-'));
  refused = [];
  pictures = await openPictures(dir, { mayServeCached: async (url) => !refused.includes(url) });
});
afterEach(async () => {
  pictures.close();
  await rm(dir, { recursive: true });
});

it('returns a picture unchanged until an origin of its page is refused', async () => {
  const name = await pictures.put(PNG, { urls: ['https://a.example/share?token=abc', 'http://b.example:81/'] });
  const given = async () => {
    const picture = await pictures.get(name);
    return picture && Uint8Array.from(picture.bytes);
  };
  expect(await given()).toEqual(PNG);
  for (const origin of ['https://a.example', 'http://b.example:81']) {
    refused = [origin];
    expect(await given()).toBeUndefined();
  }
  refused = [];
  expect(await given()).toEqual(PNG);
});

it('returns pictures of uploaded content, with the time of a stale copy', async () => {
  expect(await pictures.get(await pictures.put(PNG, { urls: ['blob:0123'], staleAt: 7 }))).toMatchObject({
    staleAt: 7,
  });
});

it('does not store the URLs of the page', async () => {
  await pictures.put(PNG, { urls: ['https://a.example/share?token=abc'] });
  const [file] = await readdir(path.join(dir, 'pictures'));
  expect((await readFile(path.join(dir, 'pictures', file!))).toString('latin1')).not.toMatch(/token|share/);
});

it('keeps images of other types under a given name', async () => {
  const name = 'a'.repeat(32);
  const bytes = Uint8Array.of(0xff, 0xd8, 0xff, 0x0a, 0x01);
  await pictures.putNamed(name, { bytes, mediaType: 'image/jpeg' }, { urls: ['https://a.example/'] });
  const found = await pictures.get(name);
  expect(found?.mediaType).toBe('image/jpeg');
  expect(Uint8Array.from(found!.bytes)).toEqual(bytes);
  refused = ['https://a.example'];
  expect(await pictures.get(name)).toBeUndefined();
  await expect(pictures.putNamed('../x', { bytes, mediaType: 'image/jpeg' }, { urls: [] })).rejects.toThrow();
});
