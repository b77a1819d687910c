/**
 * Batches reservations of tokens from a balance: requests that arrive during a transaction share the next one. With one
 * transaction per request, requests of one account would queue for its row, and each would occupy a connection.
 */
import type { Store } from '#storage/database/store.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Hold } from './records.ts';
import type { Tables } from './schema.ts';
import { type HoldRequest, insertHolds } from './usage-store.ts';

/** Maximum number of requests per transaction. */
const GROUP_SIZE = 250;

interface Waiting {
  readonly request: HoldRequest;
  resolve(hold: Hold | undefined): void;
  reject(error: unknown): void;
}

export function createHolds(
  store: Pick<Store<Tables>, 'db' | 'dialect'>,
  now: () => number,
): (request: HoldRequest) => Promise<Hold | undefined> {
  const waiting: Waiting[] = [];
  let isDraining = false;

  async function drain(): Promise<void> {
    isDraining = true;
    // Requests from the same tick join the first group.
    await undefined;
    while (waiting.length) {
      const group = waiting.splice(0, GROUP_SIZE);
      try {
        const holds = await insertHolds(
          store,
          group.map(({ request }) => request),
          now(),
        );
        for (const [at, { resolve }] of group.entries()) resolve(holds[at]);
      } catch (error) {
        // Later requests would only run into the same failure.
        const failed = error instanceof DatabaseUnavailableError ? [...group, ...waiting.splice(0)] : group;
        for (const { reject } of failed) reject(error);
      }
    }
    isDraining = false;
  }

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (!isDraining) void drain();
    });
}
