/** How many requests wait and run, and how many workers there are. */
import type { QueueConnection } from './connection.ts';
import { COUNTS } from './scripts.ts';

export interface KindCounts {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  readonly workers: number;
}

/** Returns an empty list while Redis is away. */
export async function readCounts(connection: QueueConnection, kinds: readonly string[]): Promise<KindCounts[]> {
  const found = (await connection.run(COUNTS, ...kinds).catch(() => [])) as number[];
  if (found.length === 0) return [];
  return kinds.map((kind, at) => ({
    kind,
    waiting: found[3 * at]!,
    running: found[3 * at + 1]!,
    workers: found[3 * at + 2]!,
  }));
}
