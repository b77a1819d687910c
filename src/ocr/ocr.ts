/**
 * Text recognition: turns an image into text in reading order. Tesseract and PP-OCR find words and their boxes;
 * `layout/layout.ts` derives headings, paragraphs, lists and tables from them.
 */
import { createProcessPool } from '#concurrency/processes.ts';
import {
  createTaskQueue,
  QueueFullError,
  TaskCrashedError,
  type TaskQueue,
  TaskTimeoutError,
} from '#concurrency/task-queue.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { problem } from '#errors.ts';
import type { Doubt } from './combine/words.ts';
import type { OcrEngine } from './engine.ts';
import { createPpOcr, filesIn, shippedFiles } from './engines/pp-ocr/pp-ocr.ts';
import { createBuiltInTesseract } from './engines/tesseract/built-in.ts';
import { findTesseractCli } from './engines/tesseract/cli.ts';
import type { OcrPage } from './hocr.ts';
import type { Sheet } from './image/components.ts';
import { mapToSource } from './image/coordinates.ts';
import type { Prepared, Rotation } from './image/prepare.ts';
import { layOut, type OcrBlock } from './layout/layout.ts';
import { blocksToHtml, blocksToText } from './output/html.ts';
import { confidenceOf, type OcrReading, type OcrTools, readImage } from './read.ts';
import type { OcrTask, OcrTaskResult } from './worker.ts';

export interface Ocr {
  /**
   * The engine, known after the first read: `tesseract` is the installed program, `tesseract.js` the built-in one, each
   * with PP-OCR beside it; or `pp-ocr` alone, with the operator's models.
   */
  readonly name: string;
  /**
   * Reads the text of an image (PNG, JPEG, WebP, TIFF); an image without text gives an empty result. Throws
   * DownstreamServiceFailureError (missing language, unreadable image, timeout), ServiceNodeResourceDrainError or the
   * signal's reason; InvalidImageError only if `whole` is set.
   */
  read(picture: Uint8Array, options: OcrReadOptions): Promise<OcrResult>;
  close(): Promise<void>;
}

export interface OcrReadOptions {
  readonly signal: AbortSignal;
  /** Tesseract language names. By default, those in the settings; if there are none, the script of each page decides. */
  readonly languages?: readonly string[] | undefined;
  /** Whether to refuse an incomplete image. Otherwise the available part is read. */
  readonly whole?: boolean | undefined;
}

/** The image is damaged, or has fewer pixels than its header declares. */
export class InvalidImageError extends Error {}

export interface OcrResult {
  /** An HTML fragment: headings, paragraphs, lists, tables. */
  readonly html: string;
  /** The content as plain text, with an empty line between blocks. */
  readonly text: string;
  /** Mean over all words, 0 to 1; 0 if there are none. */
  readonly confidence: number;
  readonly words: number;
  /** Blocks in reading order. Their boxes are in pixels of the original image. */
  readonly blocks: readonly OcrBlock[];
  /** Size of the original image, in pixels, and the clockwise rotation applied before reading, in degrees. */
  readonly picture: { readonly width: number; readonly height: number; readonly turned: Rotation };
  /** Numbers that the two recognizers read differently. */
  readonly doubts: readonly Doubt[];
  /** What the reader of the answer should know about the languages, as sentences. */
  readonly notes: readonly string[];
  /** Positions of all words in the prepared image: upright, straightened, and enlarged if it was small. */
  readonly page: OcrPage;
}

export interface OcrOptions {
  /**
   * The Tesseract program. If unset, the program is searched for on PATH; if it is not found, the built-in engine is
   * used.
   */
  readonly tesseract?: string | undefined;
  /** A folder with PP-OCR models, which are then used instead of everything else. */
  readonly modelDir?: string | undefined;
  /** Tesseract language names. If empty, they follow from the script of each page. */
  readonly languages: readonly string[];
  /** `tesseract` reads without the PP-OCR models that come along, which is how it works where they are missing. */
  readonly only?: 'tesseract' | undefined;
  /** Working directory of the program, the only place where it can leave files such as a log. */
  readonly temporaryDir?: string | undefined;
  /** Time limit for one image, counted from the start of its processing. */
  readonly timeoutMs: number;
}

/** Limits of the queue: the number of waiting images, and the maximum time that each may wait. */
const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 60_000;
/** Memory limit of the child process, in MB: enough for an image of 100 million pixels. */
const WORKER_MB = 1_536;
/** The `tesseract` value that selects the built-in engine even if the program is installed. */
const BUILT_IN = 'tesseract.js';
/** The languages of a page in Latin script. */
const DEFAULT_LANGUAGES = ['eng'];
const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Returns `undefined` if text recognition is off, that is, if `tesseract` is `none` and no PP-OCR models are
 * configured. Throws ConfigError if the model folder is missing a required file.
 */
