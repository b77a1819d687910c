/** Inputs of a request made ready: media are brought and opened, all that is wrong with them told at once, each in its place. */
import { problem } from '#errors.ts';
import type { MediaNeeds, ReadyMedium } from '../backends/backend.ts';
import { createFaults, type Faults } from '../inputs/faults.ts';
import type { InputPart } from '../inputs/inputs.ts';
import { eachOf } from '../media/each.ts';
import type { MediaReader, Piece } from '../media/reader.ts';
import { MediaError } from '../media/value.ts';
import type { Share } from '../queue/intake.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import type { EmbedRequest } from './request.ts';

/** What makes one vector: positions among the texts and media of the request. */
export interface Sheaf {
  readonly texts: readonly number[];
  readonly media: readonly number[];
  /** Whether the vector is a mean, even of one. */
  readonly isPooled: boolean;
}

export interface ReadyInputs {
  /** One a vector of the answer, in order. */
  readonly sheaves: readonly Sheaf[];
  readonly texts: readonly string[];
  readonly media: readonly ReadyMedium[];
}

export interface MediaTools {
  readonly reader: MediaReader | undefined;
  /** What the model wants. */
  readonly needs: MediaNeeds;
  readonly row: EmbeddingRow;
  readonly signal: AbortSignal;
  readonly hold: Share['hold'];
}

/** Pictures and clips of one request that are brought and opened at once. */
const AT_ONCE = 4;

export const isAllText = ({ inputs }: EmbedRequest): boolean =>
  inputs.every(({ parts, isContent }) => !isContent && parts.every(({ medium }) => medium === 'text'));

/** Of a request without media. */
export const textsOf = ({ inputs }: EmbedRequest): string[] =>
  inputs.flatMap(({ parts }) => parts.flatMap((part) => (part.medium === 'text' ? [part.text] : [])));

/** How much a request has sent, in characters. */
export const sizeOf = ({ inputs }: EmbedRequest): number =>
  inputs.reduce((sum, { parts }) => sum + parts.reduce((all, part) => all + givenIn(part).length, 0), 0);

const givenIn = (part: InputPart): string => (part.medium === 'text' ? part.text : part.value);

/** Throws ParamValidationError with a media_error for each that cannot be had. */
export async function readyInputs({ inputs }: EmbedRequest, tools: MediaTools): Promise<ReadyInputs> {
  const faults = createFaults();
  const parts = inputs.flatMap((input) => input.parts);
  const lists = await eachOf(parts, { atOnce: AT_ONCE, signal: tools.signal }, (part, signal) =>
    piecesOf(part, { ...tools, signal }, faults),
  );
  faults.check();
  const texts: string[] = [];
  const media: ReadyMedium[] = [];
  const sheafOf = (pieces: readonly Piece[], isPooled: boolean): Sheaf => {
    const sheaf = { texts: [] as number[], media: [] as number[], isPooled };
    for (const piece of pieces) {
      if (piece.medium === 'text') sheaf.texts.push(texts.push(piece.text) - 1);
      else sheaf.media.push(media.push(piece) - 1);
    }
    return sheaf;
  };
  let at = 0;
  const sheaves = inputs.flatMap(({ parts: own, isContent }) => {
    const found = lists.slice(at, at + own.length);
    at += own.length;
    if (isContent) return [sheafOf(found.flat(2), true)];
    return found.flat().map((pieces) => sheafOf(pieces, pieces.length > 1));
  });
  return { sheaves, texts, media };
}

/** A list a vector; none where there is a fault. */
async function piecesOf(part: InputPart, tools: MediaTools, faults: Faults): Promise<Piece[][]> {
  if (part.medium === 'text') return [[part]];
  const { reader, needs, row, signal, hold } = tools;
  try {
    if (!reader) throw new MediaError('cannot be read on this server');
    return await reader.read(part.medium, part.value, { needs, pdf: row.pdf ?? 'pictures', signal, hold });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    faults.add(part.at, 'media_error', error.message, part.value);
    return [];
  }
}

/** Backends without media get none: what their row promises is not so. */
export const noMedia = () =>
  problem('DownstreamServiceFailureError', { message: 'The model that serves reads nothing but text' });
