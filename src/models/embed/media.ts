/**
 * Prepares the inputs of a request: loads and decodes media, and reports all faults at once, each with its path in the
 * request.
 */

import { mapConcurrently } from '#concurrency/map-concurrently.ts';
import { problem } from '#errors.ts';
import type { MediaFormats, ReadyMedium } from '../backend.ts';
import { createFaults, type Faults } from '../inputs/faults.ts';
import type { InputPart } from '../inputs/inputs.ts';
import { MediaError } from '../media/load.ts';
import type { MediaReader, Piece } from '../media/reader.ts';
import type { MemoryShare } from '../queue/admission.ts';
import { pdfFormOf } from '../registry/capabilities.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import type { EmbedRequest } from './request.ts';

/** The texts and media that form one vector, as positions in the request. */
export interface VectorParts {
  readonly texts: readonly number[];
  readonly media: readonly number[];
  /** True if the vector is a mean, even of a single part. */
  readonly isPooled: boolean;
}

export interface DecodedInputs {
  /** One per vector of the response, in order. */
  readonly vectors: readonly VectorParts[];
  readonly texts: readonly string[];
  readonly media: readonly ReadyMedium[];
}

export interface MediaTools {
  readonly reader: MediaReader | undefined;
  /** The formats that the model expects. */
  readonly formats: MediaFormats;
  readonly row: EmbeddingRow;
  readonly signal: AbortSignal;
  readonly hold: MemoryShare['hold'];
}

/** Number of media of one request that are loaded and decoded concurrently. */
const AT_ONCE = 4;

export const isAllText = ({ inputs }: EmbedRequest): boolean =>
  inputs.every(({ parts, isContent }) => !isContent && parts.every(({ medium }) => medium === 'text'));

/** The texts of a request without media. */
export const textsOf = ({ inputs }: EmbedRequest): string[] =>
  inputs.flatMap(({ parts }) => parts.flatMap((part) => (part.medium === 'text' ? [part.text] : [])));

/** Size of the request's inputs in characters. */
export const charactersOf = ({ inputs }: EmbedRequest): number =>
  inputs.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + givenIn(part).length, 0), 0);

const givenIn = (part: InputPart): string => (part.medium === 'text' ? part.text : part.value);

/** Throws ParamValidationError with a media_error for each medium that cannot be loaded. */
export async function prepareInputs({ inputs }: EmbedRequest, tools: MediaTools): Promise<DecodedInputs> {
  const faults = createFaults();
  const parts = inputs.flatMap((input) => input.parts);
  const lists = await mapConcurrently(parts, { atOnce: AT_ONCE, signal: tools.signal }, (part, signal) =>
    piecesOf(part, { ...tools, signal }, faults),
  );
  faults.check();
  const texts: string[] = [];
  const media: ReadyMedium[] = [];
  const vectorOf = (pieces: readonly Piece[], isPooled: boolean): VectorParts => {
    const vector = { texts: [] as number[], media: [] as number[], isPooled };
    for (const piece of pieces) {
      if (piece.medium === 'text') vector.texts.push(texts.push(piece.text) - 1);
      else vector.media.push(media.push(piece) - 1);
    }
    return vector;
  };
  let at = 0;
  const vectors = inputs.flatMap(({ parts: own, isContent }) => {
    const found = lists.slice(at, at + own.length);
    at += own.length;
    if (isContent) return [vectorOf(found.flat(2), true)];
    return found.flat().map((pieces) => vectorOf(pieces, pieces.length > 1));
  });
  return { vectors, texts, media };
}

/** One list of pieces per vector; empty if there is a fault. */
async function piecesOf(part: InputPart, tools: MediaTools, faults: Faults): Promise<Piece[][]> {
  if (part.medium === 'text') return [[part]];
  const { reader, formats, row, signal, hold } = tools;
  try {
    if (!reader) throw new MediaError('cannot be read on this server');
    const pdf = pdfFormOf(row);
    if (part.per === 'document' && pdf === 'pictures' && row.kind === 'colbert')
      throw new MediaError('has one list of vectors for each page with this model: send it with `per: page`');
    const pieces = await reader.read(part.medium, part.value, { formats, pdf, signal, hold });
    return part.per === 'document' ? [asDocument(pieces.flat())] : pieces;
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    faults.add(part.at, 'media_error', error.message, part.value);
    return [];
  }
}

/** The pages of a PDF as the input of one vector: their texts joined, or their pictures, which are pooled. */
function asDocument(pages: readonly Piece[]): Piece[] {
  const texts = pages.flatMap((page) => (page.medium === 'text' ? [page.text] : []));
  if (texts.length < pages.length) return [...pages];
  return [{ medium: 'text', text: texts.filter((text) => text !== '').join('\n\n') }];
}

/** Reports that the backend does not support media although the model's row declares it. */
export const mediaUnsupported = () =>
  problem('DownstreamServiceFailureError', { message: 'The serving model reads only text' });
