/**
 * The installed Tesseract program as an engine. Each image gets a process group, which is killed on timeout or abort.
 */
import { spawn } from 'node:child_process';
import os from 'node:os';
import { childEnvironment } from '#concurrency/environment.ts';
import { createProgramFolder, killGroup, OWN_GROUP } from '#concurrency/programs.ts';
import type { OcrEngine, RecognizeOptions } from '../../engine.ts';
import { parseHocr } from '../../hocr.ts';
import { checkLanguages, IMAGE_DPI, languageMissing, recognitionFailed, SEGMENTATION_MODES } from './tesseract.ts';

interface TesseractCliOptions {
  /** A path, or a name on PATH. */
  readonly program: string;
  /** Created if missing. Each run has its own folder in it. Default: the system's temporary folder. */
  readonly temporaryDir?: string | undefined;
}

/** The output for a full page is a few hundred kB. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const LIST_TIMEOUT_MS = 30_000;

/** Returns `undefined` if the program cannot be run. */
export async function findTesseractCli(options: TesseractCliOptions): Promise<OcrEngine | undefined> {
  try {
    await run(options, ['--version'], { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
  } catch {
    return undefined;
  }
  return createTesseractCli(options);
}

function createTesseractCli(options: TesseractCliOptions): OcrEngine {
  let installed: ReadonlySet<string> = new Set();

  /** Updates the list of languages if one is missing, because it may have been installed in the meantime. */
  async function has(languages: readonly string[]): Promise<boolean> {
    checkLanguages(languages);
    if (languages.every((name) => installed.has(name))) return true;
    const list = await run(options, ['--list-langs'], { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
    installed = new Set(list.split(/\r?\n/).slice(1).filter(Boolean));
    return languages.every((name) => installed.has(name));
  }

  async function requireLanguages(languages: readonly string[]): Promise<void> {
    if (await has(languages)) return;
    const missing = languages.filter((name) => !installed.has(name));
    if (missing.length > 0) {
      const packages = missing.map(
        (name) => `tesseract-ocr-${name.replace('/', '-').replaceAll('_', '-').toLowerCase()}`,
      );
      throw languageMissing(missing, `install it for the Tesseract program (on Debian: ${packages.join(' ')})`);
    }
  }

  return {
    name: 'tesseract',
    supportsSparse: true,
    has,
    async recognize(picture, { languages, segmentation, signal }: RecognizeOptions) {
      await requireLanguages(languages);
      const args = ['stdin', 'stdout', '-l', languages.join('+'), '--psm', SEGMENTATION_MODES[segmentation]];
      try {
        return parseHocr(await run(options, [...args, '--dpi', IMAGE_DPI, 'hocr'], { input: picture, signal }));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw recognitionFailed(error);
      }
    },
  };
}

/** Returns the program's output. Throws the signal's reason, or an Error with the program's last messages. */
async function run(
  { program, temporaryDir = os.tmpdir() }: TesseractCliOptions,
  args: readonly string[],
  { input, signal }: { input?: Uint8Array; signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const folder = await createProgramFolder(temporaryDir);
  const work = new Promise<string>((resolve, reject) => {
    // Tesseract's threads compete with each other: if they are enabled, a page takes five times as long.
    const env = childEnvironment({
      home: folder.path,
      inherits: ['TESSDATA_PREFIX'],
      more: { OMP_THREAD_LIMIT: '1' },
    });
    const child = spawn(program, args, { cwd: folder.path, env, ...OWN_GROUP, stdio: ['pipe', 'pipe', 'pipe'] });
    if (child.pid !== undefined) folder.recordProcess(child.pid);
    const out: Buffer[] = [];
    let bytes = 0;
    let lastWords = '';
    const stop = () => child.pid !== undefined && killGroup(child.pid);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop();
      else out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      lastWords = (lastWords + chunk.toString('utf8')).slice(-1_000);
    });
    // A program that exits early breaks the pipe; its exit code shows the reason.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    });
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else if (code !== 0 || bytes > MAX_OUTPUT_BYTES)
        reject(new Error(`tesseract exited with code ${code}: ${lastWords}`));
      else resolve(Buffer.concat(out).toString('utf8'));
    });
  });
  return work.finally(() => folder.remove());
}
