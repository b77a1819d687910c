/**
 * Sends the requests of an embedding model to its server. Requests rejected as too large are split, and their texts
 * shortened.
 */
import type { EmbedOptions, Output } from '../backend.ts';
import type { EmbeddingRow } from '../registry/catalogue.ts';
import { bytesOf, inOrder, joined, outputOf, tokensOf } from './answers.ts';
import type { Protocol, RemoteEmbedRequest, RemoteMedium } from './protocol.ts';
import { type RemoteTools, type Server, tooLong } from './server.ts';
import { SPECIAL_TOKENS } from './token-counts.ts';
import { RequestRefusedError } from './transport.ts';

/** Payload of a prepared input: one text, the chunks of one text, or a file. */
export interface Payload {
  readonly texts: readonly string[];
  readonly task: string | undefined;
  /** Whether the server truncates the text. */
  readonly truncate: boolean;
  /** Limit for truncation. If unset, a text that is too long is rejected. */
  readonly maxTokens: number | undefined;
  readonly lateChunking: boolean;
  /** Set for media, instead of texts. */
  readonly media?: { readonly medium: RemoteMedium; readonly uri: string } | undefined;
}

/** One input of a batch. */
export interface Item {
  readonly payload: Payload;
  readonly tokens: number;
  /** Position in the batch. */
  readonly at: number;
}

/** Factor by which a text is shortened per attempt if the server counts more tokens than estimated. */
const SHORTEN_SHARE = 0.75;
const MAX_SHORTENINGS = 6;

export interface EmbedSenderOptions {
  readonly row: EmbeddingRow;
  /** Name of the model on the server. */
  readonly model: string;
  readonly embedProtocol: NonNullable<Protocol['embed']>;
  readonly transport: Server['transport'];
  readonly tokens: RemoteTools['tokens'];
}

/** Returns one output per item, in order. All items of a request have the same task, truncation and medium. */
export type SendItems = (items: readonly Item[], options: EmbedOptions) => Promise<Output[]>;

export function createEmbedSender({ row, model, embedProtocol, transport, tokens }: EmbedSenderOptions): SendItems {
  const { contextTokens } = row;
  /** Undefined until a response has shown whether the server supports base64. */
  let takesBase64: boolean | undefined = embedProtocol.base64 ? undefined : false;

  /** Runs one request, or several smaller ones if the server rejects it as too large. */
  async function sendOrSplit(items: readonly Item[], options: EmbedOptions, shortenings = 0): Promise<Output[]> {
    const base64 = takesBase64 !== false;
    try {
      const outputs = await send(items, options, base64);
      if (base64) takesBase64 = true;
      return outputs;
    } catch (error) {
      if (!(error instanceof RequestRefusedError)) throw error;
      if (error.tooLong) return await sendSmaller(items, options, shortenings);
      if (!base64 || takesBase64 === true || (error.httpStatus !== 400 && error.httpStatus !== 422)) throw error;
      const outputs = await send(items, options, false);
      takesBase64 = false;
      return outputs;
    }
  }

  async function sendSmaller(items: readonly Item[], options: EmbedOptions, shortenings: number): Promise<Output[]> {
    if (items.length > 1) {
      const half = Math.ceil(items.length / 2);
      return [
        ...(await sendOrSplit(items.slice(0, half), options, shortenings)),
        ...(await sendOrSplit(items.slice(half), options, shortenings)),
      ];
    }
    const { payload, at } = items[0]!;
    const { maxTokens, lateChunking, texts } = payload;
    if (maxTokens === undefined || lateChunking || payload.media || shortenings === MAX_SHORTENINGS)
      throw tooLong(contextTokens);
    const maxTextTokens = Math.max(1, Math.floor((maxTokens - SPECIAL_TOKENS) * SHORTEN_SHARE ** (shortenings + 1)));
    const shortened = tokens.keep(texts[0]!, maxTextTokens);
    return await sendOrSplit(
      [{ payload: { ...payload, texts: [shortened] }, tokens: maxTextTokens, at }],
      options,
      shortenings + 1,
    );
  }

  async function send(items: readonly Item[], options: EmbedOptions, base64: boolean): Promise<Output[]> {
    const { task, truncate, lateChunking, media } = items[0]!.payload;
    const { output, dimensions, signal } = options;
    const texts = items.flatMap(({ payload }) => payload.texts);
    const cuts = output === 'pooled' && dimensions < row.dimensions && row.matryoshka.includes(dimensions);
    const request: RemoteEmbedRequest = {
      model,
      kind: row.kind,
      texts,
      ...(media && { media: { medium: media.medium, uris: items.map(({ payload }) => payload.media!.uri) } }),
      task,
      truncate,
      lateChunking,
      output,
      base64,
      ...(cuts && { dimensions }),
    };
    const inputs = media ? items.length : texts.length;
    const maxBytes = bytesOf(items, inputs, output, row.dimensions);
    const answer = embedProtocol.parse(await transport.send(embedProtocol.request(request), { signal, maxBytes }));
    const sizes = cuts ? [dimensions, row.dimensions] : [row.dimensions];
    const rows = inOrder(answer.rows, inputs);
    if (lateChunking) return [joined(rows, sizes, answer.tokens)];
    const counts = tokensOf(answer, items);
    return rows.map((found, index) => outputOf(found, output, sizes, counts?.[index]));
  }

  return (items, options) => sendOrSplit(items, options);
}
