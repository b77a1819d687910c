/** Rows and tools for the tests of remote models. */
import { setMaxListeners } from 'node:events';
import { afterAll, expect, onTestFinished } from 'vitest';
import { Problem } from '#errors.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { countTokens, keepTokens, loadTokens } from '#reader/tokens.ts';
import type { Embedder, Reranker } from '../backend.ts';
import type { EmbeddingRow, RerankRow } from '../registry/catalogue.ts';
import { createRemoteEmbedder } from './embedder.ts';
import { type ModelServer, type ServerOptions, startModelServer } from './model-server.suite.ts';
import type { RemoteRuns } from './protocols.ts';
import { createRemoteReranker } from './reranker.ts';
import type { RemoteTools } from './server.ts';

export type ProtocolName = RemoteRuns['protocol'];

export const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
export const KEY = 'key-that-nobody-may-see';

const log = { info: () => {}, warn: () => {} };
const createFetch = () => createTrustedFetch({ region: 'any', euHosts: [], log });
let fetch = createFetch();

/** Must be called once in each file that uses these helpers. */
export function closeFetchAfterAll(): void {
  afterAll(() => {
    const used = fetch;
    // Other test files in the same process share this module.
    fetch = createFetch();
    return used.close();
  });
}

export const TOOLS: RemoteTools = {
  get fetch() {
    return fetch;
  },
  timeoutMs: 60_000,
  tokens: { load: loadTokens, count: countTokens, keep: keepTokens },
  log,
};

const COMMON = {
  hub: '',
  description: 'A model for tests',
  created: 1,
  contextTokens: 512,
  languages: ['multi'],
  licence: 'none',
};

export const runsAt = (protocol: ProtocolName, url: string): RemoteRuns => ({
  on: 'remote',
  protocol,
  url,
  model: 'there/model',
  key: KEY,
});

export function embedderAt(
  runs: RemoteRuns,
  row: Partial<EmbeddingRow> = {},
  tools: Partial<RemoteTools> = {},
): Embedder {
  const whole: EmbeddingRow = {
    ...COMMON,
    id: 'far',
    name: 'Far',
    does: 'embed',
    kind: 'text-v3',
    dimensions: 16,
    matryoshka: [],
    pooling: 'mean',
    normalizes: false,
    prefixes: {},
    runs,
    ...row,
  };
  return createRemoteEmbedder(whole, runs, { ...TOOLS, ...tools });
}

export function rerankerAt(runs: RemoteRuns, row: Partial<RerankRow> = {}, tools: Partial<RemoteTools> = {}): Reranker {
  const whole: RerankRow = { ...COMMON, id: 'far-rerank', name: 'Far', does: 'rerank', runs, ...row };
  return createRemoteReranker(whole, runs, { ...TOOLS, ...tools });
}

/** Starts a server and a model on it. Both are closed at the end of the test. */
export async function startEmbedder(
  protocol: ProtocolName,
  server: ServerOptions = {},
  row: Partial<EmbeddingRow> = {},
  tools: Partial<RemoteTools> = {},
): Promise<{ server: ModelServer; model: Embedder }> {
  const started = await startModelServer(protocol, { key: KEY, ...server });
  const model = embedderAt(runsAt(protocol, started.url), row, tools);
  onTestFinished(async () => {
    await model.close();
    await started.close();
  });
  return { server: started, model };
}

export async function startReranker(
  protocol: ProtocolName,
  server: ServerOptions = {},
  row: Partial<RerankRow> = {},
): Promise<{ server: ModelServer; model: Reranker }> {
  const started = await startModelServer(protocol, { key: KEY, ...server });
  const model = rerankerAt(runsAt(protocol, started.url), row);
  onTestFinished(async () => {
    await model.close();
    await started.close();
  });
  return { server: started, model };
}

export async function embedTexts(model: Embedder, texts: readonly string[], maxTokens?: number) {
  const prepared = await model.prepare(texts, { maxTokens, signal: NEVER });
  return await model.embed(prepared, { output: 'pooled', dimensions: model.dimensions, signal: NEVER });
}

/**
 * Returns the problem with which `work` rejects. Checks that the problem reveals nothing about the server, its URL or
 * the key.
 */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  const { message, facts } = error as Problem;
  expect(`${message} ${JSON.stringify(facts)}`).not.toMatch(/secret|127\.0\.0\.1|localhost|key-that/);
  return error as Problem;
}
