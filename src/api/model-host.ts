/** The model host as a whole: its bodies and all its endpoints. */
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import { embeddingsRoutes } from './embeddings.ts';
import { registerModelBodies } from './model-body.ts';
import type { ModelDoor } from './model-door.ts';
import { modelDescriptionRoute } from './model-openapi.ts';
import { modelsRoutes, type Prices } from './models.ts';
import { rerankRoutes } from './rerank.ts';

export interface ModelHost extends ModelDoor {
  readonly prices: Prices;
  readonly version: string;
}

/** On a face made with `servesPrograms`. */
export function modelHostRoutes(face: Face, host: ModelHost): void {
  registerModelBodies(face);
  embeddingsRoutes(face, host);
  rerankRoutes(face, host);
  modelsRoutes(face, host);
  modelDescriptionRoute(face, host.version);
  for (const { method, url } of WAITING) {
    face.route({
      method,
      url,
      handler: async () => {
        throw problem('FaceNotReadyError', { message: 'This endpoint is not available in this version' });
      },
    });
  }
}

/** Endpoints of the contract that are to come. */
const WAITING = [
  { method: 'POST', url: '/v1/chat/completions' },
  { method: 'POST', url: '/v1/batch/embeddings' },
  { method: 'GET', url: '/v1/batches' },
  { method: ['GET', 'DELETE'], url: '/v1/batch/:id' },
  { method: 'GET', url: '/v1/batch/:id/output' },
  { method: 'GET', url: '/v1/batch/:id/errors' },
] as const satisfies { method: string | string[]; url: string }[];
