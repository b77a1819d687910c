/**
 * Converts the media of a request into a model's input: loads the bytes, decodes them in a separate process and
 * preprocesses them.
 */
import { findProgram } from '#concurrency/find-program.ts';
import { createProcessPool } from '#concurrency/processes.ts';
import { QueueFullError, TaskCrashedError, TaskTimeoutError } from '#concurrency/task-queue.ts';
import { DocumentError } from '#documents/document.ts';
import type { Documents } from '#documents/documents.ts';
import { problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Ocr } from '#ocr/index.ts';
import type { MediaFormats, ReadyMedium } from '../backend.ts';
import { type MemoryShare, RequestTooLargeError } from '../queue/admission.ts';
import type { Medium } from '../registry/catalogue.ts';
import { createConverter } from './convert.ts';
import { createFfmpeg } from './ffmpeg.ts';
import { loadMedia, MediaError } from './load.ts';
import type { Transcribe } from './transcript.ts';
import type { MediaOutcome, MediaTask } from './worker.ts';

export type Piece = ReadyMedium | { readonly medium: 'text'; readonly text: string };

/** The media that this machine supports. */
export interface MediaSupport {
  readonly documents: boolean;
  readonly ffmpeg: boolean;
  readonly speech: boolean;
}

export interface MediaReader {
  readonly support: MediaSupport;
  /**
   * Returns one list of pieces per vector; several pieces are pooled. A PDF gives one list per page; other media give
   * one list. Throws MediaError, ServiceNodeResourceDrainError, errors of the speech model, or the signal's reason.
   */
  read(medium: Medium, value: string, wants: ReadOptions): Promise<Piece[][]>;
  close(): Promise<void>;
}

export interface ReadOptions {
  readonly formats: MediaFormats;
  /** Whether PDF pages are embedded as images or text. */
  readonly pdf: 'pictures' | 'text';
  readonly signal: AbortSignal;
  /** Called with the size of the result in memory, in bytes. */
  readonly hold: MemoryShare['hold'];
}

export interface MediaReaderOptions {
  /** Guarded fetch. If unset, no URLs are fetched. */
  readonly fetch?: GuardedFetch | undefined;
  /** Document reader. If unset, PDFs are not supported. */
  readonly documents?: Documents | undefined;
  readonly ocr?: Ocr | undefined;
  readonly transcribe?: Transcribe | undefined;
  /** The ffmpeg executable. Default: the one on PATH. */
  readonly ffmpeg?: string | undefined;
  readonly temporaryDir: string;
  readonly timeoutMs?: number | undefined;
}

const MEGABYTE = 1_000_000;
/** Maximum sizes (docs/reference/wire/models.md, Size limits). */
const MAX_BYTES: Readonly<Record<Medium, number>> = {
  image: 8 * MEGABYTE,
  pdf: 8 * MEGABYTE,
  audio: 10 * MEGABYTE,
  video: 10 * MEGABYTE,
};
const TIMEOUT_MS = 30_000;
/** Enough memory for an image of 100 million pixels. */
const WORKER_MB = 1_536;
const RETRY_AFTER_S = 5;
const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

export function createMediaReader(options: MediaReaderOptions): MediaReader {
  const { fetch, documents, ocr, transcribe, temporaryDir, timeoutMs = TIMEOUT_MS } = options;
  const processes = createProcessPool<MediaTask, MediaOutcome>({ worker: WORKER, memoryMb: WORKER_MB });
  const program = findProgram(options.ffmpeg ?? 'ffmpeg');
  const ffmpeg = program ? createFfmpeg({ program, temporaryDir, timeoutMs }) : undefined;

  async function decode<Kind extends MediaOutcome['kind']>(task: MediaTask, kind: Kind, signal: AbortSignal) {
    const outcome = await processes.run(task, { timeoutMs, signal });
    if (outcome.kind === 'fault') throw new MediaError(`cannot be read: ${outcome.message}`);
    if (outcome.kind !== kind) throw new Error(`a task gave ${outcome.kind}`);
    return outcome as Extract<MediaOutcome, { kind: Kind }>;
  }

  const converter = createConverter({ decode, ffmpeg, documents, ocr, transcribe, temporaryDir });

  return {
    support: { documents: documents !== undefined, ffmpeg: ffmpeg !== undefined, speech: transcribe !== undefined },
    async read(medium, value, wants) {
      const { signal, hold } = wants;
      let releaseBytes = () => {};
      try {
        const { bytes, mediaType } = await loadMedia(value, { fetch, maxBytes: MAX_BYTES[medium], signal });
        releaseBytes = hold(bytes.length);
        if (medium === 'pdf') return await converter.pdf(bytes, wants);
        if (medium === 'video') return [await converter.video(bytes, mediaType, wants)];
        if (medium === 'audio') return [await converter.audio(bytes, mediaType, wants)];
        if (!wants.formats.image) throw new MediaError('is not supported by this model');
        return [[await converter.picture(bytes, mediaType, wants.formats.image, wants)]];
      } catch (error) {
        signal.throwIfAborted();
        throw failureOf(error, timeoutMs);
      } finally {
        releaseBytes();
      }
    },
    close: () => processes.close(),
  };
}

function failureOf(error: unknown, timeoutMs: number): unknown {
  if (error instanceof RequestTooLargeError) {
    return new MediaError(
      'exceeds the memory limit when combined with the other inputs: send fewer inputs per request',
    );
  }
  if (error instanceof DocumentError) return new MediaError(`cannot be read: ${error.message}`);
  if (error instanceof TaskTimeoutError) return new MediaError(`could not be processed within ${timeoutMs / 1000} s`);
  if (error instanceof TaskCrashedError) return new MediaError('exceeds the memory limit for a file');
  if (error instanceof QueueFullError) {
    return problem('ServiceNodeResourceDrainError', { retryAfter: RETRY_AFTER_S }, error);
  }
  return error;
}
