/** Published clients of other model servers with a real server: only the URL and the key are ours. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMBEDDER, type Json, type ModelServer, startModelServer } from '../compat/model-server.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
const installed = existsSync(path.join(import.meta.dirname, 'node_modules', 'cohere-ai'));
const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];

describe.skipIf(!installed)('clients', () => {
  let server: ModelServer;
  let got: Json;
  let vectors: number[][];
  beforeAll(async () => {
    const names = ['text-embedding-3-small', 'embed-v4.0', 'voyage-3.5', 'voyage-multimodal-3'];
    server = await startModelServer({ modelAliases: Object.fromEntries(names.map((name) => [name, EMBEDDER])) });
    const program = path.join(import.meta.dirname, 'model-dialects.mjs');
    const args = [program, server.urls.compat!, server.key];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
    got = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1));
    vectors = await server.native(TEXTS);
  }, LONG_MS);
  afterAll(() => server.close());

  it('Ollama’s, and LangChain’s and LlamaIndex’s for it', () => {
    const { ollama } = got;
    expect(ollama.embeddings).toEqual(vectors);
    expect(ollama.old).toEqual(vectors[0]);
    expect(ollama.models).toContain(`${EMBEDDER}:latest`);
    expect(ollama).toMatchObject({ model: EMBEDDER, capabilities: ['embedding'], running: 1, pulled: 'success' });
    expect(ollama.version).toMatch(/^\d+\.\d+/);
    expect(ollama.badModel).toMatchObject({ status: 404, message: expect.stringMatching(/not found/) });
    expect(ollama.langchain).toEqual(vectors);
    expect(ollama.langchainQuery).toEqual(vectors[0]);
    expect(ollama.llamaIndex).toEqual(vectors);
  });

  it('Cohere’s of both versions, and LangChain’s for it', () => {
    const { cohere } = got;
    expect(cohere.first).toEqual(vectors);
    const int8 = vectors.map((vector) => vector.map((value) => Math.round(value * 127) || 0));
    expect(cohere.firstTypes.int8).toEqual(int8);
    expect(cohere.firstTypes.ubinary[0]).toHaveLength(128);
    expect(cohere.second.embeddings).toMatchObject({ float: vectors, int8 });
    expect(cohere.second.meta.billedUnits.inputTokens).toBeGreaterThan(5);
    expect(cohere.ranked.results[0]).toMatchObject({ index: 1, document: { text: TEXTS[1] } });
    expect(cohere.rankedBySecond.results.map(({ index }: Json) => index)).toEqual([1, 0]);
    expect(cohere.rankedBySecond.meta.billedUnits.searchUnits).toBe(1);
    expect(cohere.tokens.length).toBeGreaterThan(1);
    expect(cohere.models).toContain(EMBEDDER);
    expect(cohere.valid).toBe(true);
    expect(cohere.badKey).toMatchObject({ status: 401 });
    expect(cohere.badModel).toMatchObject({ status: 404 });
    expect(cohere.langchain).toEqual(vectors);
    expect(cohere.langchainRanked).toEqual([TEXTS[1]]);
  });

  it('Hugging Face’s for endpoints, and LangChain’s for them', () => {
    const { tei } = got;
    expect(tei.endpoint).toEqual(vectors);
    expect(tei.similarity[0]).toBeCloseTo(1, 5);
    expect(tei.similarity[1]).toBeLessThan(0.9);
    expect(tei.langchain).toEqual(vectors);
  });

  it('Voyage’s, and LangChain’s for it', () => {
    const { voyage } = got;
    expect(voyage.embedded.data.map(({ embedding }: Json) => embedding)).toEqual(vectors);
    expect(voyage.embedded.usage.totalTokens).toBeGreaterThan(5);
    expect(voyage.ranked.data).toMatchObject([{ index: 1 }]);
    expect(voyage.multimodal.data[0].embedding).toEqual(vectors[0]);
    expect(voyage.badModel).toMatchObject({ status: 400 });
    expect(voyage.langchain).toEqual(vectors);
  });

  it('OpenAI’s: files, batches and token ids', async () => {
    const { openai } = got;
    expect(openai.batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 2, completed: 2, failed: 0 },
      metadata: { night: 'one' },
      input_file_id: openai.file.id,
    });
    const output = openai.output.map(({ custom_id, response }: Json) => [custom_id, response.body.data[0].embedding]);
    expect(output).toEqual(vectors.map((vector, at) => [`n${at}`, vector]));
    expect([openai.files, openai.batches]).toEqual([[openai.file.id], [openai.batch.id]]);
    expect(openai).toMatchObject({ cancelled: 'completed', retrieved: 'lines.jsonl', deleted: true });
    expect([openai.gone.status, openai.badBatch.status]).toEqual([404, 400]);
    expect([openai.tokenIds]).toEqual(await server.native('The river'));
  });
});
