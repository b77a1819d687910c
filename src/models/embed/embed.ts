/** Embeds a validated request: prepares its inputs and runs them through the model's queue. */
import { problem } from '#errors.ts';
import { traceStep } from '#telemetry/trace.ts';
import type { Embedder, Output, Prepared } from '../backend.ts';
import { createFaults } from '../inputs/faults.ts';
import { pdfFormOf } from '../registry/capabilities.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import type { EmbedLane, ModelRuntime, RequestContext } from '../registry/model-runtime.ts';
import {
  charactersOf,
  type DecodedInputs,
  isAllText,
  type MediaTools,
  mediaUnsupported,
  prepareInputs,
  textsOf,
  type VectorParts,
} from './media.ts';
import type { EmbedRequest } from './request.ts';
import { isZero, normalize } from './vectors.ts';

export interface Embeddings {
  /** One output per input (per page for a PDF), in order, before truncation and normalization. */
  readonly outputs: readonly Output[];
  /** Number of processed tokens, including prefixes, special tokens and image patches. */
  readonly tokens: number;
  /** Number of tokens for images; absent if there were none. */
  readonly imageTokens?: number | undefined;
}

/**
 * Throws TokenLimitExceededError if a text is too long and `truncate` is off, and ParamValidationError for inputs that
 * the model does not support or media that cannot be loaded.
 */
export async function embed(
  models: ModelRuntime,
  row: EmbeddingRow,
  request: EmbedRequest,
  { caller, background, signal, admit, trace }: RequestContext,
): Promise<Embeddings> {
  return models.withEmbedder(
    row,
    { characters: charactersOf(request), signal, trace },
    async ({ backend, queue }, within, hold) => {
      const preparing = () => prepare(backend, row, request, { models, signal: within, hold });
      const prepared = await traceStep('tokenize', trace, preparing);
      const { texts, media } = prepared;
      if (!request.truncate) refuseTooLong(prepared, row, request);
      const items = [...texts, ...media];
      await admit(tokensOf(items));
      const { output, dimensions } = request;
      const lane: EmbedLane = { key: `${output} ${dimensions}`, output, dimensions };
      const outputs = await queue.run({ items, lane, caller, background, signal: within, trace });
      trace?.count('inputs', items.length);
      const tokens = items.map((item, index) => outputs[index]!.tokens ?? item.tokens);
      const imageTokens = prepared.images.reduce((sum, at) => sum + tokens[texts.length + at]!, 0);
      return {
        outputs: gathered(outputs, prepared, request),
        tokens: tokens.reduce((sum, count) => sum + count, 0),
        ...(prepared.images.length > 0 && { imageTokens }),
      };
    },
  );
}

const hasOtherMedia = ({ inputs }: EmbedRequest): boolean =>
  inputs.some(({ parts }) => parts.some(({ medium }) => medium !== 'text' && medium !== 'pdf'));

interface PreparedInputs {
  readonly texts: readonly Prepared[];
  readonly media: readonly Prepared[];
  /** Positions of the images in `media`. */
  readonly images: readonly number[];
  /** Undefined if each text has its own vector. */
  readonly vectors: readonly VectorParts[] | undefined;
}

async function prepare(
  backend: Embedder,
  row: EmbeddingRow,
  request: EmbedRequest,
  { models, signal, hold }: { models: ModelRuntime } & Pick<MediaTools, 'signal' | 'hold'>,
): Promise<PreparedInputs> {
  const none = { media: [], images: [], vectors: undefined };
  if (isAllText(request))
    return { ...none, texts: await prepareTexts(backend, row, request, textsOf(request), signal) };
  const formats = await backend.media?.();
  if (!formats && (pdfFormOf(row) !== 'text' || hasOtherMedia(request))) throw mediaUnsupported();
  const ready: DecodedInputs = await prepareInputs(request, {
    reader: models.media,
    formats: formats ?? {},
    row,
    signal,
    hold,
  });
  const texts = await prepareTexts(backend, row, request, ready.texts, signal);
  const media = ready.media.length ? await backend.prepareMedia!(ready.media, { task: request.task, signal }) : [];
  const images = ready.media.flatMap(({ medium }, at) => (medium === 'image' ? [at] : []));
  return { texts, media, images, vectors: ready.vectors };
}

