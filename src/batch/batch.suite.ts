/** A batch module with fake models, for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeOptions, fakeEmbedder, fakeReranker, fakeRow } from '#models/embed/embed.suite.ts';
import { createRegistry, openModelRuntime } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { isFinal } from '#storage/jobs/states.ts';
import { createLog } from '#telemetry/log.ts';
import type { Job } from './job.ts';
import { type BatchModule, type BatchModuleOptions, openBatch } from './open.ts';

export const SILENT = createLog('silent');

export interface TestBatch {
  readonly batchModule: BatchModule;
  readonly charged: Job[];
  submit(
    input: readonly unknown[] | string,
    rest?: { owner?: string; webhookUrl?: string; options?: object },
  ): Promise<Job>;
  ended(id: string): Promise<Job>;
  /** The parsed lines of an output or error file. */
  lines(job: Job, kind: 'output' | 'errors'): Promise<Line[]>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of an answer
export type Line = any;

export const ROWS = [fakeRow('tea', { kind: 'text-v5', matryoshka: [4] }), fakeRow('many', { kind: 'colbert' })];

export async function openTestBatch(
  options: Partial<BatchModuleOptions> & Pick<BatchModuleOptions, 'dataDir'>,
  fake: FakeOptions = {},
): Promise<TestBatch> {
  const models = openModelRuntime({
    backends: { embedder: (row) => fakeEmbedder(row, fake), reranker: (row) => fakeReranker(row) },
    maxBytes: 1e9,
    deadlineMs: 60_000,
    log: SILENT,
  });
  const registry = createRegistry({
    rows: ROWS,
    aliases: {},
    availabilityCheck: { availability: () => 'here', look: async () => {} },
  });
  const guard = createGuard({ allow: ['127.0.0.1'] });
  const fetch = createFetch({ guard, region: createRegion({ region: 'any', euHosts: [], log: SILENT }) });
  const charged: Job[] = [];
  const batchModule = await openBatch({
    registry,
    models,
    fetch,
    failureOf: ({ name, message }) => ({ code: name, message }),
    charge: async (job) => void charged.push(job),
    jobs: 2,
    log: SILENT,
    leaseMs: 2_000,
    pauseMs: 20,
    webhookRetryMs: [20, 40],
    ...options,
  });
  const model = await registry.embedding('tea');
  return {
    batchModule,
    charged,
    submit: (input, { owner = 'me', webhookUrl, options: given = {} } = {}) =>
      batchModule.submit({
        model,
        input,
        owner,
        account: 'account',
        options: given as Job['options'],
        baseUrl: 'http://models.example',
        webhookUrl: webhookUrl ?? null,
      }),
    async ended(id) {
      for (;;) {
        const job = (await batchModule.find(id))!;
        if (isFinal(job.state)) return job;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async lines(job, kind) {
      const file = batchModule.file(job, kind);
      const parts: Uint8Array[] = [];
      for await (const part of file.read(0, file.bytes)) parts.push(part);
      return Buffer.concat(parts)
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    },
    async close() {
      await batchModule.close();
      await models.close();
      await fetch.close();
    },
  };
}

export const line = (id: string, input: unknown, more: object = {}) => ({ custom_id: id, body: { input, ...more } });

/** Starts a server on a loopback port. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
