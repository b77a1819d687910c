/**
 * Converts the media of a request into a model's input: loads the bytes, decodes them in a separate process and
 * preprocesses them.
 */
import { createProcessPool } from '#concurrency/processes.ts';
import { QueueFullError, TaskCrashedError, TaskTimeoutError } from '#concurrency/task-queue.ts';
import { DocumentError } from '#documents/document.ts';
import type { Documents } from '#documents/documents.ts';
import { problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Ocr } from '#ocr/index.ts';
import type { MediaNeeds, ReadyMedium } from '../backends/backend.ts';
import { type MemoryShare, RequestTooLargeError } from '../queue/intake.ts';
import type { Medium } from '../registry/catalogue.ts';
import { createFfmpeg, type Ffmpeg, findProgram } from './ffmpeg.ts';
import { loadMedia } from './load.ts';
import { pagesAsPictures, pagesAsTexts } from './pdf.ts';
import type { PictureRule } from './picture-rule.ts';
import type { SoundRule } from './sound.ts';
import { type Transcribe, wavOf } from './transcript.ts';
import { MediaError } from './value.ts';
import type { MediaOutcome, MediaTask } from './worker.ts';

export type Piece = ReadyMedium | { readonly medium: 'text'; readonly text: string };

/** Media support of this machine. */
export interface MediaMeans {
  readonly documents: boolean;
  readonly ffmpeg: boolean;
  readonly speech: boolean;
}

export interface MediaReader {
  readonly means: MediaMeans;
  /**
   * One list of pieces per vector; several pieces are pooled. A PDF gives one list per page, other media give one.
   * Throws MediaError, ServiceNodeResourceDrainError, errors of the speech model, or the signal's reason.
   */
  read(medium: Medium, value: string, wants: ReadOptions): Promise<Piece[][]>;
  close(): Promise<void>;
}

export interface ReadOptions {
  readonly needs: MediaNeeds;
  /** Whether PDF pages are embedded as images or text. */
  readonly pdf: 'pictures' | 'text';
  readonly signal: AbortSignal;
  /** Called with the bytes that the result holds in memory. */
  readonly hold: MemoryShare['hold'];
}

