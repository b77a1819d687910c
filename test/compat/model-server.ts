/** A whole server with small local models, for the dialects of model servers. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { smallModel, testEmbeddingRow, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

export const EMBEDDER = 'lectern-static-v2';
export const RERANKER = 'lectern-static-rerank-v2';
/** A BERT with random weights, whose organization is `tests`. */
export const BERT = 'test-encoder';
export const BERT_REPOSITORY = 'tests/encoder';
/** The same as a sparse model, with a weight for each of the first pieces of its vocabulary. */
export const SPARSE = 'test-sparse';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Json;
}

export interface ModelServer extends TestServer {
  readonly key: string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  /** The vectors of the model host itself. */
  native(input: unknown, options?: Record<string, unknown>): Promise<number[][]>;
}

export async function startModelServer(settings: Record<string, unknown> = {}): Promise<ModelServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-model-'));
  await writeTestModel(folder, smallModel().file);
  const { name, hub, contextTokens, dimensions } = testEmbeddingRow();
  const runs = { on: 'onnx', file: 'onnx/model.onnx', folder };
  const bert = {
    id: BERT,
    hub,
    name,
    contextTokens,
    dimensions,
    does: 'embed',
    kind: 'text-v2',
    pooling: 'mean',
    runs,
  };
  const server = await startServer({
    browser: 'none',
    modelDownload: 'off',
    models: [bert, { ...bert, id: SPARSE, hub: '', kind: 'sparse' }],
    modelAliases: { 'text-embedding-3-small': EMBEDDER, 'embed-v4.0': EMBEDDER },
    ...settings,
  });
  const key = server.app.firstKey!;
  const send = async (url: string, init: RequestInit): Promise<Answer> => {
    const answer = await fetch(url, init);
    return { status: answer.status, headers: answer.headers, json: JSON.parse(await answer.text()) };
  };
  const post: ModelServer['post'] = (place, body, headers = { authorization: `Bearer ${key}` }) =>
    send(server.urls.compat + place, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return {
    ...server,
    key,
    post,
    get: (place) => send(server.urls.compat + place, { headers: { authorization: `Bearer ${key}` } }),
    async native(input, options = {}) {
      const { json } = await send(`${server.urls.model}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: EMBEDDER, input, ...options }),
      });
      return json.data.map(({ embedding }: { embedding: number[] }) => embedding);
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
