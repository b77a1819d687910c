/**
 * Real database servers for tests. Each URL is undefined if the server is not installed. In that case, its tests are
 * skipped (`describe.skipIf(!url)`), and the run prints a warning.
 */
import { inject } from 'vitest';

export { startPausableProxy } from './pausable-proxy.ts';
export { type Service, startPostgres, startRedis } from './start-services.ts';

/** `postgres://` URL of a new, empty database. */
export const postgresUrl = (): Promise<string | undefined> => ask('/postgres');

/** `redis://` URL of a new, empty logical database. */
export const redisUrl = (): Promise<string | undefined> => ask('/redis');

async function ask(what: string): Promise<string | undefined> {
  const response = await fetch(inject('services') + what);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer || undefined;
}
