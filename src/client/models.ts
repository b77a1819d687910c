/** Vectors, rankings, and models that look at pictures. */

import type { EmbedRequest, RerankRequest } from '../generated/client-options.ts';
import { isRecord, LecternError, streamCut } from './errors.ts';
import { eventsOf } from './events.ts';
import { parseEventData, streamFailure } from './stream.ts';
import { type CallOptions, dataOf, type RequestSpec, type Transport } from './transport.ts';
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

/** Models that every server has built in; asked for when a request names none. */
export const STANDARD_MODELS = {
  embed: 'lectern-static-v1',
  rerank: 'lectern-static-rerank-v1',
  ocr: 'svc-ocr',
} as const;

export interface OcrOptions {
  readonly model?: string | undefined;
  /** For models that take an instruction. */
  readonly prompt?: string | undefined;
  /** `markdown` when not given; `json` and `hocr` say where each word stands. */
  readonly outputFormat?: ChatRequest['output_format'];
  /** Of a PDF or TIFF file: `1-3,7`. All when not given. */
  readonly pages?: string | number | undefined;
}

export interface OcrAnswer {
  readonly text: string;
  readonly usage: ChatUsage;
}

/** An address, a data URL, or the bytes of a picture or of a PDF file. */
export type Picture = string | Uint8Array | Blob;

export interface ModelCalls {
  embed(request: EmbedRequest, call?: CallOptions): Promise<EmbeddingsAnswer>;
  rerank(request: RerankRequest, call?: CallOptions): Promise<RerankAnswer>;
  models(call?: CallOptions): Promise<readonly Model[]>;
  chat(request: ChatRequest, call?: CallOptions): Promise<ChatCompletion>;
  /** What the model writes, as it writes it. */
  chatStream(request: ChatRequest, call?: CallOptions): AsyncGenerator<ChatChunk>;
  /** The text of a picture or of a scanned document. */
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
      for await (const { event, data } of eventsOf(chunks, streamCut)) {
        if (data === '[DONE]') return;
        const chunk = parseEventData<ChatChunk>(event, data);
        if (isRecord((chunk as { error?: unknown }).error)) throw streamFailure(chunk);
        yield chunk;
      }
      throw streamCut();
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
      if (!first) throw new LecternError({ message: 'The model answered nothing', code: 'BAD_ANSWER' });
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

/** Bytes that one call of `String.fromCharCode` takes anywhere; a multiple of 3, so that pieces can be joined. */
const PIECE_BYTES = 24_576;

function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))));
  }
  return pieces.join('');
}
