// Full run only: loads models in child processes.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openWorkQueue } from '#storage/work-queue/server.ts';
import { openWorkServer } from '#storage/work-queue/worker.ts';
import { createLog } from '#telemetry/log.ts';
import { redisUrl } from '../../../test/support/services.ts';
import { describeEmbedder, describeReranker } from '../backend.suite.ts';
import { createOnnxEmbedder, createOnnxReranker } from '../onnx/backends.ts';
import { smallModel, testEmbeddingRow, testRerankRow, writeTestModel } from '../onnx/test-model.suite.ts';
import type { ModelRow } from '../registry/catalogue.ts';
import { openModelRuntime } from '../registry/model-runtime.ts';
import type { ServedModel } from '../registry/registry.ts';
import { createWorkerAvailability, createWorkerEmbedder, createWorkerReranker, type ModelWork } from './backends.ts';
import type { ModelRequest } from './messages.ts';
import { createModelWorker } from './worker.ts';

const log = createLog('silent');
const POSITIONS = 512;
const EMBEDDING = testEmbeddingRow({ contextTokens: POSITIONS });
const RERANKER = testRerankRow({ contextTokens: POSITIONS });
const redis = await redisUrl();
const folder = await mkdtemp(path.join(os.tmpdir(), 'model-workers-'));
const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

/** A server's queue, and a worker with two models. */
async function openWork(url: string): Promise<ModelWork> {
  const encoder = await writeTestModel(path.join(folder, 'encoder'), smallModel({ positions: POSITIONS }).file);
  const classifier = smallModel({ positions: POSITIONS, head: 'classifier' }).file;
  const judge = await writeTestModel(path.join(folder, 'judge'), classifier);
  const options = { files: async ({ id }: ModelRow) => (id === EMBEDDING.id ? encoder : judge), threads: 1, log };
  const models = openModelRuntime({
    backends: {
      embedder: (row) => createOnnxEmbedder(row, options),
      reranker: (row) => createOnnxReranker(row, options),
    },
    maxBytes: 4_000_000_000,
    deadlineMs: 120_000,
    log,
  });
  closers.push(() => models.close());
  const served: ServedModel[] = [
    { name: EMBEDDING.id, row: EMBEDDING, alias: false, kind: EMBEDDING.kind },
    { name: RERANKER.id, row: RERANKER, alias: false },
  ];
  const registry = { find: async (id: string) => served.find(({ row }) => row.id === id), list: async () => served };
  const worker = createModelWorker({ registry, models });
  const queue = await openWorkQueue({ url, kinds: ['embed'], maxWaiting: 200, maxWaitMs: 60_000, log });
  closers.push(() => queue.close());
  const server = await openWorkServer({ url, log });
  closers.push(() => server.close(0));
  const handler = (request: unknown, signal: AbortSignal) => worker(request as ModelRequest, signal);
  await server.serve([{ kind: 'embed', slots: 4, handler }]);
  return queue.work('embed');
}

describe.skipIf(!redis)('models on workers', { timeout: 240_000 }, async () => {
  const work = redis ? await openWork(redis) : undefined;

  describeEmbedder('an ONNX encoder', () => createWorkerEmbedder(EMBEDDING, work!));
  describeReranker('an ONNX cross-encoder', () => createWorkerReranker(RERANKER, work!));

  it('are available if a worker has their files', async () => {
    const away = { availability: () => 'away' as const, look: async () => {} };
    const availability = createWorkerAvailability(work!, away);
    expect(availability.availability(EMBEDDING)).toBe('away');
    await availability.look([EMBEDDING]);
    expect(availability.availability(EMBEDDING)).toBe('here');
    expect(availability.availability({ ...EMBEDDING, id: 'another' })).toBe('away');
  });

  it('that no worker has fail with their name', async () => {
    const other = createWorkerEmbedder({ ...EMBEDDING, id: 'another' }, work!);
    await expect(other.prepare(['tea'], { signal: new AbortController().signal })).rejects.toMatchObject({
      message: expect.stringContaining('do not serve the model another'),
    });
  });
});
