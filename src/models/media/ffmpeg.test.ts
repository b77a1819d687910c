/** Tests of the installed ffmpeg: which files it may open, when it is killed, and that it leaves no files behind. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '#concurrency/find-program.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { createFfmpeg } from './ffmpeg.ts';
import { MediaError } from './load.ts';

const program = findProgram('ffmpeg');
const wait = { timeout: 120_000 };
const never = new AbortController().signal;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'clips-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('runs a limited number of processes concurrently', wait, async () => {
  const marks = path.join(folder, 'marks');
  const slow = path.join(folder, 'slow.sh');
  await writeFile(slow, `#!/bin/sh\necho + >> ${marks}\nsleep 0.2\necho - >> ${marks}\necho 0123456789\n`, {
    mode: 0o700,
  });
  const tool = createFfmpeg({ program: slow, temporaryDir: folder, timeoutMs: 100_000 });
  const options = { samplesPerSecond: 8_000, seconds: 1, signal: never };
  const ask = () => tool.samples(new Uint8Array(8), options);
  await Promise.all(Array.from({ length: defaultThreads() * 3 }, ask));
  let running = 0;
  let most = 0;
  for (const mark of (await readFile(marks, 'utf8')).trim().split('\n')) {
    running += mark === '+' ? 1 : -1;
    most = Math.max(most, running);
  }
  expect(most).toBe(defaultThreads());
});

describe.runIf(program)('ffmpeg', wait, () => {
  const tool = (timeoutMs = 100_000) => createFfmpeg({ program: program!, temporaryDir: folder, timeoutMs });
  const leftFiles = () => readdir(path.join(folder, 'programs'));
  const clip = async (...args: string[]) => {
    const file = path.join(folder, 'made.avi');
    expect(spawnSync(program!, ['-nostdin', '-v', 'error', '-y', ...args, file]).status).toBe(0);
    return new Uint8Array(await readFile(file));
  };

  it('is killed on an abort, and leaves no files', async () => {
    const long = await clip('-f', 'lavfi', '-i', 'testsrc=s=640x360:r=20:d=30', '-c:v', 'mpeg4');
    const controller = new AbortController();
    const work = tool().frames(long, { most: 64, signal: controller.signal }, async (png) => png.length);
    setTimeout(() => controller.abort(new Error('gone')), 20);
    await expect(work).rejects.toThrow('gone');
    expect(await leftFiles()).toEqual([]);
    await expect(tool(1).frames(long, { most: 64, signal: never }, async (png) => png.length)).rejects.toThrow(
      'too long',
    );
    expect(await leftFiles()).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('is killed if it uses too much memory', async () => {
    // Long enough to be still decoded when the memory is looked at, which is every 200 ms.
    const large = await clip('-f', 'lavfi', '-i', 'testsrc=s=640x360:r=10:d=120', '-c:v', 'mpeg4');
    const limited = createFfmpeg({
      program: program!,
      temporaryDir: folder,
      timeoutMs: 100_000,
      maxResident: 1_000_000,
    });
    const frames = limited.frames(large, { most: 64, signal: never }, async (png) => png.length);
    await expect(frames).rejects.toThrow('exceeds the memory limit for a clip');
    expect(await leftFiles()).toEqual([]);
  });

  it('opens no file or URL that a clip refers to', async () => {
    const secret = path.join(folder, 'secret.avi');
    await writeFile(secret, await clip('-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=1', '-c:v', 'mpeg4'));
    const lists = [
      `ffconcat version 1.0\nfile '${secret}'\n`,
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${secret}\n#EXT-X-ENDLIST\n`,
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/\n#EXT-X-ENDLIST\n`,
    ];
    for (const list of lists) {
      const frames = tool().frames(Buffer.from(list), { most: 1, signal: never }, async (png) => png.length);
      await expect(frames).rejects.toThrow(MediaError);
    }
    const own = new Uint8Array(await readFile(secret));
    expect(await tool().frames(own, { most: 1, signal: never }, async (png) => png.length > 0)).toEqual([true]);
  });

  it('returns samples of the first seconds, mixed to one channel', async () => {
    const sound = await clip(
      '-f',
      'lavfi',
      '-i',
      'sine=frequency=440:duration=3:sample_rate=44100',
      '-ac',
      '2',
      '-c:a',
      'pcm_s16le',
    );
    const samples = await tool().samples(sound, { samplesPerSecond: 48_000, seconds: 2, signal: never });
    expect(samples).toHaveLength(96_000);
    let crossings = 0;
    for (let at = 1; at < samples.length; at++) if (samples[at - 1]! < 0 && samples[at]! >= 0) crossings++;
    // A 440 Hz tone crosses zero twice per period.
    expect(Math.abs(crossings - 880)).toBeLessThan(4);
  });
});
