/** Converts a file's bytes into pieces of a model's input: images, sounds or text. */
import type { Documents } from '#documents/documents.ts';
import type { Ocr } from '#ocr/index.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { MediaError } from './load.ts';
import { pagesAsPictures, pagesAsTexts } from './pdf.ts';
import type { PictureRule } from './picture-rule.ts';
import type { Piece, ReadOptions } from './reader.ts';
import type { SoundRule } from './sound.ts';
import { type Transcribe, wavOf } from './transcript.ts';
import type { MediaOutcome, MediaTask } from './worker.ts';

const MAX_FRAMES = 64;
const MAX_SECONDS = 30;
/** The remainder after the last full window is used only if it is at least this long. */
const LEAST_SECONDS = 1;
const SPEECH_SAMPLES_PER_SECOND = 16_000;

const NO_FFMPEG = 'needs ffmpeg on the server: the operator must install it (on Debian: apt-get install ffmpeg)';

/** Decodes in a separate process; the outcome has the requested kind. */
export type Decode = <Kind extends MediaOutcome['kind']>(
  task: MediaTask,
  kind: Kind,
  signal: AbortSignal,
) => Promise<Extract<MediaOutcome, { kind: Kind }>>;

export interface ConverterTools {
  readonly decode: Decode;
  readonly ffmpeg: Ffmpeg | undefined;
  readonly documents: Documents | undefined;
  readonly ocr: Ocr | undefined;
  readonly transcribe: Transcribe | undefined;
  readonly temporaryDir: string;
}

export function createConverter({ decode, ffmpeg, documents, ocr, transcribe, temporaryDir }: ConverterTools) {
  const requireFfmpeg = (): Ffmpeg => {
    if (ffmpeg) return ffmpeg;
    throw new MediaError(NO_FFMPEG);
  };

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

  async function video(bytes: Uint8Array, mediaType: string, { formats, signal, hold }: ReadOptions): Promise<Piece[]> {
    if (formats.video === 'file') {
      hold(sizeOfFile(bytes));
      return [{ medium: 'video', file: bytes, mediaType: mediaType || 'video/mp4' }];
    }
    if (!formats.image) throw new MediaError('is not supported by this model');
    const { image } = formats;
    const seen = (frame: Uint8Array, stop: AbortSignal) => picture(frame, 'image/png', image, { signal: stop, hold });
    return requireFfmpeg().frames(bytes, { most: MAX_FRAMES, signal }, seen);
  }

  async function audio(bytes: Uint8Array, mediaType: string, { formats, signal, hold }: ReadOptions): Promise<Piece[]> {
    if (formats.audio === 'file') {
      hold(sizeOfFile(bytes));
      return [{ medium: 'audio', file: bytes, mediaType: mediaType || 'audio/wav' }];
    }
    if (formats.audio) {
      const { samplesPerSecond } = formats.audio;
      const samples = await requireFfmpeg().samples(bytes, { samplesPerSecond, seconds: MAX_SECONDS, signal });
      return featuresOf(samples, formats.audio, { signal, hold });
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

  async function pdf(bytes: Uint8Array, { formats, pdf: rule, signal, hold }: ReadOptions): Promise<Piece[][]> {
    if (!documents) throw new MediaError('cannot be read on this server');
    const tools = { documents, ocr, temporaryDir };
    if (rule === 'text') {
      const texts = await pagesAsTexts(bytes, { tools, signal });
      hold(texts.reduce((sum, { length }) => sum + length, 0));
      return texts.map((text) => [{ medium: 'text', text }]);
    }
    const { image } = formats;
    if (!image) throw new MediaError('is not supported by this model');
    const as = image === 'file' ? 'png' : image;
    return pagesAsPictures(bytes, { as, tools, signal }, (drawn): Piece[] => {
      hold(as === 'png' ? sizeOfFile(drawn) : drawn.length);
      return [
        as === 'png' ? { medium: 'image', file: drawn, mediaType: 'image/png' } : { medium: 'image', rgb: drawn },
      ];
    });
  }

  return { picture, video, audio, pdf };
}

/** Size in memory, including the base64 copy that is sent to the server. */
const sizeOfFile = ({ length }: Uint8Array) => Math.ceil((length * 7) / 3);
