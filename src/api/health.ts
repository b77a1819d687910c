/** Health endpoints: `/live`, `/ready`, and `/health` with the state of each part. */
import type { Face } from '#http/server.ts';

export interface Health {
  /** False while the server drains. */
  readonly ready: () => boolean;
  /** Names of the folders on a full disk. */
  readonly fullDisks: () => Promise<readonly string[]>;
  readonly version: string;
  readonly browser: () => BrowserHealth;
  /** For each store, whether it responded to its last query. */
  readonly stores: () => Readonly<
    Record<'accounts' | 'limits' | 'shared' | 'batches' | 'classifiers' | 'crawls' | 'cache', 'ok' | 'away'> & {
      /** `undefined` without a database that several servers could share. */
      readonly blobs?: 'ok' | 'away';
      /** The queue of requests for workers; `undefined` if this server does all work itself. */
      readonly remoteWork?: 'ok' | 'away';
    }
  >;
}

export interface BrowserHealth {
  readonly available: boolean;
  /** Whether pages run inside the browser's own sandbox. */
  readonly sandboxed?: boolean | undefined;
  readonly version?: string | undefined;
  readonly healthy?: boolean;
  readonly pages?: number;
  readonly waiting?: number;
  /** Browsers on other machines. */
  readonly remote?: { readonly configured: number; readonly connected: number };
}

export const HEALTH_PATHS = ['/health', '/live', '/ready'] as const;

export interface ServerState {
  readonly status: 'ok' | 'draining' | 'disk full';
  /** Names of the folders on a full disk; missing if there are none. */
  readonly full?: readonly string[];
}

export async function serverState({ ready, fullDisks }: Pick<Health, 'ready' | 'fullDisks'>): Promise<ServerState> {
  const full = await fullDisks();
  return { status: !ready() ? 'draining' : full.length ? 'disk full' : 'ok', ...(full.length && { full }) };
}

export function healthRoutes(face: Face, health: Health): void {
  const { version, browser, stores } = health;
  const state = () => serverState(health);
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
