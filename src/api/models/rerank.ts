/** `POST /v1/rerank`, and the same endpoint in the formats of other APIs: `/v2/rerank` (Cohere) and `/rerank` (TEI). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import {
  isEmbedding,
  type Ranked,
  type RerankRequest,
  readRerankRequest,
  rerank,
  type ServedReranker,
} from '#models/index.ts';
import type { FieldError } from '../envelopes/model.ts';
import { bodyOf, givenModel, type ModelBody, modelOf } from './body.ts';
import { callOf, keyedRoute, type ModelEndpointOptions } from './endpoint.ts';

export function rerankRoutes(face: Face, deps: ModelEndpointOptions): void {
  keyedRoute(face, '/v1/rerank', 'rerank', deps, async (request, reply) => {
    const body = bodyOf(request);
    return answerRanking(request, reply, deps, {
      body,
      model: await deps.registry.reranker(modelOf(body)),
      rerankRequest: readRerankRequest(body, { returnDocuments: true }),
      write: defaultFormat,
    });
  });
  keyedRoute(face, '/v2/rerank', 'rerank', deps, async (request, reply) => {
    const body = bodyOf(request);
    return answerRanking(request, reply, deps, {
      body,
      model: await deps.registry.reranker(modelOf(body)),
      rerankRequest: readRerankRequest(body, { returnDocuments: false }),
      write: cohereFormat,
    });
  });
  // TEI clients send `texts` and may omit the model, because a TEI server has only one. Other servers expect the format
  // of `/v1/rerank` at this path.
  keyedRoute(face, '/rerank', 'rerank', deps, async (request, reply) => {
    const body = bodyOf(request);
    const tei = body.texts !== undefined;
    const model = givenModel(body);
    return answerRanking(request, reply, deps, {
      body,
      model: model === undefined && tei ? await defaultReranker(deps) : await deps.registry.reranker(modelOf(body)),
      rerankRequest: readRerankRequest(body, { returnDocuments: !tei }),
      write: tei ? teiFormat : defaultFormat,
    });
  });
}

interface RankingTask {
  readonly model: ServedReranker;
  readonly rerankRequest: RerankRequest;
  readonly write: (result: RankingResult) => unknown;
  readonly body: ModelBody;
}

interface RankingResult {
  /** The model id from the request, without the organization. */
  readonly model: string;
  readonly rerankRequest: RerankRequest;
  readonly results: readonly Ranked[];
  readonly tokens: number;
  readonly requestId: string;
}

async function answerRanking(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ModelEndpointOptions,
  { model: { name, row }, rerankRequest, write, body }: RankingTask,
) {
  const call = callOf(request, reply, deps, body);
  request.body = undefined;
  const { results, tokens, isBlind } = await rerank(deps.models, row, rerankRequest, call);
  if (isBlind) throw emptyQuery(rerankRequest.query);
  deps.accessHooks.admissionOf(request).recordCost({ tokens, model: row.id });
  call.trace?.count('tokens', tokens);
  const trace = deps.tracing.show(request, reply);
  const answer = write({ model: name, rerankRequest, results, tokens, requestId: request.id });
  const whole = trace && !Array.isArray(answer) ? { ...(answer as object), trace } : answer;
  reply.header('x-served-model', row.id);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(whole));
}

/** The problem if the model finds no token to match in the query. */
export function emptyQuery(query: string) {
  const message = 'contains no words that this model can match';
  const error: FieldError = { field: 'body -> query', message, type: 'value_error', input: query };
  return problem('ParamValidationError', { path: 'query', message: `query ${message}`, errors: [error] });
}

const defaultFormat = ({ model, rerankRequest, results, tokens }: RankingResult) => ({
  model,
  object: 'list',
  usage: { total_tokens: tokens },
  results: results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(rerankRequest.returnDocuments && { document: rerankRequest.documents[index] }),
  })),
});

const cohereFormat = (result: RankingResult) => ({
  id: result.requestId,
  results: defaultFormat(result).results,
  meta: { api_version: { version: '2' }, billed_units: { search_units: 1 }, tokens: { input_tokens: result.tokens } },
});

const teiFormat = ({ rerankRequest, results }: RankingResult) =>
  results.map(({ index, score }) => ({
    index,
    score,
    ...(rerankRequest.returnDocuments && { text: rerankRequest.texts[index] }),
  }));

/** A reranker that is already loaded, else the first one. */
async function defaultReranker({ registry, models }: ModelEndpointOptions): Promise<ServedReranker> {
  const rerankers = (await registry.list()).filter((model): model is ServedReranker => !isEmbedding(model));
  const chosen = rerankers.find(({ row }) => models.residence(row) === 'loaded') ?? rerankers[0];
  if (!chosen) throw problem('ModelNotFoundError', { message: 'No reranking model is available for /rerank' });
  return chosen;
}
