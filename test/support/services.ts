/**
 * Databases for tests, from real servers. Each is undefined where the machine has no such server: tests are skipped then
 * (`describe.skipIf(!url)`), and the run says so.
 */
import { inject } from 'vitest';

export { relayTo } from './services-relay.ts';
export { type Service, startPostgres, startRedis } from './services-start.ts';

/** `postgres://` address of an empty database of one's own. */
export const postgresUrl = (): Promise<string | undefined> => ask('/postgres');

/** `redis://` address of an empty logical database of one's own. */
export const redisUrl = (): Promise<string | undefined> => ask('/redis');

async function ask(what: string): Promise<string | undefined> {
  const response = await fetch(inject('services') + what);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer || undefined;
}
