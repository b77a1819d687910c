/** Probes of the model host (contract, section 10): the process answers, the models that must be there are. */
import type { Face } from '#http/server.ts';
import type { Opened } from '#models/index.ts';
import { publicRoute } from './endpoint.ts';

export interface ModelProbes {
  readonly models: Opened;
  readonly draining: () => boolean;
  /** The folders that have no room, by names for people. */
  readonly fullDisks: () => Promise<readonly string[]>;
}

export function modelProbes(face: Face, { models, draining, fullDisks }: ModelProbes): void {
  for (const path of ['/health', '/live']) publicRoute(face, path, async (_, reply) => reply.send({ status: 'ok' }));
  publicRoute(face, '/ready', async (_, reply) => {
    const { ready, models: states, reason } = models.readiness();
    const isFull = (await fullDisks()).length > 0;
    if (ready && !draining() && !isFull) return reply.send({ status: 'ready', models: states });
    const why = draining() ? 'the server is being stopped' : isFull ? 'the disk is full' : reason;
    return reply.code(503).send({ status: 'not_ready', models: states, reason: why });
  });
}