export interface MediaReaderOptions {
  /** Guarded fetch; without it no URLs are fetched. */
  readonly fetch?: GuardedFetch | undefined;
  /** Document reader; without it PDFs are not supported. */
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
const MAX_FRAMES = 64;
const MAX_SECONDS = 30;
/** The rest after the last full window is used if it has at least this length. */
const LEAST_SECONDS = 1;
const SPEECH_SAMPLES_PER_SECOND = 16_000;

const TIMEOUT_MS = 30_000;
/** Enough memory for an image of 100 million pixels. */
const WORKER_MB = 1_536;
const RETRY_AFTER_S = 5;
const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

const NO_FFMPEG = 'needs ffmpeg on the server: the operator must install it (on Debian: apt-get install ffmpeg)';

export function createMediaReader(options: MediaReaderOptions): MediaReader {
  const { fetch, documents, ocr, transcribe, temporaryDir, timeoutMs = TIMEOUT_MS } = options;
  const processes = createProcessPool<MediaTask, MediaOutcome>({ worker: WORKER, memoryMb: WORKER_MB });
  const program = findProgram(options.ffmpeg ?? 'ffmpeg');
  const ffmpeg = program && createFfmpeg({ program, temporaryDir, timeoutMs });

  const requireFfmpeg = (): Ffmpeg => {
    if (ffmpeg) return ffmpeg;
    throw new MediaError(NO_FFMPEG);
  };

  async function decode<Kind extends MediaOutcome['kind']>(task: MediaTask, kind: Kind, signal: AbortSignal) {
    const outcome = await processes.run(task, { timeoutMs, signal });
    if (outcome.kind === 'fault') throw new MediaError(`cannot be read: ${outcome.message}`);
    if (outcome.kind !== kind) throw new Error(`a task gave ${outcome.kind}`);
    return outcome as Extract<MediaOutcome, { kind: Kind }>;
  }

  async function picture(
    bytes: Uint8Array,
    mediaType: string,
    rule: PictureRule | 'file',
    { signal, hold }: Pick<ReadOptions, 'signal' | 'hold'>,
  ) {
    if (rule === 'file') {
      const checked = await decode({ do: 'check', bytes, mediaType }, 'checked', signal);
      hold(sizeOfFile(bytes));
      return { medium: 'image', file: bytes, mediaType: checked.mediaType } as const;
    }
    const { rgb } = await decode({ do: 'picture', bytes, mediaType, rule }, 'rgb', signal);
    hold(rgb.length);
    return { medium: 'image', rgb } as const;
  }

  async function video(bytes: Uint8Array, mediaType: string, { needs, signal, hold }: ReadOptions): Promise<Piece[]> {
    if (needs.video === 'file') {
      hold(sizeOfFile(bytes));
      return [{ medium: 'video', file: bytes, mediaType: mediaType || 'video/mp4' }];
    }
    if (!needs.image) throw new MediaError('is not supported by this model');
    const { image } = needs;
    const seen = (frame: Uint8Array, stop: AbortSignal) => picture(frame, 'image/png', image, { signal: stop, hold });
    return requireFfmpeg().frames(bytes, { most: MAX_FRAMES, signal }, seen);
  }

  async function audio(bytes: Uint8Array, mediaType: string, { needs, signal, hold }: ReadOptions): Promise<Piece[]> {
    if (needs.audio === 'file') {
      hold(sizeOfFile(bytes));
      return [{ medium: 'audio', file: bytes, mediaType: mediaType || 'audio/wav' }];
    }
    if (needs.audio) {
      const { samplesPerSecond } = needs.audio;
      const samples = await requireFfmpeg().samples(bytes, { samplesPerSecond, seconds: MAX_SECONDS, signal });
      return featuresOf(samples, needs.audio, { signal, hold });
    }
    if (!transcribe)
      throw new MediaError('is not supported by this model, and no speech model is configured (`speechUrl`)');
    const samplesPerSecond = SPEECH_SAMPLES_PER_SECOND;
    const samples = await requireFfmpeg().samples(bytes, { samplesPerSecond, seconds: MAX_SECONDS, signal });
    return [{ medium: 'text', text: await transcribe(wavOf(samples, samplesPerSecond), signal) }];
  }

  async function featuresOf(
    samples: Float32Array,
    rule: SoundRule,
    { signal, hold }: Pick<ReadOptions, 'signal' | 'hold'>,
  ): Promise<Piece[]> {
    const window = rule.seconds * rule.samplesPerSecond;
    const pieces: Piece[] = [];
    for (let from = 0; from < samples.length; from += window) {
      const part = samples.slice(from, from + window);
      if (from > 0 && part.length < LEAST_SECONDS * rule.samplesPerSecond) break;
      const { features } = await decode({ do: 'sound', samples: part, rule }, 'features', signal);
      hold(features.byteLength);
      pieces.push({ medium: 'audio', features });
    }
    return pieces;
  }

  async function pdf(bytes: Uint8Array, { needs, pdf: rule, signal, hold }: ReadOptions): Promise<Piece[][]> {
    if (!documents) throw new MediaError('cannot be read on this server');
    const tools = { documents, ocr, temporaryDir };
    if (rule === 'text') {
      const texts = await pagesAsTexts(bytes, { tools, signal });
      hold(texts.reduce((sum, { length }) => sum + length, 0));
      return texts.map((text) => [{ medium: 'text', text }]);
    }
    const { image } = needs;
    if (!image) throw new MediaError('is not supported by this model');
    const as = image === 'file' ? 'png' : image;
    return pagesAsPictures(bytes, { as, tools, signal }, (drawn): Piece[] => {
      hold(as === 'png' ? sizeOfFile(drawn) : drawn.length);
      return [
        as === 'png' ? { medium: 'image', file: drawn, mediaType: 'image/png' } : { medium: 'image', rgb: drawn },
      ];
    });
  }

  return {
    means: { documents: documents !== undefined, ffmpeg: ffmpeg !== undefined, speech: transcribe !== undefined },
    async read(medium, value, wants) {
      const { signal, hold } = wants;
      let letGo = () => {};
      try {
        const { bytes, mediaType } = await loadMedia(value, { fetch, maxBytes: MAX_BYTES[medium], signal });
        letGo = hold(bytes.length);
        if (medium === 'pdf') return await pdf(bytes, wants);
        if (medium === 'video') return [await video(bytes, mediaType, wants)];
        if (medium === 'audio') return [await audio(bytes, mediaType, wants)];
        if (!wants.needs.image) throw new MediaError('is not supported by this model');
        return [[await picture(bytes, mediaType, wants.needs.image, wants)]];
      } catch (error) {
        signal.throwIfAborted();
        throw failureOf(error, timeoutMs);
      } finally {
        letGo();
      }
    },
    close: () => processes.close(),
  };
}

/** Size in memory, including the base64 copy that is sent. */
const sizeOfFile = ({ length }: Uint8Array) => Math.ceil((length * 7) / 3);

function failureOf(error: unknown, timeoutMs: number): unknown {
  if (error instanceof RequestTooLargeError) {
    return new MediaError('exceeds the memory limit together with the other inputs: send fewer inputs per request');
  }
  if (error instanceof DocumentError) return new MediaError(`cannot be read: ${error.message}`);
  if (error instanceof TaskTimeoutError) return new MediaError(`could not be processed within ${timeoutMs / 1000} s`);
  if (error instanceof TaskCrashedError) return new MediaError('exceeds the memory limit for a file');
  if (error instanceof QueueFullError) {
    return problem('ServiceNodeResourceDrainError', { retryAfter: RETRY_AFTER_S }, error);
  }
  return error;
}
