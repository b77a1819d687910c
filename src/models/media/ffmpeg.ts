/**
 * Extracts frames and audio samples from clips with the system's ffmpeg. The program may open only the clip's own file:
 * no URLs, playlists or other protocols, even if the clip refers to them.
 */

import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { childEnvironment } from '#concurrency/environment.ts';
import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import { createProgramFolder, killGroup, OWN_GROUP, type ProgramFolder } from '#concurrency/programs.ts';
import { residentBytes } from '#concurrency/resident.ts';
import { createTaskQueue } from '#concurrency/task-queue.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { MediaError } from './load.ts';

export interface Ffmpeg {
  /**
   * Extracts PNG frames, two per second from the start and at most `most`, and runs `work` on them, a few at a time.
   * Throws MediaError, QueueFullError or the signal's reason.
   */
  frames<T>(
    clip: Uint8Array,
    options: FrameOptions,
    work: (png: Uint8Array, signal: AbortSignal) => Promise<T>,
  ): Promise<T[]>;
  /** Returns the first `seconds` as mono samples. Throws the same errors. */
  samples(clip: Uint8Array, options: SampleOptions): Promise<Float32Array>;
}

export interface FrameOptions {
  readonly most: number;
  readonly signal: AbortSignal;
}

export interface SampleOptions {
  readonly samplesPerSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface FfmpegOptions {
  readonly program: string;
  readonly temporaryDir: string;
  readonly timeoutMs: number;
  /** Maximum memory of the program, in bytes. Default: 1 GiB. */
  readonly maxResident?: number;
}

const FRAMES_PER_SECOND = 2;
const FRAMES_AT_ONCE = 4;
/** Larger frames are scaled down while decoding; image models see only a few hundred pixels. */
const MAX_FRAME_SIDE = 1_280;
const MAX_FRAME_PIXELS = 50_000_000;
const MAX_ALLOCATION = 512 * 1024 * 1024;
/** Maximum number of queued runs, and their maximum wait in milliseconds. */
const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 60_000;
/** Self-contained media formats only: no playlists, scripts or devices. */
const CONTAINERS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mp3,wav,w64,flac,ogg,aac,mpegts,mpeg,flv,asf,aiff,amr';
const CLIP = 'clip';

export function createFfmpeg({ program, temporaryDir, timeoutMs, maxResident }: FfmpegOptions): Ffmpeg {
  const opening = [
    ...['-nostdin', '-hide_banner', '-v', 'error', '-threads', '1', '-max_alloc', String(MAX_ALLOCATION)],
    ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', CONTAINERS],
  ];

  const queue = createTaskQueue({ count: defaultThreads(), maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });

  async function inFolder<T>(clip: Uint8Array, work: (folder: ProgramFolder) => Promise<T>): Promise<T> {
    const folder = await createProgramFolder(temporaryDir);
    try {
      await writeFile(path.join(folder.path, CLIP), clip, { mode: 0o600 });
      return await work(folder);
    } finally {
      await folder.remove();
    }
  }

  /** Runs ffmpeg and returns its output. */
  async function run(
    folder: ProgramFolder,
    args: readonly string[],
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    await queue.acquire(0, signal);
    try {
      return await runFfmpeg([...opening, ...args], { program, folder, maxBytes, timeoutMs, maxResident, signal });
    } finally {
      queue.release();
    }
  }

  return {
    frames: (clip, { most, signal }, work) =>
      inFolder(clip, async (folder) => {
        const fit = `scale=w='min(${MAX_FRAME_SIDE},iw)':h='min(${MAX_FRAME_SIDE},ih)':force_original_aspect_ratio=decrease`;
        const input = ['-max_pixels', String(MAX_FRAME_PIXELS), '-i', `file:${CLIP}`, '-map', '0:V:0'];
        const output = [
          '-vf',
          `fps=${FRAMES_PER_SECOND},${fit}`,
          '-frames:v',
          String(most),
          '-f',
          'image2',
          '%03d.png',
        ];
        await run(folder, [...input, ...output], 0, signal).catch(async (error: unknown) => {
          // If a part is damaged, the frames before it are used.
          if (!(error instanceof InvalidClipError) || (await pictures(folder.path)).length === 0) throw error;
        });
        const names = await pictures(folder.path);
        if (names.length === 0) throw new MediaError('has no video frames');
        return mapConcurrently(names, { atOnce: FRAMES_AT_ONCE, signal }, async (name, stop) =>
          work(new Uint8Array(await readFile(path.join(folder.path, name))), stop),
        );
      }),
    samples: (clip, { samplesPerSecond, seconds, signal }) =>
      inFolder(clip, async (folder) => {
        const input = ['-t', String(seconds), '-i', `file:${CLIP}`, '-map', '0:a:0'];
        const output = ['-ac', '1', '-ar', String(samplesPerSecond), '-t', String(seconds), '-f', 'f32le', 'pipe:1'];
        const maxBytes = samplesPerSecond * seconds * Float32Array.BYTES_PER_ELEMENT;
        const bytes = await run(folder, [...input, ...output], maxBytes + 4_096, signal);
        const count = Math.min(bytes.length, maxBytes) >> 2;
        if (count === 0) throw new MediaError('has no audio');
        return Float32Array.from({ length: count }, (_, at) => bytes.readFloatLE(at * 4));
      }),
  };
}

const pictures = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => /^\d+\.png$/.test(name)).sort();

export class InvalidClipError extends MediaError {}

export interface FfmpegRun {
  readonly program: string;
  /** Working directory. */
  readonly folder: ProgramFolder;
  /** Maximum size of the output, in bytes. The program is killed if it writes more. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Maximum memory of the program, in bytes. Default: 1 GiB. */
  readonly maxResident?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Default maximum memory of a run. Decoders keep many frames in memory at once. The limit is enforced only where the
 * system reports memory use.
 */
const MAX_RESIDENT = 1_024 * 1024 * 1024;
const WATCH_MS = 200;

/** Returns the output. Throws MediaError or the signal's reason. */
export function runFfmpeg(args: readonly string[], options: FfmpegRun): Promise<Buffer> {
  const { program, folder, maxBytes, timeoutMs, maxResident = MAX_RESIDENT, signal } = options;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder.path,
      env: childEnvironment({ home: folder.path }),
      ...OWN_GROUP,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (child.pid !== undefined) folder.recordProcess(child.pid);
    const stop = () => child.pid !== undefined && killGroup(child.pid);
    let fault: MediaError | undefined;
    const end = (message: string) => {
      fault ??= new MediaError(message);
      stop();
    };
    const timer = setTimeout(end, timeoutMs, 'takes too long to be decoded');
    let isOver = false;
    const watch = setInterval(async () => {
      const resident = await residentBytes(child.pid);
      if (!isOver && resident > maxResident) end('exceeds the memory limit for a clip');
    }, WATCH_MS);
    const out: Buffer[] = [];
    let bytes = 0;
    const settle = () => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
    };
    signal.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) out.push(chunk);
      else stop();
    });
    child.once('error', () => {
      settle();
      reject(new MediaError('cannot be opened: ffmpeg could not be started'));
    });
    child.once('close', (code) => {
      settle();
      if (signal.aborted) reject(signal.reason);
      else if (fault) reject(fault);
      else if (code !== 0 && out.length === 0) reject(new InvalidClipError('is damaged or has an unsupported format'));
      else resolve(Buffer.concat(out));
    });
  });
}
