/** `POST /v1/rerank`, and the same in the formats of other APIs: `/v2/rerank` (Cohere) and `/rerank` (TEI). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import {
  isEmbedding,
  type Ranked,
  type RerankRequest,
  type RerankRow,
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
    return ranked(request, reply, deps, {
      body,
      row: (await deps.registry.reranker(modelOf(body))).row,
      asked: readRerankRequest(body, { returnDocuments: true }),
      write: ownShape,
    });
  });
  keyedRoute(face, '/v2/rerank', 'rerank', deps, async (request, reply) => {
    const body = bodyOf(request);
    return ranked(request, reply, deps, {
      body,
      row: (await deps.registry.reranker(modelOf(body))).row,
      asked: readRerankRequest(body, { returnDocuments: false }),
      write: cohereShape,
    });
  });
  // TEI sends `texts` and may omit the model, as it serves one. Some servers offer the format of `/v1/rerank` here.
  keyedRoute(face, '/rerank', 'rerank', deps, async (request, reply) => {
    const body = bodyOf(request);
    const tei = body.texts !== undefined;
    const model = givenModel(body);
    return ranked(request, reply, deps, {
      body,
      row: model === undefined && tei ? await defaultReranker(deps) : (await deps.registry.reranker(modelOf(body))).row,
      asked: readRerankRequest(body, { returnDocuments: !tei }),
      write: tei ? teiShape : ownShape,
    });
  });
}

interface Ranking {
  readonly row: RerankRow;
  readonly asked: RerankRequest;
  readonly write: (done: Done) => unknown;
  readonly body: ModelBody;
}

interface Done {
  readonly model: string;
  readonly asked: RerankRequest;
  readonly results: readonly Ranked[];
  readonly tokens: number;
  readonly requestId: string;
}

async function ranked(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ModelEndpointOptions,
  { row, asked, write, body }: Ranking,
) {
  const call = callOf(request, reply, deps, body);
  request.body = undefined;
  const { results, tokens, isBlind } = await rerank(deps.models, row, asked, call);
  if (isBlind) throw emptyQuery(asked.query);
  deps.gatekeeper.admissionOf(request).recordCost({ tokens, model: row.id });
  call.trace?.count('tokens', tokens);
  const trace = deps.tracing.show(request, reply);
  const answer = write({ model: row.id, asked, results, tokens, requestId: request.id });
  const whole = trace && !Array.isArray(answer) ? { ...(answer as object), trace } : answer;
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(whole));
}

/** The problem of a query in which the model finds no token to match. */
function emptyQuery(query: string) {
  const message = 'contains no words that this model can match';
  const error: FieldError = { field: 'body -> query', message, type: 'value_error', input: query };
  return problem('ParamValidationError', { path: 'query', message: `query ${message}`, errors: [error] });
}

const ownShape = ({ model, asked, results, tokens }: Done) => ({
  model,
  object: 'list',
  usage: { total_tokens: tokens },
  results: results.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(asked.returnDocuments && { document: asked.documents[index] }),
  })),
});

const cohereShape = (done: Done) => ({
  id: done.requestId,
  results: ownShape(done).results,
  meta: { api_version: { version: '2' }, billed_units: { search_units: 1 }, tokens: { input_tokens: done.tokens } },
});

const teiShape = ({ asked, results }: Done) =>
  results.map(({ index, score }) => ({ index, score, ...(asked.returnDocuments && { text: asked.texts[index] }) }));

/** A reranker that is loaded, else the first one. */
async function defaultReranker({ registry, models }: ModelEndpointOptions): Promise<RerankRow> {
  const rows = (await registry.list())
    .filter((model): model is ServedReranker => !isEmbedding(model))
    .map(({ row }) => row);
  const row = rows.find((row) => models.residence(row) === 'loaded') ?? rows[0];
  if (!row) throw problem('ModelNotFoundError', { message: 'No reranking model is available for /rerank' });
  return row;
}
