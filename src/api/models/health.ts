/** Health endpoints of the model host: whether the process responds, and whether all required models are loaded. */
import type { Face } from '#http/server.ts';
import type { ModelRuntime } from '#models/index.ts';
import { publicRoute } from './endpoint.ts';

export interface ModelHealth {
  readonly models: ModelRuntime;
  readonly draining: () => boolean;
  /** Names of the folders on a full disk. */
  readonly fullDisks: () => Promise<readonly string[]>;
}

export function modelHealthRoutes(face: Face, { models, draining, fullDisks }: ModelHealth): void {
  for (const path of ['/health', '/live']) publicRoute(face, path, async (_, reply) => reply.send({ status: 'ok' }));
  publicRoute(face, '/ready', async (_, reply) => {
    const { ready, models: states, reason } = models.readiness();
    const isFull = (await fullDisks()).length > 0;
    if (ready && !draining() && !isFull) return reply.send({ status: 'ready', models: states });
    const why = draining() ? 'the server is shutting down' : isFull ? 'the disk is full' : reason;
    return reply.code(503).send({ status: 'not_ready', models: states, reason: why });
  });
}
