/** Embedding: a checked request and a model become vectors, through the model's queue. */
import { problem } from '#errors.ts';
import type { Embedder, Output, Prepared } from './backends/backend.ts';
import type { EmbeddingRow } from './catalogue.ts';
import type { EmbedRequest } from './embed-request.ts';
import type { Call, EmbedLane, Opened } from './registry-opened.ts';

export interface Embeddings {
  /** One an input, in their order: neither cut nor normalised yet. */
  readonly outputs: readonly Output[];
  /** Tokens that were run, prefixes and special tokens included. */
  readonly tokens: number;
}

/** TokenLimitExceededError when an input does not fit and is not to be cut; ParamValidationError for what a model cannot. */
export async function embed(
  models: Opened,
  row: EmbeddingRow,
  request: EmbedRequest,
  { caller, patient, signal, admit }: Call,
): Promise<Embeddings> {
  const characters = request.texts.reduce((sum, text) => sum + text.length, 0);
  return models.withEmbedder(row, { characters, signal }, async ({ backend, queue }, within) => {
    const prepared = await prepare(backend, row, request, within);
    if (!request.truncate) refuseTooLong(prepared, row, request);
    await admit(tokensOf(prepared));
    const { output, dimensions } = request;
    const lane: EmbedLane = { key: `${output} ${dimensions}`, output, dimensions };
    const outputs = await queue.run({ items: prepared, lane, caller, patient, signal: within });
    const tokens = prepared.reduce((sum, item, index) => sum + (outputs[index]!.tokens ?? item.tokens), 0);
    return { outputs: request.lateChunking ? outputs.flatMap(apart) : outputs, tokens };
  });
}

async function prepare(backend: Embedder, row: EmbeddingRow, request: EmbedRequest, signal: AbortSignal) {
  const { texts, prefix, task, truncate, lateChunking } = request;
  const options = { signal, task, ...(truncate && { maxTokens: row.contextTokens }) };
  if (lateChunking && texts.length > 1) {
    if (!backend.prepareSpans) {
      const message = 'late_chunking cannot be done by this model';
      const fault = {
        field: 'body -> late_chunking',
        message: 'cannot be done by this model',
        type: 'value_error',
        input: true,
      };
      throw problem('ParamValidationError', { path: 'late_chunking', message, errors: [fault] });
    }
    return backend.prepareSpans(prefix, texts, options);
  }
  return backend.prepare(prefix ? texts.map((text) => prefix + text) : texts, options);
}

/** A server elsewhere counts by itself what is only estimated here. */
function refuseTooLong(
  prepared: readonly Prepared[],
  { contextTokens, runs }: EmbeddingRow,
  { lateChunking }: EmbedRequest,
) {
  if (runs.on === 'remote') return;
  const index = prepared.findIndex(({ fullTokens }) => fullTokens > contextTokens);
  if (index < 0) return;
  const { fullTokens } = prepared[index]!;
  const where = lateChunking && prepared.length === 1 ? 'the inputs together have' : `input ${index} has`;
  throw problem('TokenLimitExceededError', {
    message: `Input text exceeds the model maximum of ${contextTokens} tokens: ${where} ${fullTokens}`,
  });
}

export const tokensOf = (prepared: readonly Prepared[]): number =>
  prepared.reduce((sum, { tokens }) => sum + tokens, 0);

const apart = (output: Output): Output[] => rowsOf(output).map((values) => ({ values, rows: 1 }));

/** Each row of an output as a vector of its own. */
export function rowsOf({ values, rows }: Output): Float32Array[] {
  const size = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.subarray(row * size, (row + 1) * size));
}
