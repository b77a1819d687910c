import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';
import { timedEngine } from './timed.ts';

const visit = (more: Partial<Visit> = {}) =>
  ({ url: 'https://user@site.example:8443/path?query', signal: new AbortController().signal, ...more }) as Visit;

/** Visits with an engine that yields two snapshots and then fails with `error`, and returns what was reported. */
async function reported(given: Visit, { count = 2, error }: { count?: number; error?: Error } = {}) {
  const seen: unknown[][] = [];
  const engine: Engine = {
    name: 'direct',
    close: () => Promise.resolve(),
    async *visit() {
      for (let at = 0; at < count; at++) yield { at } as unknown as Snapshot;
      if (error) throw error;
    },
  };
  const timed = timedEngine(engine, (host, ms, failed) => seen.push([host, ms >= 0, failed]));
  const yielded: unknown[] = [];
  try {
    for await (const snapshot of timed.visit(given)) yielded.push(snapshot);
  } catch (thrown) {
    expect(thrown).toBe(error);
  }
  expect(yielded).toHaveLength(count);
  return seen;
}

it('reports the host, and whether anything was captured', async () => {
  expect(await reported(visit())).toEqual([['site.example:8443', true, false]]);
  expect(await reported(visit(), { count: 0, error: new Error('no answer') })).toEqual([
    ['site.example:8443', true, true],
  ]);
});

it('reports nothing if the host was never asked', async () => {
  expect(await reported(visit({ html: '<p>given' }))).toEqual([]);
  const refused = problem('SecurityCompromiseError', { message: 'refused' });
  expect(await reported(visit(), { count: 0, error: refused })).toEqual([]);
  const left = visit({ signal: AbortSignal.abort() });
  expect(await reported(left, { count: 0, error: new Error('left') })).toEqual([]);
});

it('stops the engine when the caller stops', async () => {
  let ended = false;
  const engine: Engine = {
    name: 'direct',
    close: () => Promise.resolve(),
    async *visit() {
      try {
        yield {} as Snapshot;
        yield {} as Snapshot;
      } finally {
        ended = true;
      }
    },
  };
  const seen: boolean[] = [];
  const timed = timedEngine(engine, (_, __, failed) => seen.push(failed));
  for await (const _ of timed.visit(visit())) break;
  expect([ended, seen]).toEqual([true, [false]]);
});
