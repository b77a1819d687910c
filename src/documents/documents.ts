/**
 * Reads and renders files, each in a process that is killed when a file exceeds the time or memory limit. LibreOffice
 * first converts old Office formats to new ones, and Office files to PDF if their pages are rendered.
 */
import path from 'node:path';
import { createProcessPool } from '#concurrency/processes.ts';
import { type Load, QueueFullError, TaskCrashedError, TaskTimeoutError } from '#concurrency/task-queue.ts';
import { canonicalType, TYPES } from './detect.ts';
import {
  DocumentError,
  type DocumentFile,
  type ParsedDocument,
  type PictureOptions,
  type PicturesOptions,
  type ReadOptions,
} from './document.ts';
import { CONVERTED_OFFICE_TYPES } from './office/converted-types.ts';
import type { LibreOffice } from './office/libreoffice.ts';
import { createPdfCache } from './office/pdf-cache.ts';
import type { Outcome, Task } from './worker.ts';

export interface ReadFile extends ParsedDocument {
  /** The detected type. */
  readonly mediaType: string;
}

export interface Documents {
  /**
   * Reads the pages of a file. Throws DocumentError, QueueFullError (no process became free in time) or the signal's
   * reason.
   */
  read(file: DocumentFile, options: ReadOptions, signal: AbortSignal): Promise<ReadFile>;
  /** Renders a page as PNG; `undefined` for kinds that cannot be rendered. Throws what `read` throws. */
  picture(file: DocumentFile, options: PictureOptions, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /**
   * Renders pages of a PDF in the given order without reopening the file for each page. The process may handle other
   * files between two batches of pages. Throws what `read` throws.
   */
  pictures(file: DocumentFile, options: PicturesOptions, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  /** Ids of the running processes. */
  pids(): number[];
  load(): Load;
  close(): Promise<void>;
}

export interface DocumentsOptions {
  readonly processes?: number | undefined;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly libreoffice: LibreOffice;
}

type ConvertOutcome = Extract<Outcome, { kind: 'convert' }>;

const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/** Share of a file's time limit after which a kind that reads page by page returns the pages read so far. */
const READING_SHARE = 0.6;

/** Files up to this size have equal priority; above it, smaller files are processed first. */
const LIGHT_BYTES = 256 * 1024;

/** Office types whose pages LibreOffice lays out as printed. Spreadsheets have no such pages. */
const PRINTED = new Set<string>(
  (['docx', 'wordXml', 'odt', 'rtf', 'doc', 'pptx', 'odp', 'ppt'] as const).map((name) => TYPES[name]),
);

/**
 * Memory limit of a process: a fixed amount, plus a multiple of the file size, because compressed text expands to many
 * objects.
 */
const LEAST_MEMORY_MB = 512;
const MEMORY_FACTOR = 64;
/** The multiple is smaller for PDFs and images, which are processed one page at a time. */
const PAGED_MEMORY_FACTOR = 8;

/** The memory limit is rounded so that files of similar size share processes. */
function memoryFor({ size, mediaType }: DocumentFile): number {
  const isPaged = mediaType === TYPES.pdf || mediaType.startsWith('image/');
  const wanted = (size / 1024 ** 2) * (isPaged ? PAGED_MEMORY_FACTOR : MEMORY_FACTOR);
  return LEAST_MEMORY_MB * 2 ** Math.max(0, Math.ceil(Math.log2((LEAST_MEMORY_MB / 2 + wanted) / LEAST_MEMORY_MB)));
}

export function createDocuments({ processes: count, memoryMb, timeoutMs, libreoffice }: DocumentsOptions): Documents {
  const processes = createProcessPool<Task, Outcome>({ worker: WORKER, count, memoryMb });
  const pdfCache = createPdfCache();
  const timeMs = timeoutMs * READING_SHARE;

  async function run(task: Task, signal: AbortSignal): Promise<Exclude<Outcome, { kind: 'fault' }>> {
    const weight = task.file.size <= LIGHT_BYTES ? 0 : task.file.size;
    try {
      const outcome = await processes.run(task, { timeoutMs, signal, weight, memoryMb: memoryFor(task.file) });
      if (outcome.kind === 'fault') throw new DocumentError(outcome.fault, outcome.message);
      return outcome;
    } catch (error) {
      if (error instanceof TaskTimeoutError) {
        throw new DocumentError('too large', `The file could not be processed within ${timeoutMs / 1000} s`);
      }
      if (error instanceof TaskCrashedError) {
        throw new DocumentError('too large', 'The file needs more memory than the limit for one file', error);
      }
      if (error instanceof DocumentError || error instanceof QueueFullError || signal.aborted) throw error;
      throw new DocumentError(
        'damaged',
        'The file could not be read: it is damaged or not what it claims to be',
        error,
      );
    }
  }

  async function convert(
    file: DocumentFile,
    { path: from, mediaType }: ConvertOutcome,
    to: 'docx' | 'xlsx' | 'pptx' | 'pdf',
    signal: AbortSignal,
  ): Promise<DocumentFile> {
    const made = await libreoffice.convert(from, mediaType, to, path.dirname(from), signal, timeoutMs);
    return { ...file, path: made, mediaType: TYPES[to] };
  }

  return {
    async read(file, asked, signal) {
      const options = { ...asked, timeMs };
      const first = await run({ do: 'parse', file: canonical(file), options }, signal);
      if (first.kind === 'document') return { ...first.document, mediaType: first.mediaType };
      const wanted = first as ConvertOutcome;
      const { mediaType } = wanted;
      const newer = await convert(file, wanted, CONVERTED_OFFICE_TYPES[mediaType]!, signal);
      const second = await run({ do: 'parse', file: newer, options }, signal);
      if (second.kind !== 'document') throw new DocumentError('damaged', 'The Office file could not be converted');
      return { ...second.document, mediaType };
    },
    async picture(file, options, signal) {
      const first = await run({ do: 'picture', file: canonical(file), options }, signal);
      if (first.kind === 'picture') return first.png;
      const wanted = first as ConvertOutcome;
      const { mediaType } = wanted;
      if (!PRINTED.has(mediaType) || !libreoffice.available()) return undefined;
      const print = async () => (await convert(file, wanted, 'pdf', signal)).path;
      const pdf = { ...file, path: await pdfCache(file.path, print), mediaType: TYPES.pdf };
      const second = await run({ do: 'picture', file: pdf, options }, signal);
      return second.kind === 'picture' ? second.png : undefined;
    },
    async *pictures(file, { pages, ...how }, signal) {
      for (let drawn = 0; drawn < pages.length; ) {
        const options = { ...how, pages: pages.slice(drawn) };
        const outcome = await run({ do: 'pictures', file: canonical(file), options }, signal);
        if (outcome.kind !== 'pictures')
          throw new DocumentError('unsupported', 'The pages of this kind of file cannot be rendered');
        drawn += outcome.pictures.length;
        yield* outcome.pictures;
      }
    },
    pids: () => processes.pids(),
    load: processes.load,
    async close() {
      await Promise.all([processes.close(), libreoffice.close()]);
    },
  };
}

const canonical = (file: DocumentFile): DocumentFile => ({ ...file, mediaType: canonicalType(file.mediaType) });
