/** Adds the body parser and all endpoints of the model host. */
import type { Face } from '#http/server.ts';
import { type BatchEndpointOptions, batchRoutes } from '../batch/batch.ts';
import { type ClassifyEndpointOptions, classifyRoutes } from '../classify/classify.ts';
import { registerModelBodies } from './body.ts';
import { type ChatEndpointOptions, chatCompletionsRoutes } from './chat-completions.ts';
import { embeddingsRoutes } from './embeddings.ts';
import { modelsRoutes, type Prices } from './models.ts';
import { modelDescriptionRoute } from './openapi.ts';
import { rerankRoutes } from './rerank.ts';

export interface ModelHostOptions extends ChatEndpointOptions {
  readonly prices: Prices;
  /** `undefined`: no batch jobs are served. */
  readonly batch?: BatchEndpointOptions | undefined;
  /** `undefined`: no classification is served. */
  readonly classify?: ClassifyEndpointOptions | undefined;
}

/** Routes of this host at which the dialects of other model servers differ, as `METHOD path`. */
export const NATIVE_ROUTES: ReadonlySet<string> = new Set([
  'POST /v1/embeddings',
  'POST /v1/rerank',
  'POST /v2/rerank',
  'POST /rerank',
  'POST /v1/chat/completions',
  ...['/v1/models', '/v1/models/*'].flatMap((url) => [`GET ${url}`, `HEAD ${url}`]),
  'GET /v1/batches',
]);

/** The server must have been created with `servesPrograms`. */
export function modelHostRoutes(face: Face, host: ModelHostOptions): void {
  registerModelBodies(face);
  embeddingsRoutes(face, host);
  rerankRoutes(face, host);
  chatCompletionsRoutes(face, host);
  modelsRoutes(face, host);
  if (host.batch) batchRoutes(face, { ...host, ...host.batch });
  if (host.classify) classifyRoutes(face, { ...host, ...host.classify });
  modelDescriptionRoute(face);
}
