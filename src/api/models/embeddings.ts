/** `POST /v1/embeddings`. */
import type { Face } from '#http/server.ts';
import { embed, readEmbedRequest, refuseZeros } from '#models/index.ts';
import { bodyOf, modelOf } from './body.ts';
import { embeddingsAnswer } from './embeddings-answer.ts';
import { callOf, keyedRoute, type ModelEndpointOptions } from './endpoint.ts';

export function embeddingsRoutes(face: Face, deps: ModelEndpointOptions): void {
  keyedRoute(face, '/v1/embeddings', 'embeddings', deps, async (request, reply) => {
    const body = bodyOf(request);
    const call = callOf(request, reply, deps, body);
    const { name, row, kind } = await deps.registry.embedding(modelOf(body));
    const embedRequest = readEmbedRequest(body, row, kind);
    // Frees the memory of the body, which would otherwise be held until the response is sent.
    request.body = undefined;
    const embeddings = await embed(deps.models, row, embedRequest, call);
    refuseZeros(embeddings, embedRequest);
    deps.accessHooks.admissionOf(request).recordCost({ tokens: embeddings.tokens, model: row.id });
    call.trace?.count('tokens', embeddings.tokens);
    const trace = deps.tracing.show(request, reply);
    const answer = await embeddingsAnswer({ model: name, request: embedRequest, embeddings, trace });
    reply.header('x-served-model', row.id);
    return reply.type('application/json; charset=utf-8').send(answer);
  });
}