export function createOcr(options: OcrOptions): Ocr | undefined {
  const { tesseract, modelDir, languages, temporaryDir, timeoutMs, only } = options;
  if (tesseract === 'none' && modelDir === undefined) return undefined;
  const processes = createProcessPool<OcrTask, OcrTaskResult>({ worker: WORKER, memoryMb: WORKER_MB });
  const slots = createTaskQueue({ count: defaultThreads(), maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  const closing = new AbortController();
  const ppOcr = modelDir === undefined ? undefined : createPpOcr(filesIn(modelDir), timeoutMs);
  const shipped = ppOcr || only ? undefined : shippedFiles();
  const neural = shipped && createPpOcr(shipped, timeoutMs);
  const builtIn = createBuiltInTesseract(processes, timeoutMs);
  let engine: Promise<OcrEngine> | undefined;
  let name = ppOcr?.name ?? (tesseract === BUILT_IN ? BUILT_IN : 'tesseract');

  async function findEngine(): Promise<OcrEngine> {
    if (ppOcr) return ppOcr;
    const program = tesseract ?? 'tesseract';
    const cli = tesseract === BUILT_IN ? undefined : await findTesseractCli({ program, temporaryDir });
    if (!cli && tesseract !== undefined && tesseract !== BUILT_IN) {
      throw problem('DownstreamServiceFailureError', {
        message: 'The configured Tesseract program cannot be run: check the setting or install Tesseract',
      });
    }
    const found = cli ?? builtIn;
    name = found.name;
    return found;
  }

  function toolsFor(
    found: OcrEngine,
    { languages: asked, whole }: { languages: readonly string[]; whole: boolean },
    signal: AbortSignal,
  ): OcrTools {
    const halfTime = performance.now() + timeoutMs / 2;
    return {
      neural,
      isAutomatic: asked.length === 0,
      async engineFor(names) {
        for (const engine of [found, builtIn]) if (await engine.has(names)) return engine;
        return undefined;
      },
      crop: async (picture, box) =>
        (await processes.run({ do: 'crop', picture, box }, { timeoutMs, signal })) as Uint8Array,
      gather: async (picture, boxes) =>
        (await processes.run({ do: 'gather', picture, boxes }, { timeoutMs, signal })) as Sheet,
      hasTimeLeft: () => performance.now() < halfTime,
      engine: found,
      languages: asked.length > 0 ? asked : DEFAULT_LANGUAGES,
      signal,
      async prepare(picture, turn) {
        try {
          return (await processes.run({ do: 'prepare', picture, turn, whole }, { timeoutMs, signal })) as Prepared;
        } catch (error) {
          signal.throwIfAborted();
          const isImageFault = !(error instanceof TaskCrashedError || error instanceof TaskTimeoutError);
          if (whole && isImageFault) throw new InvalidImageError('the image is incomplete', { cause: error });
          throw problem('DownstreamServiceFailureError', { message: 'Text recognition cannot open this image' }, error);
        }
      },
    };
  }

  return {
    get name() {
      return name;
    },
    async read(picture, { signal, languages: asked = [], whole = false }) {
      const stop = AbortSignal.any([signal, closing.signal]);
      await waitForSlot(slots, stop);
      const timeUp = AbortSignal.timeout(timeoutMs);
      try {
        engine ??= findEngine();
        engine.catch(() => {
          engine = undefined;
        });
        const reading = await readImage(
          picture,
          toolsFor(
            await engine,
            { languages: asked.length > 0 ? asked : languages, whole },
            AbortSignal.any([stop, timeUp]),
          ),
        );
        return toResult(reading);
      } catch (error) {
        stop.throwIfAborted();
        if (!timeUp.aborted) throw error;
        throw problem(
          'DownstreamServiceFailureError',
          { message: `Text recognition took longer than ${timeoutMs / 1000} s` },
          error,
        );
      } finally {
        slots.release();
      }
    },
    async close() {
      closing.abort(problem('ServiceNodeResourceDrainError', { message: 'The server is shutting down' }));
      await Promise.all([processes.close(), ppOcr?.close(), neural?.close()]);
    },
  };
}

async function waitForSlot(slots: TaskQueue, signal: AbortSignal): Promise<void> {
  try {
    await slots.acquire(0, signal);
  } catch (error) {
    throw error instanceof QueueFullError ? problem('ServiceNodeResourceDrainError', { retryAfter: 5 }, error) : error;
  }
}

function toResult({ page, preparation, doubts, notes }: OcrReading): OcrResult {
  const blocks = layOut(page);
  return {
    html: blocksToHtml(blocks),
    text: blocksToText(blocks),
    confidence: confidenceOf(page),
    words: page.lines.reduce((sum, { words }) => sum + words.length, 0),
    blocks: mapToSource(blocks, preparation),
    picture: { ...preparation.source, turned: preparation.turn },
    doubts,
    notes,
    page,
  };
}
