/** Embeds and reranks for dialects, as the model host does. */
import { modelOf } from '#api/models/body.ts';
import { emptyQuery } from '#api/models/rerank.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import {
  type Embeddings,
  type EmbedRequest,
  embed,
  type ModelRow,
  type Ranked,
  type RequestContext,
  type RerankRequest,
  readEmbedRequest,
  readRerankRequest,
  refuseZeros,
  rerank,
} from '#models/index.ts';
import { addCost } from './cost.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

export interface Embedded {
  /** The name that the caller asked for. */
  readonly name: string;
  readonly row: ModelRow;
  readonly request: EmbedRequest;
  readonly embeddings: Embeddings;
}

export interface Reranked {
  readonly name: string;
  readonly row: ModelRow;
  readonly request: RerankRequest;
  /** Best first. */
  readonly results: readonly Ranked[];
  readonly tokens: number;
}

export async function embedFor(call: NativeCall, body: GivenFields, parts: NativeParts): Promise<Embedded> {
  const { registry, models } = parts.modelHost;
  const { name, row, kind } = await registry.embedding(modelOf(body));
  const request = readEmbedRequest(body, row, kind);
  const embeddings = await embed(models, row, request, contextOf(call));
  refuseZeros(embeddings, request);
  addCost(call, embeddings.tokens, row.id);
  return { name, row, request, embeddings };
}

export async function rerankFor(call: NativeCall, body: GivenFields, parts: NativeParts): Promise<Reranked> {
  const { registry, models } = parts.modelHost;
  const { name, row } = await registry.reranker(modelOf(body));
  const request = readRerankRequest(body, { returnDocuments: false });
  const { results, tokens, isBlind } = await rerank(models, row, request, contextOf(call));
  if (isBlind) throw emptyQuery(request.query);
  addCost(call, tokens, row.id);
  return { name, row, request, results, tokens };
}

const contextOf = ({ request, reply, admission }: NativeCall): RequestContext => ({
  caller: admission.caller.kind === 'key' ? admission.caller.account.id : clientIpOf(request),
  signal: disconnectSignal(reply),
  admit: (tokens) => admission.reserveTokens(tokens),
  trace: undefined,
});