async function prepareTexts(
  backend: Embedder,
  row: EmbeddingRow,
  { prefix, task, side, truncate, lateChunking }: EmbedRequest,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Prepared[]> {
  // ColBERT models have no tasks; the side decides which marker a text gets.
  const purpose = task ?? (row.kind === 'colbert' ? side : undefined);
  const options = { signal, task: purpose, ...(truncate && { maxTokens: row.contextTokens }) };
  if (lateChunking && texts.length > 1) {
    if (!backend.prepareChunks) {
      const message = 'late_chunking is not supported by this model';
      const fault = {
        field: 'body -> late_chunking',
        message: 'is not supported by this model',
        type: 'value_error',
        input: true,
      };
      throw problem('ParamValidationError', { path: 'late_chunking', message, errors: [fault] });
    }
    return backend.prepareChunks(prefix, texts, options);
  }
  if (!texts.length) return [];
  return backend.prepare(prefix ? texts.map((text) => prefix + text) : texts, options);
}

/** Remote models are exempt: their tokens are only estimated here, and their server checks the limit. */
function refuseTooLong(
  { texts, vectors }: PreparedInputs,
  { contextTokens, runs }: EmbeddingRow,
  { lateChunking }: EmbedRequest,
) {
  if (runs.on === 'remote') return;
  const at = texts.findIndex(({ fullTokens }) => fullTokens > contextTokens);
  if (at < 0) return;
  const { fullTokens } = texts[at]!;
  const index = vectors ? vectors.findIndex((vector) => vector.texts.includes(at)) : at;
  const where = lateChunking && texts.length === 1 ? 'the inputs together have' : `input ${index} has`;
  throw problem('TokenLimitExceededError', {
    message: `Input text exceeds the model maximum of ${contextTokens} tokens: ${where} ${fullTokens}`,
  });
}

export const tokensOf = (prepared: readonly Prepared[]): number =>
  prepared.reduce((sum, { tokens }) => sum + tokens, 0);

function gathered(outputs: readonly Output[], { texts, vectors }: PreparedInputs, request: EmbedRequest) {
  if (!vectors) return request.lateChunking ? outputs.flatMap(apart) : outputs;
  return vectors.map((vector) => {
    const own = [...vector.texts.map((at) => outputs[at]!), ...vector.media.map((at) => outputs[texts.length + at]!)];
    return vector.isPooled ? meanOf(own) : own[0]!;
  });
}

/** Mean of the normalized vectors, so that each part has the same weight. */
function meanOf(outputs: readonly Output[]): Output {
  const sums = new Float64Array(outputs[0]!.values.length);
  for (const { values } of outputs) {
    const direction = normalize(values);
    for (let at = 0; at < sums.length; at++) sums[at] = sums[at]! + direction[at]!;
  }
  return { values: Float32Array.from(sums, (sum) => sum / outputs.length), rows: 1 };
}

/**
 * Throws ParamValidationError for inputs that would get a zero vector because the model recognized nothing in them.
 * The empty text may have a zero vector. Multi-vector and sparse output may be empty.
 */
export function refuseZeros({ outputs }: Embeddings, { output, dimensions, inputs }: EmbedRequest): void {
  if (output !== 'pooled') return;
  const isPdf = inputs[0]?.parts[0]?.medium === 'pdf';
  const faults = createFaults();
  for (const [index, { values }] of outputs.entries()) {
    if (!isZero(values.subarray(0, dimensions))) continue;
    // A page of a PDF may be blank.
    if (isPdf && outputs.some((output) => !isZero(output.values))) continue;
    const input = outputs.length === inputs.length ? inputs[index]! : undefined;
    if (input && isEmptyText(input)) continue;
    const at = input ? ['input', index] : ['input'];
    faults.add(at, 'value_error', 'contains nothing that this model knows: its vector would be zero');
  }
  faults.check();
}

const isEmptyText = ({ parts }: EmbedRequest['inputs'][number]): boolean =>
  parts.every((part) => part.medium === 'text' && part.text === '');

const apart = (output: Output): Output[] => rowsOf(output).map((values) => ({ values, rows: 1 }));

/** Splits an output into one vector per row. */
export function rowsOf({ values, rows }: Output): Float32Array[] {
  const size = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.subarray(row * size, (row + 1) * size));
}
