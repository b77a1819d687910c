/** The model host as a whole: its bodies and all its endpoints. */
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import type { Endpoint } from '#plans.ts';
import { type BatchDoor, batchRoutes } from './batch.ts';
import { embeddingsRoutes } from './embeddings.ts';
import { registerModelBodies } from './model-body.ts';
import type { ModelDoor } from './model-door.ts';
import { modelDescriptionRoute } from './model-openapi.ts';
import { modelsRoutes, type Prices } from './models.ts';
import { rerankRoutes } from './rerank.ts';

export interface ModelHost extends ModelDoor {
  readonly prices: Prices;
  /** Undefined where nobody keeps jobs. */
  readonly batch?: BatchDoor | undefined;
  readonly version: string;
}

/** On a face made with `servesPrograms`. */
export function modelHostRoutes(face: Face, host: ModelHost): void {
  registerModelBodies(face);
  embeddingsRoutes(face, host);
  rerankRoutes(face, host);
  modelsRoutes(face, host);
  if (host.batch) batchRoutes(face, { ...host, ...host.batch });
  modelDescriptionRoute(face, host.version);
  for (const { method, url, endpoint } of WAITING) {
    const entrance = { face: 'model', endpoint, authorization: 'bearer', keyless: 'refused' } as const;
    face.route({
      method,
      url,
      onRequest: host.gatekeeper.guard(entrance, 'by kind'),
      handler: async () => {
        throw problem('FaceNotReadyError', { message: 'This endpoint is not available in this version' });
      },
    });
  }
}

/** Endpoints of the contract that are to come. */
const WAITING = [{ method: 'POST', url: '/v1/chat/completions', endpoint: 'chat' }] as const satisfies {
  method: string | string[];
  url: string;
  endpoint: Endpoint;
}[];
