/** Tests the memory used by the media of a request: first the received bytes, then the model's input. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdmission, RequestTooLargeError } from '../queue/admission.ts';
import { clipRule } from './picture-rule.ts';
import { createMediaReader, type MediaReader } from './reader.ts';

const signal = new AbortController().signal;
const wait = 120_000;
const side = 8;
let reader: MediaReader;
let folder: string;
let png: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'reader-'));
  reader = createMediaReader({ temporaryDir: folder });
  png = await sharp({ create: { width: 20, height: 10, channels: 3, background: '#c33' } })
    .png()
    .toBuffer();
});
afterAll(async () => {
  await reader.close();
  await rm(folder, { recursive: true, force: true });
});

const read = (hold: (bytes: number) => () => void, image: 'file' | 'pixels' = 'pixels') =>
  reader.read('image', png.toString('base64'), {
    formats: { image: image === 'file' ? 'file' : clipRule(side) },
    pdf: 'pictures',
    signal,
    hold,
  });

it(
  'counts the bytes of a picture until it is decoded, then its pixels',
  async () => {
    const steps: number[] = [];
    const hold = (bytes: number) => {
      steps.push(bytes);
      return () => steps.push(-bytes);
    };
    await read(hold);
    expect(steps).toEqual([png.length, 3 * side * side, -png.length]);
    steps.length = 0;
    await read(hold, 'file');
    expect(steps[1]).toBeGreaterThan(2 * png.length);
  },
  wait,
);

it(
  'refuses media that are too large for one request, and releases what it counted',
  async () => {
    const share = createAdmission({ most: 10, mostOfOne: png.length + 5 }).enter(0);
    await expect(read(share.hold)).rejects.toThrow('exceeds the memory limit when combined with the other inputs');
    expect(() => share.hold(png.length + 5)).not.toThrow(RequestTooLargeError);
  },
  wait,
);
