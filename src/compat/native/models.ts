/** Embeds, reranks and tokenizes for dialects, as the model host does. */
import { emptyQuery } from '#api/models/rerank.ts';
import { problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import {
  detokenize,
  type EmbeddingRow,
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
  tokenize,
} from '#models/index.ts';
import { addCost } from './cost.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

export interface Embedded {
  /** The name that the caller asked for. */
  readonly name: string;
  readonly row: EmbeddingRow;
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
  const { name, row, kind } = await parts.modelHost.registry.embedding(modelOf(body));
  return run(call, { name, row, request: readEmbedRequest(body, row, kind) }, parts);
}

/** Embeds with one vector for each token, which are not normalized. */
export async function embedTokensFor(call: NativeCall, body: GivenFields, parts: NativeParts): Promise<Embedded> {
  const { name, row } = await parts.modelHost.registry.embedding(modelOf(body));
  // Models of this kind have one vector for each token, and the others can be used in the same way.
  const request = readEmbedRequest(body, row, 'colbert');
  return run(call, { name, row, request: { ...request, truncate: body.truncate === true, normalized: false } }, parts);
}

async function run(
  call: NativeCall,
  { name, row, request }: Omit<Embedded, 'embeddings'>,
  { modelHost: { models } }: NativeParts,
): Promise<Embedded> {
  const embeddings = await embed(models, row, request, contextOf(call));
  refuseZeros(embeddings, request);
  addCost(call, embeddings.tokens, row.id);
  showModel(call, row);
  return { name, row, request, embeddings };
}

export async function rerankFor(call: NativeCall, body: GivenFields, parts: NativeParts): Promise<Reranked> {
  const { registry, models } = parts.modelHost;
  const { name, row } = await registry.reranker(modelOf(body));
  const request = readRerankRequest(body, { returnDocuments: false });
  const { results, tokens, isBlind } = await rerank(models, row, request, contextOf(call));
  if (isBlind) throw emptyQuery(request.query);
  addCost(call, tokens, row.id);
  showModel(call, row);
  return { name, row, request, results, tokens };
}

export type Tokens = Awaited<ReturnType<typeof tokenize>>;

/** Returns the tokens of texts for any served model. They are free, as they are not run. */
export async function tokenizeFor(
  call: NativeCall,
  { model, texts, special }: { readonly model: string; readonly texts: readonly string[]; readonly special: boolean },
  parts: NativeParts,
): Promise<Tokens> {
  const row = await rowOf(model, parts);
  const tokens = await tokenize(parts.modelHost.models, row, { texts, special }, contextOf(call));
  addCost(call, 0, row.id);
  return tokens;
}

export interface TokenIds {
  readonly model: string;
  readonly lists: readonly (readonly number[])[];
  readonly skipSpecial: boolean;
  /** The field that has the ids, for messages. */
  readonly field: string;
}

/** Returns the texts of token ids. Throws ParamValidationError for ids outside the vocabulary of the model. */
export async function detokenizeFor(
  call: NativeCall,
  { model, lists, skipSpecial, field }: TokenIds,
  parts: NativeParts,
): Promise<string[]> {
  const row = await rowOf(model, parts);
  const texts = await detokenize(parts.modelHost.models, row, { lists, skipSpecial }, contextOf(call));
  addCost(call, 0, row.id);
  return texts.map((text, at) => {
    if (text !== undefined) return text;
    const path = lists.length > 1 ? `${field}.${at}` : field;
    throw problem('ParamValidationError', { path, message: `${path} has an id outside the vocabulary of ${model}` });
  });
}

async function rowOf(model: string, { modelHost: { registry } }: NativeParts): Promise<ModelRow> {
  const found = await registry.find(model);
  return found?.row ?? (await registry.embedding(model)).row;
}

function modelOf({ model }: GivenFields): string {
  if (typeof model === 'string') return model;
  const message = model === undefined || model === null ? 'model is required' : 'model must be a string';
  throw problem('ParamValidationError', { path: 'model', message });
}

const showModel = ({ reply }: NativeCall, row: ModelRow) => void reply.header('x-served-model', row.id);

export const contextOf = ({ request, reply, admission }: NativeCall): RequestContext => ({
  caller: admission.caller.kind === 'key' ? admission.caller.account.id : clientIpOf(request),
  signal: disconnectSignal(reply),
  admit: (tokens) => admission.reserveTokens(tokens),
  trace: undefined,
});
