/** Servers that share a database and a bucket: large jobs and files, and responses while the bucket is away. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestBucket, type TestBucket } from '#batch/bucket.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { postgresUrl, type S3Service, s3Bucket, startS3 } from '../support/services.ts';

const LONG_MS = 180_000;
const none = !(await postgresUrl()) || !(await s3Bucket());
const MODEL = 'lectern-static-v2';
const LINES = 200;
/** The input and the results are larger than a piece that stays in the database. */
const line = (at: number) => ({ custom_id: `line ${at}`, body: { input: `${'green tea '.repeat(60)}${at}` } });
const INPUT = Array.from({ length: LINES }, (_, at) => line(at));

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
type Any = any;

describe.skipIf(none)('servers with a bucket', { timeout: LONG_MS }, () => {
  let s3: S3Service;
  let bucket: TestBucket;
  /** One accepts jobs, and the other runs them. */
  let servers: readonly [TestServer, TestServer];
  beforeAll(async () => {
    s3 = (await startS3())!;
    const options = await s3.makeBucket('tea');
    const databaseUrl = (await postgresUrl())!;
    bucket = await openTestBucket(options, databaseUrl);
    const settings = {
      ...{ databaseUrl, auth: 'off', browser: 'none', indexMaxBytes: 0, limitStore: 'memory' },
      ...{ blobsUrl: options.url, blobsEndpoint: s3.url },
      blobsAccessKey: s3.credentials.accessKeyId,
      blobsSecretKey: s3.credentials.secretAccessKey,
    };
    servers = [await startServer({ ...settings, batchJobs: 0 }), await startServer(settings)];
  }, LONG_MS);
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server.close()));
    await bucket?.close();
    await s3?.close();
  }, LONG_MS);

  async function ask(server: 0 | 1, place: string, init: RequestInit = {}) {
    const answer = await fetch(servers[server].urls.model + place, init);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, retryAfter, text, body: (isJson ? JSON.parse(text) : undefined) as Any };
  }
  const submit = () =>
    ask(0, '/v1/batch/embeddings', { method: 'POST', body: JSON.stringify({ model: MODEL, input: INPUT }) });
  async function finished(): Promise<string> {
    const { status, body } = await submit();
    expect([status, body.detail]).toEqual([200, undefined]);
    await expect
      .poll(async () => (await ask(0, `/v1/batch/${body.batch_id}`)).body.status, { timeout: LONG_MS })
      .toBe('completed');
    return body.batch_id as string;
  }
  const upload = () => {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([Buffer.alloc(600_000, 'line\n')]), 'lines.jsonl');
    return fetch(`${servers[0].urls.compat}/v1/files`, { method: 'POST', body: form });
  };

  it('answer 503 with Retry-After while it is away, and serve results again afterwards', async () => {
    const id = await finished();
    const before = await ask(0, `/v1/batch/${id}/output`);
    expect(before.text.split('\n')).toHaveLength(LINES + 1);
    expect((await ask(1, `/v1/batch/${id}/output`)).text).toBe(before.text);
    const uploaded = await upload();
    const { id: fileId } = (await uploaded.json()) as Any;
    const content = () => fetch(`${servers[1].urls.compat}/v1/files/${fileId}/content`);
    expect((await (await content()).arrayBuffer()).byteLength).toBe(600_000);

    await s3.kill();
    for (const server of [0, 1] as const) {
      const { status, retryAfter } = await ask(server, `/v1/batch/${id}/output`);
      expect([status, Number(retryAfter)]).toEqual([503, expect.toSatisfy((seconds: number) => seconds > 0)]);
    }
    const refused = await submit();
    expect([refused.status, Number(refused.retryAfter) > 0]).toEqual([503, true]);
    for (const answer of [await upload(), await content()])
      expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect((await ask(0, '/v1/batches')).body).toHaveLength(1);

    await s3.start();
    const output = () => ask(0, `/v1/batch/${id}/output`);
    await expect.poll(async () => (await output()).text, { timeout: LONG_MS, interval: 300 }).toBe(before.text);
    await expect.poll(async () => (await submit()).status, { timeout: LONG_MS, interval: 300 }).toBe(200);
  });

  it('name the job whose results are damaged', async () => {
    const id = await finished();
    const [first, ...rest] = (await bucket.piecesOf(id, 'output')).flatMap(({ object }) => object ?? []);
    expect(rest.length).toBeGreaterThan(0);
    await bucket.damage(rest.at(-1)!, Buffer.from('{}\n'));
    // The response has begun, so it is broken off instead of ending early.
    await expect(ask(0, `/v1/batch/${id}/output`)).rejects.toThrow('terminated');
    await bucket.damage(first!, Buffer.from('{}\n'));
    const answer = await ask(0, `/v1/batch/${id}/output`);
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining(`output of batch job ${id}`)]);
  });
});
