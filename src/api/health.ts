/** Probes: alive, ready for work, and what there is to know about the parts. */
import type { Face } from '#http/server.ts';

export interface Health {
  /** False while the server drains. */
  readonly ready: () => boolean;
  readonly version: string;
  readonly browser: () => BrowserHealth;
  /** Whether the stores of accounts, of limits, of batch jobs and of crawls answered last time. */
  readonly stores: () => Readonly<Record<'accounts' | 'limits' | 'batches' | 'crawls', 'ok' | 'away'>>;
}

export interface BrowserHealth {
  readonly available: boolean;
  /** Whether pages run inside the browser's own sandbox. */
  readonly sandboxed?: boolean | undefined;
  readonly version?: string | undefined;
  readonly healthy?: boolean;
  readonly pages?: number;
  readonly waiting?: number;
}

export const HEALTH_PATHS = ['/health', '/live', '/ready'] as const;

export function healthRoutes(face: Face, { ready, version, browser, stores }: Health): void {
  face.get('/live', async (_, reply) => reply.send({ status: 'ok' }));
  face.get('/ready', async (_, reply) => reply.code(ready() ? 200 : 503).send({ status: ready() ? 'ok' : 'draining' }));
  face.get('/health', async (_, reply) =>
    reply.code(ready() ? 200 : 503).send({
      status: ready() ? 'ok' : 'draining',
      version,
      uptimeSeconds: Math.round(process.uptime()),
      memoryMb: Math.round(process.memoryUsage.rss() / 1_000_000),
      browser: browser(),
      stores: stores(),
    }),
  );
}
