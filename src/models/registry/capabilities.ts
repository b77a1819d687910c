/** Capabilities that depend on how a model runs. */

import { MEDIA_KINDS } from '../inputs/inputs.ts';
import type { MediaSupport } from '../media/reader.ts';
import { PROTOCOLS } from '../remote/protocols.ts';
import type { EmbeddingKind, EmbeddingRow, Medium } from './catalogue.ts';

export interface Capabilities {
  readonly lateChunking: boolean;
  /** One vector per token. */
  readonly multivector: boolean;
  /** One weight per term. */
  readonly sparse: boolean;
}

export function capabilitiesOf({ runs, pooling, kind }: Pick<EmbeddingRow, 'runs' | 'pooling' | 'kind'>): Capabilities {
  switch (runs.on) {
    case 'static':
      return { lateChunking: false, multivector: false, sparse: false };
    case 'onnx':
      return {
        lateChunking: pooling === 'mean',
        multivector: !runs.towers || runs.towers.image?.prompt !== undefined,
        sparse: kind === 'sparse' || kind === 'm3',
      };
    case 'remote': {
      const { embed } = PROTOCOLS[runs.protocol];
      const outputs = embed?.outputs ?? [];
      return {
        lateChunking: embed?.lateChunking ?? false,
        multivector: outputs.includes('tokens'),
        sparse: outputs.includes('sparse'),
      };
    }
  }
}

/** Media that the model accepts directly, without conversion. */
function directMediaOf({ runs, kind }: EmbeddingRow): Readonly<Record<'image' | 'audio' | 'video', boolean>> {
  if (runs.on === 'static') return { image: false, audio: false, video: false };
  if (runs.on === 'onnx') {
    return { image: runs.towers?.image !== undefined, audio: runs.towers?.audio !== undefined, video: false };
  }
  const media: readonly string[] = PROTOCOLS[runs.protocol].embed?.media ?? [];
  const takes = (medium: 'image' | 'audio' | 'video') =>
    media.includes(medium) && (MEDIA_KINDS[medium] as readonly EmbeddingKind[]).includes(kind);
  return { image: takes('image'), audio: takes('audio'), video: takes('video') };
}

/** Whether the pages of a PDF are embedded as pictures or as text. A model that does not read images gets the text. */
export const pdfFormOf = (row: EmbeddingRow): 'pictures' | 'text' =>
  row.pdf ?? (directMediaOf(row).image ? 'pictures' : 'text');

/**
 * Media that a request for the model may contain: those that the model accepts directly, and those that can be
 * converted to them (frames of a video, pages of a PDF, transcripts of audio).
 */
export function mediaOf(row: EmbeddingRow): Readonly<Record<Medium, boolean>> {
  const { image, audio, video } = directMediaOf(row);
  const readsMedia = image || audio || video;
  return {
    image,
    pdf: true,
    video: video || image,
    audio: audio || readsMedia || row.pdf === 'text',
  };
}

/**
 * Input modalities for the model list (docs/reference/wire/models.md, Model list): the media that the model accepts on
 * this machine.
 */
export function modalitiesOf(row: EmbeddingRow, kind: EmbeddingKind, means: MediaSupport | undefined): string[] {
  if (!means) return ['text'];
  const senses = directMediaOf(row);
  const isLocal = row.runs.on !== 'remote';
  const takes = mediaOf(row);
  const can = (medium: Medium) => takes[medium] && (MEDIA_KINDS[medium] as readonly EmbeddingKind[]).includes(kind);
  const hears = senses.audio ? !isLocal || means.ffmpeg : means.speech && means.ffmpeg;
  return [
    'text',
    ...(can('image') ? ['image'] : []),
    ...(can('audio') && hears ? ['audio'] : []),
    ...(can('video') && (senses.video || means.ffmpeg) ? ['video'] : []),
    ...(can('pdf') && means.documents ? ['file'] : []),
  ];
}

/** Notes for the model list on how media are converted into vectors. */
export function mediaNotes(row: EmbeddingRow, modalities: readonly string[]): string[] {
  const senses = directMediaOf(row);
  const spaces = new Set(Object.values(row.spaces ?? {}));
  return [
    ...(modalities.includes('audio') && !senses.audio ? ['Audio is embedded as the text of its transcript'] : []),
    ...(modalities.includes('video') && !senses.video ? ['A video is embedded as the mean of its frames'] : []),
    ...(modalities.includes('file') && pdfFormOf(row) === 'text' ? ['PDF pages are embedded as text'] : []),
    ...(spaces.size > 0 ? [`Vectors are only comparable within a space: ${[...spaces].join(', ')}`] : []),
  ];
}
