/**
 * Text recognition: a picture in, its text in reading order out. Tesseract or PP-OCR reads; what its boxes mean as headings,
 * paragraphs, lists and tables is ours (`layout/layout.ts`).
 */
import { createProcesses } from '#concurrency/processes.ts';
import {
  createTaskQueue,
  QueueFullError,
  TaskCrashedError,
  type TaskQueue,
  TaskTimeoutError,
} from '#concurrency/task-queue.ts';
import { defaultThreads } from '#concurrency/threads.ts';
import { problem } from '#errors.ts';
import type { OcrEngine } from './engine.ts';
import { createPpOcr } from './engines/pp-ocr/pp-ocr.ts';
import { createBuiltInTesseract } from './engines/tesseract/built-in.ts';
import { findTesseractCli } from './engines/tesseract/cli.ts';
import type { OcrPage } from './hocr.ts';
import type { Sheet } from './image/components.ts';
import { inSource } from './image/coordinates.ts';
import type { Prepared, Rotation } from './image/prepare.ts';
import { layOut, type OcrBlock } from './layout/layout.ts';
import { blocksToHtml, blocksToText } from './output/html.ts';
import { confidenceOf, type OcrReading, type OcrTools, readPicture } from './read.ts';
import type { OcrTask, OcrTaskResult } from './worker.ts';

export interface Ocr {
  /** The engine, known after the first read: `tesseract` is the machine's, `tesseract.js` the built-in one, or `pp-ocr`. */
  readonly name: string;
  /**
   * What a picture (PNG, JPEG, WebP, TIFF) shows; one without text gives an empty result. Throws
   * DownstreamServiceFailureError (a language that is not there, a picture that cannot be read, time),
   * ServiceNodeResourceDrainError, or the signal's reason; InvalidImageError where that was asked for.
   */
  read(picture: Uint8Array, options: OcrReadOptions): Promise<OcrResult>;
  close(): Promise<void>;
}

export interface OcrReadOptions {
  readonly signal: AbortSignal;
  /** By their Tesseract names; those of the settings when not given. */
  readonly languages?: readonly string[] | undefined;
  /** Whether a picture of which a part is missing is refused; else what there is of it is read. */
  readonly whole?: boolean | undefined;
}

/** It is damaged, or smaller than its head says. */
export class InvalidImageError extends Error {}

export interface OcrResult {
  /** An HTML fragment: headings, paragraphs, lists, tables. */
  readonly html: string;
  /** The same as plain text, blocks parted by an empty line. */
  readonly text: string;
  /** 0 to 1, the mean over words; 0 without any. */
  readonly confidence: number;
  readonly words: number;
  /** What stands on the page, in reading order; its boxes are in pixels of the picture as it was sent. */
  readonly blocks: readonly OcrBlock[];
  /** Its size as it was sent, in pixels, and by how many degrees clockwise it was turned to be read. */
  readonly picture: { readonly width: number; readonly height: number; readonly turned: Rotation };
  /** Where each word stands in the picture as it was read: upright, straight, enlarged when it was small. */
  readonly page: OcrPage;
}

export interface OcrOptions {
  /** The Tesseract program. Without one it is looked for on PATH, and the built-in one is used when it is not there. */
  readonly tesseract?: string | undefined;
  /** A folder with the networks of PP-OCR, which then reads in place of Tesseract. */
  readonly modelDir?: string | undefined;
  readonly languages: readonly string[];
  /** Where the program runs: all it may leave behind, a log, stays there. */
  readonly temporaryDir?: string | undefined;
  /** The longest that one picture may take once it is its turn. */
  readonly timeoutMs: number;
}

const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 60_000;
/** A picture of 100 million pixels has room in it. */
const WORKER_MB = 1_536;
/** In place of a program: the one built in, whatever the machine has. */
const BUILT_IN = 'tesseract.js';
const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Undefined when text recognition is turned off: `tesseract` is `none`, and there are no files of PP-OCR. Throws
 * ConfigError when there is not what it takes in their folder.
 */
export function createOcr({ tesseract, modelDir, languages, temporaryDir, timeoutMs }: OcrOptions): Ocr | undefined {
  if (tesseract === 'none' && modelDir === undefined) return undefined;
  const processes = createProcesses<OcrTask, OcrTaskResult>({ worker: WORKER, memoryMb: WORKER_MB });
  const turns = createTaskQueue({ count: defaultThreads(), maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  const closing = new AbortController();
  const ppOcr = modelDir === undefined ? undefined : createPpOcr(modelDir, timeoutMs);
  let engine: Promise<OcrEngine> | undefined;
  let name = ppOcr?.name ?? (tesseract === BUILT_IN ? BUILT_IN : 'tesseract');

  async function findEngine(): Promise<OcrEngine> {
    if (ppOcr) return ppOcr;
    const program = tesseract ?? 'tesseract';
    const cli = tesseract === BUILT_IN ? undefined : await findTesseractCli({ program, temporaryDir });
    if (!cli && tesseract !== undefined && tesseract !== BUILT_IN) {
      throw problem('DownstreamServiceFailureError', {
        message: 'The Tesseract program of the settings cannot be run',
      });
    }
    const found = cli ?? createBuiltInTesseract(processes, timeoutMs);
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
      gather: async (picture, boxes) =>
        (await processes.run({ do: 'gather', picture, boxes }, { timeoutMs, signal })) as Sheet,
      mayLookAgain: () => performance.now() < halfTime,
      engine: found,
      languages: asked,
      signal,
      async prepare(picture, turn) {
        try {
          return (await processes.run({ do: 'prepare', picture, turn, whole }, { timeoutMs, signal })) as Prepared;
        } catch (error) {
          signal.throwIfAborted();
          const isOfPicture = !(error instanceof TaskCrashedError || error instanceof TaskTimeoutError);
          if (whole && isOfPicture) throw new InvalidImageError('the picture is not whole', { cause: error });
          throw problem(
            'DownstreamServiceFailureError',
            { message: 'Text recognition cannot open this picture' },
            error,
          );
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
      await waitForSlot(turns, stop);
      const timeUp = AbortSignal.timeout(timeoutMs);
      try {
        engine ??= findEngine();
        engine.catch(() => {
          engine = undefined;
        });
        const reading = await readPicture(
          picture,
          toolsFor(
            await engine,
            { languages: asked.length > 0 ? asked : languages, whole },
            AbortSignal.any([stop, timeUp]),
          ),
        );
        return resultOf(reading);
      } catch (error) {
        stop.throwIfAborted();
        if (!timeUp.aborted) throw error;
        throw problem('DownstreamServiceFailureError', { message: 'Text recognition took too long' }, error);
      } finally {
        turns.giveBack();
      }
    },
    async close() {
      closing.abort(problem('ServiceNodeResourceDrainError', { message: 'The server is going down' }));
      await Promise.all([processes.close(), ppOcr?.close()]);
    },
  };
}

async function waitForSlot(turns: TaskQueue, signal: AbortSignal): Promise<void> {
  try {
    await turns.take(0, signal);
  } catch (error) {
    throw error instanceof QueueFullError ? problem('ServiceNodeResourceDrainError', { retryAfter: 5 }, error) : error;
  }
}

function resultOf({ page, preparation }: OcrReading): OcrResult {
  const blocks = layOut(page);
  return {
    html: blocksToHtml(blocks),
    text: blocksToText(blocks),
    confidence: confidenceOf(page),
    words: page.lines.reduce((sum, { words }) => sum + words.length, 0),
    blocks: inSource(blocks, preparation),
    picture: { ...preparation.source, turned: preparation.turn },
    page,
  };
}
