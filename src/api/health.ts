/** Probes: alive, ready for work, and what there is to know about the parts. */
import type { Face } from '#http/server.ts';

export interface Health {
  /** False while the server drains. */
  readonly ready: () => boolean;
  /** The folders that have no room, by names for people. */
  readonly fullDisks: () => Promise<readonly string[]>;
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

export function healthRoutes(face: Face, { ready, fullDisks, version, browser, stores }: Health): void {
  const state = async () => {
    const full = await fullDisks();
    return { status: !ready() ? 'draining' : full.length ? 'disk full' : 'ok', ...(full.length && { full }) };
  };
  const codeOf = ({ status }: { readonly status: string }) => (status === 'ok' ? 200 : 503);
  face.get('/live', async (_, reply) => reply.send({ status: 'ok' }));
  face.get('/ready', async (_, reply) => {
    const found = await state();
    return reply.code(codeOf(found)).send(found);
  });
  face.get('/health', async (_, reply) => {
    const { status, ...disk } = await state();
    return reply.code(codeOf({ status })).send({
      status,
      ...disk,
      version,
      uptimeSeconds: Math.round(process.uptime()),
      memoryMb: Math.round(process.memoryUsage.rss() / 1_000_000),
      browser: browser(),
      stores: stores(),
    });
  });
}
