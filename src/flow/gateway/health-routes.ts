/** Health endpoints of the gateway, in the format of the other servers: `/live`, `/ready` and `/health`. */
import type { Answer } from './answer.ts';
import type { Route } from './routes.ts';

export interface GatewayHealth {
  readonly version: string;
  /** Whether the gateway refuses requests because it is shutting down. */
  readonly isDraining: () => boolean;
}

export const HEALTH_TAGS = ['Health'];

/** Custom routes replace those with the same path and method. */
export function healthRoutes({ version, isDraining }: GatewayHealth): Route[] {
  const answer = (body: object = {}): Answer => ({
    code: isDraining() ? 503 : 200,
    body: JSON.stringify({ status: isDraining() ? 'draining' : 'ok', ...body }),
  });
  const route = (path: string, summary: string, run: Route['run']): Route => ({
    method: 'GET',
    path,
    tags: HEALTH_TAGS,
    summary,
    responseSchema: 'Health',
    isPublic: true,
    run,
  });
  return [
    route('/live', 'Whether the process responds', () => ({ code: 200, body: '{"status":"ok"}' })),
    route('/ready', 'Whether requests are accepted', () => answer()),
    route('/health', 'State of the gateway', () =>
      answer({
        version,
        uptimeSeconds: Math.round(process.uptime()),
        memoryMb: Math.round(process.memoryUsage.rss() / 1_000_000),
      }),
    ),
  ];
}
