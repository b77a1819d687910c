import { expect, it } from 'vitest';
import type { Log } from '#telemetry/log.ts';
import { fakeEmbedder, fakeReranker, fakeRow } from '../embed/embed.suite.ts';
import { openModelRuntime } from './model-runtime.ts';

it('a model that fails to load is logged once per attempt, for any number of waiting requests', async () => {
  let loads = 0;
  const logged: unknown[] = [];
  const models = openModelRuntime({
    backends: {
      embedder: (row) =>
        fakeEmbedder(row, {
          stamp: () => 'damaged',
          onLoad() {
            loads++;
            throw new Error('damaged');
          },
        }),
      reranker: (row) => fakeReranker(row),
    },
    maxBytes: 1_000,
    deadlineMs: 60_000,
    log: { warn: (facts: object) => logged.push(facts) } as unknown as Log,
  });
  const row = fakeRow('dense');
  const { signal } = new AbortController();
  const use = () => models.withEmbedder(row, { characters: 1, signal }, async () => 'loaded');
  try {
    models.warm([row]);
    for (let request = 0; request < 5; request++) await expect(use()).rejects.toThrow('damaged');
    expect(loads).toBeGreaterThan(0);
    const facts = { model: 'dense', err: expect.objectContaining({ message: 'damaged' }) };
    expect(logged).toEqual(Array.from({ length: loads }, () => facts));
    expect(models.readiness()).toMatchObject({ ready: false, models: { dense: 'failed' } });
  } finally {
    await models.close();
  }
});
