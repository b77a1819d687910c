/** The Tesseract program of the machine: a process a picture, which is ended with all it started when it is in the way. */
import { spawn } from 'node:child_process';
import os from 'node:os';
import { childEnvironment } from '#concurrency/environment.ts';
import { createProgramFolder, killGroup } from '#concurrency/programs.ts';
import type { OcrEngine, RecogniseOptions } from '../../engine.ts';
import { parseHocr } from '../../hocr.ts';
import { checkLanguages, languageMissing, PICTURE_DPI, recognitionFailed, SEGMENTATION_MODES } from './tesseract.ts';

interface TesseractCliOptions {
  /** Its path, or its name on PATH. */
  readonly program: string;
  /** Made when it is not there. Each run has a folder of its own in it. Default: that of the system. */
  readonly temporaryDir?: string | undefined;
}

/** A page full of words is a few hundred kB. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const LIST_TIMEOUT_MS = 30_000;

/** Undefined when the program cannot be run. */
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

  /** Asked again for a language that was not there, which may have been added since. */
  async function requireLanguages(languages: readonly string[]): Promise<void> {
    checkLanguages(languages);
    if (languages.every((name) => installed.has(name))) return;
    const list = await run(options, ['--list-langs'], { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
    installed = new Set(list.split(/\r?\n/).slice(1).filter(Boolean));
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
    looksAnywhere: true,
    async recognise(picture, { languages, segmentation, signal }: RecogniseOptions) {
      await requireLanguages(languages);
      const args = ['stdin', 'stdout', '-l', languages.join('+'), '--psm', SEGMENTATION_MODES[segmentation]];
      try {
        return parseHocr(await run(options, [...args, '--dpi', PICTURE_DPI, 'hocr'], { input: picture, signal }));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw recognitionFailed(error);
      }
    },
  };
}

/** What the program writes. Throws the signal's reason, or an Error with its last words. */
async function run(
  { program, temporaryDir = os.tmpdir() }: TesseractCliOptions,
  args: readonly string[],
  { input, signal }: { input?: Uint8Array; signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const folder = await createProgramFolder(temporaryDir);
  const work = new Promise<string>((resolve, reject) => {
    // Its threads hold each other up: one page takes five times longer with them than without.
    const env = childEnvironment({
      home: folder.path,
      inherits: ['TESSDATA_PREFIX'],
      more: { OMP_THREAD_LIMIT: '1' },
    });
    const child = spawn(program, args, { cwd: folder.path, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
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
    // A program that ends early breaks the pipe; its exit says why.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    });
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else if (code !== 0 || bytes > MAX_OUTPUT_BYTES) reject(new Error(`tesseract ended with ${code}: ${lastWords}`));
      else resolve(Buffer.concat(out).toString('utf8'));
    });
  });
  return work.finally(() => folder.remove());
}
