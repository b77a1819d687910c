/** A server whose local models run on workers. All of them are separate processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { smallModel, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { type ServerProcess, startProcess } from '../support/process.ts';
import { redisUrl } from '../support/services.ts';
import { startWorker, type WorkerProcess } from '../support/worker-process.ts';

const LONG_MS = 300_000;
const redis = await redisUrl();

const TEXTS = ['The tap water of Berlin is safe to drink.', 'The zoo is large.', 'A river has water.'];
const QUERY = 'Is the water safe?';

function makeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-remote-models-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Two small models with random weights, as the operator's own. */
async function makeModels(): Promise<string> {
  const folder = makeFolder();
  const encoder = path.join(folder, 'encoder');
  const judge = path.join(folder, 'judge');
  const { file, shape } = smallModel();
  await writeTestModel(encoder, file);
  await writeTestModel(judge, smallModel({ head: 'classifier' }).file);
  const contextTokens = shape.positions;
  return JSON.stringify([
    {
      ...{ id: 'small-encoder', does: 'embed', contextTokens, dimensions: shape.hidden, pooling: 'mean' },
      runs: { on: 'onnx', folder: encoder },
    },
    { id: 'small-judge', does: 'rerank', contextTokens, runs: { on: 'onnx', folder: judge } },
  ]);
}

async function serve(environment: Record<string, string>): Promise<ServerProcess> {
  const server = await startProcess({ ...environment, LECTERN_DATA_DIR: makeFolder(), LECTERN_METRICS_PORT: '0' });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

async function work(environment: Record<string, string>): Promise<WorkerProcess> {
  const worker = await startWorker(environment, '--work', 'embed');
  onTestFinished(async () => void (await worker.stop()));
  return worker;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  readonly json: any;
}

async function post(server: ServerProcess, endpoint: string, body: Record<string, unknown>): Promise<Answer> {
  const answer = await fetch(`${server.urlOf('model host')}${endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), json: await answer.json() };
}
const embed = (server: ServerProcess, more = {}) =>
  post(server, '/v1/embeddings', { model: 'small-encoder', input: TEXTS, ...more });
const rerank = (server: ServerProcess) =>
  post(server, '/v1/rerank', { model: 'small-judge', query: QUERY, documents: TEXTS });

async function expectRefusal(ask: () => Promise<Answer>): Promise<void> {
  const refused = await ask();
  expect([refused.status, refused.retryAfter]).toEqual([503, '5']);
  expect(JSON.stringify(refused.json)).toContain('No worker for work of the kind embed is running; try again later');
}

const countOf = async (url: string, series: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length) ?? 0,
  );
};

it.skipIf(!redis)(
  'gets vectors and scores from a worker as it computes them itself, 503 without one, and continues with another',
  { timeout: LONG_MS },
  async () => {
    const shared = {
      ...{ LECTERN_BROWSER: 'none', LECTERN_AUTH: 'off', LECTERN_KEYLESS_RPM: 'none' },
      ...{ LECTERN_MODEL_DOWNLOAD: 'off', LECTERN_MODELS: await makeModels(), LECTERN_REDIS_URL: redis! },
    };
    const [server, alone] = await Promise.all([serve({ ...shared, LECTERN_REMOTE_WORK: 'embed' }), serve(shared)]);
    for (const ask of [() => embed(server), () => rerank(server)]) await expectRefusal(ask);
    // A built-in model is not sent to workers.
    expect((await embed(server, { model: 'lectern-static-v2' })).status).toBe(200);

    const expectSame = async () => {
      const variants = [{}, { late_chunking: true }, { embedding_type: ['float', 'base64'] }];
      for (const ask of [rerank, ...variants.map((more) => (of: ServerProcess) => embed(of, more))]) {
        const [there, here] = await Promise.all([ask(server), ask(alone)]);
        expect(here.status).toBe(200);
        expect(there).toEqual(here);
      }
    };
    const first = await work(shared);
    await expectSame();
    const [one, two] = (await embed(server)).json.data;
    expect(one.embedding).toHaveLength(32);
    expect(one.embedding).not.toEqual(two.embedding);
    expect(await countOf(first.url, 'lectern_remote_served_total{kind="embed",outcome="done"}')).toBeGreaterThan(4);

    // Until a killed worker counts as ended, the request waits; it must not be lost if another one starts.
    await first.stop('SIGKILL');
    const waiting = embed(server);
    const second = await work(shared);
    expect((await waiting).json).toEqual((await embed(alone)).json);
    await expectSame();
    expect(await countOf(second.url, 'lectern_remote_served_total{kind="embed",outcome="done"}')).toBeGreaterThan(4);

    const failed = 'lectern_remote_requests_total{kind="embed",outcome="failed"}';
    expect(await countOf(server.urlOf('metrics'), failed)).toBe(0);
  },
);
