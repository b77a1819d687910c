/** Embeddings, reranking, chat completions and OCR. */

import type { EmbedRequest, RerankRequest } from '../generated/client-options.ts';
import { isRecord, LecternError, streamInterrupted } from './errors.ts';
import { eventsOf } from './events.ts';
import { dataOf } from './responses.ts';
import { parseEventData, streamFailure } from './stream.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type {
  ChatChunk,
  ChatCompletion,
  ChatPart,
  ChatRequest,
  ChatUsage,
  EmbeddingsAnswer,
  Model,
  RerankAnswer,
} from './types.ts';

/** Models that every server includes. They are used if a request specifies none. */
export const STANDARD_MODELS = {
  embed: 'lectern-static-v2',
  rerank: 'lectern-static-rerank-v2',
  ocr: 'svc-ocr',
} as const;

export interface OcrOptions {
  readonly model?: string | undefined;
  /** The instruction, for models that accept one. */
  readonly prompt?: string | undefined;
  /** `markdown` by default; `json` and `hocr` include word positions. */
  readonly outputFormat?: ChatRequest['output_format'];
  /** Pages of a PDF or TIFF file, such as `1-3,7`; all by default. */
  readonly pages?: string | number | undefined;
}

export interface OcrAnswer {
  readonly text: string;
  readonly usage: ChatUsage;
}

/** A URL, a data URL, or the bytes of an image or PDF file. */
export type Picture = string | Uint8Array | Blob;

export interface ModelCalls {
  embed(request: EmbedRequest, call?: CallOptions): Promise<EmbeddingsAnswer>;
  rerank(request: RerankRequest, call?: CallOptions): Promise<RerankAnswer>;
  models(call?: CallOptions): Promise<readonly Model[]>;
  chat(request: ChatRequest, call?: CallOptions): Promise<ChatCompletion>;
  /** Yields the response while the model generates it. */
  chatStream(request: ChatRequest, call?: CallOptions): AsyncGenerator<ChatChunk>;
  /** Recognizes the text in an image or scanned document. */
  ocr(picture: Picture, options?: OcrOptions, call?: CallOptions): Promise<OcrAnswer>;
}

export function modelCalls({ json, stream }: Transport): ModelCalls {
  const postTo = (path: string, body: object): RequestSpec => ({
    face: 'models',
    method: 'POST',
    path,
    json: body,
    idempotent: true,
  });
  const chatAsk = (request: ChatRequest, streams: boolean) =>
    postTo('/v1/chat/completions', { model: STANDARD_MODELS.ocr, ...request, stream: streams });
  const chat = (request: ChatRequest, call?: CallOptions) => json<ChatCompletion>(chatAsk(request, false), call);

  return {
    embed: (request, call) => json(postTo('/v1/embeddings', { model: STANDARD_MODELS.embed, ...request }), call),
    rerank: (request, call) => json(postTo('/v1/rerank', { model: STANDARD_MODELS.rerank, ...request }), call),
    async models(call) {
      const ask: RequestSpec = { face: 'models', path: '/v1/models', idempotent: true };
      return dataOf(await json<{ data: Model[] }>(ask, call), Array.isArray);
    },
    chat,
    async *chatStream(request, call) {
      const chunks = stream({ ...chatAsk(request, true), accept: 'text/event-stream' }, call);
      for await (const { event, data } of eventsOf(chunks, streamInterrupted)) {
        if (data === '[DONE]') return;
        const chunk = parseEventData<ChatChunk>(event, data);
        if (isRecord((chunk as { error?: unknown }).error)) throw streamFailure(chunk);
        yield chunk;
      }
      throw streamInterrupted();
    },
    async ocr(picture, { model, prompt, outputFormat, pages } = {}, call) {
      const part = await pictureAsPart(picture, pages);
      const request: ChatRequest = {
        ...(model && { model }),
        messages: [{ role: 'user', content: prompt ? [{ type: 'text', text: prompt }, part] : [part] }],
        ...(outputFormat && { output_format: outputFormat }),
      };
      const { choices, usage } = await chat(request, call);
      const [first] = choices;
      if (!first) throw new LecternError({ message: 'The model returned no response', code: 'BAD_ANSWER' });
      return { text: first.message.content, usage };
    },
  };
}

async function pictureAsPart(picture: Picture, pages: OcrOptions['pages']): Promise<ChatPart> {
  const url = typeof picture === 'string' ? picture : await dataUrl(picture);
  return { type: 'image_url', image_url: { url, ...(pages !== undefined && { pages }) } };
}

async function dataUrl(picture: Uint8Array | Blob): Promise<string> {
  const bytes = picture instanceof Blob ? new Uint8Array(await picture.arrayBuffer()) : picture;
  const isPdf = String.fromCharCode(...bytes.subarray(0, 5)) === '%PDF-';
  const type = isPdf ? 'application/pdf' : (picture instanceof Blob && picture.type) || 'image/png';
  return `data:${type};base64,${base64Of(bytes)}`;
}

/**
 * Within the limit on arguments of `String.fromCharCode`, and a multiple of 3, so that the base64 parts can be
 * concatenated.
 */
const PIECE_BYTES = 24_576;

function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))));
  }
  return pieces.join('');
}
