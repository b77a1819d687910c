/**
 * The response of the embeddings endpoint (docs/reference/wire/models.md, Embedding answers). It is written in chunks,
 * because thousands of vectors amount to many megabytes.
 */
import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Embeddings, type EmbedRequest, finishVector, rowsOf, vectorAsJson } from '#models/index.ts';
import type { TraceJson } from '#telemetry/trace.ts';

/** Size of a chunk. Other requests can be processed between two chunks. */
const CHUNK_CHARACTERS = 256 * 1024;

interface Answered {
  /** The model id from the request, without the organization. */
  readonly model: string;
  readonly request: EmbedRequest;
  readonly embeddings: Embeddings;
  readonly trace?: TraceJson | undefined;
}

/** Returns a string for a small response, and a stream for a large one. */
export async function embeddingsAnswer(answered: Answered): Promise<string | Readable> {
  const pieces = jsonPieces(answered);
  const first = pieces.next();
  const second = pieces.next();
  if (second.done) return first.value ?? '';
  async function* all() {
    yield first.value as string;
    yield second.value as string;
    for (const piece of pieces) {
      await yieldToEventLoop();
      yield piece;
    }
  }
  return Readable.from(all(), { objectMode: false });
}

function* jsonPieces({
  model,
  request,
  embeddings: { outputs, tokens, imageTokens },
  trace,
}: Answered): Generator<string, undefined> {
  const usage =
    request.output === 'sparse'
      ? { input_tokens: tokens, output_tokens: 0, total_tokens: tokens }
      : {
          total_tokens: tokens,
          prompt_tokens: tokens,
          ...(imageTokens !== undefined && { image_tokens: imageTokens }),
        };
  let piece = `{"model":${JSON.stringify(model)},"object":"list","usage":${JSON.stringify(usage)},"data":[`;
  for (const [index, output] of outputs.entries()) {
    if (index) piece += ',';
    if (request.output === 'sparse') {
      piece += `{"object":"embedding","index":${index},"embedding":${JSON.stringify(output.weights)}}`;
    } else if (request.output === 'pooled') {
      piece += `{"object":"embedding","index":${index},"embedding":${asJson(output.values, request)}}`;
    } else {
      const tokenized = request.withTokens ? `,"tokenized_input":${JSON.stringify(output.pieces)}` : '';
      piece += `{"object":"embeddings","index":${index},"embeddings":[${rowsOf(output)
        .map((row) => asJson(row, request))
        .join(',')}]${tokenized}}`;
    }
    if (piece.length > CHUNK_CHARACTERS) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}]${trace ? `,"trace":${JSON.stringify(trace)}` : ''}}`;
  return undefined;
}

const asJson = (values: Float32Array, request: EmbedRequest): string =>
  vectorAsJson(finishVector(values, request), request.types);
