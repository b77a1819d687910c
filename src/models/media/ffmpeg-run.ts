/** One run of ffmpeg, with limits for time, memory and output. */
import { spawn } from 'node:child_process';
import { childEnvironment } from '#concurrency/environment.ts';
import { killGroup, type ProgramFolder } from '#concurrency/programs.ts';
import { residentBytes } from '#concurrency/resident.ts';
import { MediaError } from './value.ts';

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
      detached: true,
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
