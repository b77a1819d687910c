/**
 * Tokens set aside together: those who ask while others are being served go along next. Each alone, requests of one
 * account would wait for its row one behind the other, each on a connection of its own.
 */

import type { Store } from '#storage/database/store.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Hold } from './records.ts';
import type { Tables } from './schema.ts';
import { type HoldRequest, insertHolds } from './usage-store.ts';

/** What one transaction serves. */
const GROUP = 250;

interface Waiting {
  readonly wish: HoldRequest;
  resolve(hold: Hold | undefined): void;
  reject(error: unknown): void;
}

export function createHolds(
  store: Pick<Store<Tables>, 'db' | 'dialect'>,
  now: () => number,
): (wish: HoldRequest) => Promise<Hold | undefined> {
  const waiting: Waiting[] = [];
  let isWorking = false;

  async function work(): Promise<void> {
    isWorking = true;
    // What comes in the same turn goes along.
    await undefined;
    while (waiting.length) {
      const some = waiting.splice(0, GROUP);
      try {
        const made = await insertHolds(
          store,
          some.map(({ wish }) => wish),
          now(),
        );
        for (const [at, { resolve }] of some.entries()) resolve(made[at]);
      } catch (error) {
        // Those who came meanwhile would wait as long for the same.
        const failed = error instanceof DatabaseUnavailableError ? [...some, ...waiting.splice(0)] : some;
        for (const { reject } of failed) reject(error);
      }
    }
    isWorking = false;
  }

  return (wish) =>
    new Promise((resolve, reject) => {
      waiting.push({ wish, resolve, reject });
      if (!isWorking) void work();
    });
}
