// Full run only: downloads from a local server.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTrustedFetch, type TrustedFetch } from '#net/trusted.ts';
import { testEmbeddingRow } from '../onnx/test-model.suite.ts';
import { createHub, type Hub, type HubOptions, type PullPlan, type PullProgress } from './hub.ts';
import { COMMIT, startTestHub, type TestHub } from './hub-server.suite.ts';

const quiet = { info() {}, warn() {} };
const GRAPH = 'onnx/model.onnx';
const row = testEmbeddingRow();
const runs = (given: object) => testEmbeddingRow({ runs: { on: 'onnx', file: GRAPH, ...given } });

let dir: string;
let server: TestHub;
let fetch: TrustedFetch;
let graph: Buffer;
const hubs: Hub[] = [];

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'hub-'));
  server = await startTestHub(row.hub);
  fetch = createTrustedFetch({ region: 'any', euHosts: [], log: quiet });
  graph = randomBytes(300_000);
  server.files.set(GRAPH, { bytes: graph, large: true });
  server.files.set('tokenizer.json', { bytes: Buffer.from('{"model":{}}'), large: false });
  server.files.set('tokenizer_config.json', { bytes: Buffer.from('{}'), large: false });
});

afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close();
  await fetch.close();
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

function hubWith(given: Partial<HubOptions> = {}): Hub {
  const hub = createHub({ dir, url: server.url, fetch, download: 'on', log: quiet, retryMs: 5, ...given });
  hubs.push(hub);
  return hub;
}

/** Closes the connection whenever the file has grown. */
function cutOnProgress(): (progress: PullProgress) => void {
  let most = 0;
  return ({ file, fileBytes }) => {
    if (file !== GRAPH || fileBytes <= most) return;
    most = fileBytes;
    server.cut();
  };
}

const failure = async (work: Promise<unknown>) => (await work.catch((error: unknown) => error)) as Error;
const requestsOf = (start: string) => server.requests.filter((line) => line.startsWith(start));
const leftovers = async () =>
  (await readdir(dir, { recursive: true })).filter((name) => /\.(?:part|lock|new)$/.test(name));

describe('a download', () => {
  it('fetches the files of one commit, after reporting the plan', async () => {
    const plans: PullPlan[] = [];
    const progress: PullProgress[] = [];
    const done = await hubWith().pull(row, {
      onPlan: (plan) => plans.push(plan),
      onProgress: (one) => progress.push(one),
    });
    expect(done.commit).toBe(COMMIT);
    expect(await readFile(path.join(done.folder, GRAPH))).toEqual(graph);
    expect(plans).toMatchObject([{ id: 'test-encoder', bytes: 300_014, licence: 'Apache-2.0', nonCommercial: false }]);
    expect(progress.at(-1)).toMatchObject({ file: GRAPH, bytes: 300_014, total: 300_014 });
    expect(requestsOf('GET').slice(0, 2)).toEqual([
      `GET /tests/encoder/resolve/main/tokenizer.json`,
      `GET /tests/encoder/resolve/${COMMIT}/tokenizer_config.json`,
    ]);
    expect(await leftovers()).toEqual([]);
  });

  it('is not repeated, not even after a restart', async () => {
    await hubWith().pull(row);
    const count = server.requests.length;
    const files = await hubWith().files(row);
    expect(server.requests.length).toBe(count);
    expect(files.graph).toMatch(/onnx.model\.onnx$/);
  });

  it('is shared by concurrent requests, in one process and in several', async () => {
    const [one, other] = [hubWith(), hubWith()];
    await Promise.all([one.pull(row), one.files(row), other.pull(row)]);
    expect(requestsOf('cdn GET')).toHaveLength(1);
  });

  it('takes over the lock of a process that has exited', async () => {
    const lock = path.join(dir, 'tests--encoder@main.lock');
    await writeFile(lock, '1 gone');
    const long = new Date(Date.now() - 3_600_000);
    await utimes(lock, long, long);
    await hubWith().pull(row);
    expect(await leftovers()).toEqual([]);
  });

  it('works without a tokenizer configuration if the repository has none', async () => {
    server.files.delete('tokenizer_config.json');
    expect(await hubWith().onDisk(row)).toBeUndefined();
    await hubWith().pull(row);
    expect(await hubWith().onDisk(row)).toMatchObject({ bytes: 300_012, commit: COMMIT });
  });

  it('fetches weights beside the graph, and from another repository if the row names one', async () => {
    server.files.set('onnx/model.onnx_data', { bytes: Buffer.from('weights'), large: true });
    const wide = testEmbeddingRow({
      hub: 'owner/original',
      runs: { on: 'onnx', repository: row.hub, file: GRAPH, data: { [GRAPH]: ['onnx/model.onnx_data'] } },
    });
    const { folder } = await hubWith().pull(wide);
    expect(await readFile(path.join(folder, 'onnx/model.onnx_data'), 'utf8')).toBe('weights');
  });

  it('follows the redirect of a renamed repository', async () => {
    const { folder } = await hubWith().pull({ ...row, hub: 'tests/renamed' });
    expect(await readFile(path.join(folder, GRAPH))).toEqual(graph);
  });

  it('sends its token only to the hub', async () => {
    await hubWith({ token: 'hf_secret' }).pull(row);
    const tokens = server.requests.map((line, at) => [line.startsWith('cdn'), server.headers[at]!.authorization]);
    expect(tokens.filter(([isCdn]) => isCdn).map(([, token]) => token)).toEqual([undefined]);
    expect(tokens.filter(([isCdn]) => !isCdn).every(([, token]) => token === 'Bearer hf_secret')).toBe(true);
  });
});

describe('an interrupted transfer', () => {
  it('resumes where it stopped', async () => {
    server.disturb = ({ count }) => (count < 2 ? { hangAfter: 100_000 } : undefined);
    const { folder } = await hubWith().pull(row, { onProgress: cutOnProgress() });
    expect(await readFile(path.join(folder, GRAPH))).toEqual(graph);
    const ranges = requestsOf('cdn GET').map((line) => line.split(' ')[3]);
    expect(ranges).toHaveLength(3);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range!))).toBe(true);
  });

  it('is resumed by the next process', async () => {
    server.disturb = () => ({ hangAfter: 100_000 });
    const stop = new AbortController();
    const broken = hubWith().pull(row, {
      signal: stop.signal,
      onProgress: ({ fileBytes, fileTotal }) => {
        if (fileTotal === 300_000 && fileBytes > 0) stop.abort(new Error('enough'));
      },
    });
    expect((await failure(broken)).message).toBe('enough');
    server.disturb = () => undefined;
    server.requests.length = 0;
    await hubWith().pull(row);
    expect(requestsOf('cdn GET')[0]).toMatch(/bytes=[1-9]\d*-$/);
  });

  it('restarts if the server does not support ranges', async () => {
    server.disturb = ({ count }) => (count === 0 ? { hangAfter: 100_000 } : { ignoreRange: true });
    const { folder } = await hubWith().pull(row, { onProgress: cutOnProgress() });
    expect(await readFile(path.join(folder, GRAPH))).toEqual(graph);
  });

  it('is resumed when no more bytes arrive', async () => {
    server.disturb = ({ count }) => (count === 0 ? { hangAfter: 50_000 } : undefined);
    const { folder } = await hubWith({ stallMs: 1_000 }).pull(row);
    expect(await readFile(path.join(folder, GRAPH))).toEqual(graph);
  });

  it('fails after several attempts without progress', async () => {
    server.disturb = () => ({ status: 500 });
    const error = await failure(hubWith().pull(row));
    expect(error).toMatchObject({ name: 'DownstreamServiceFailureError' });
    expect(error.message).toBe('Could not download model test-encoder: The download from the hub failed repeatedly');
    expect(await hubWith().onDisk(row)).toBeUndefined();
  });
});

describe('wrong bytes', () => {
  it('are refused by their SHA-256, and no file is kept', async () => {
    const wrong = Buffer.from(graph);
    wrong[150_000] = wrong[150_000]! ^ 1;
    server.disturb = () => ({ bytes: wrong });
    expect((await failure(hubWith().pull(row))).message).toContain('does not match its checksum');
    expect(await hubWith().onDisk(row)).toBeUndefined();
    expect(await leftovers()).toEqual([]);
    server.disturb = () => undefined;
    await hubWith().pull(row);
  });

  it('are refused if there are too many', async () => {
    server.disturb = () => ({ bytes: Buffer.concat([graph, graph]) });
    expect((await failure(hubWith().pull(row))).message).toContain('does not match its checksum');
  });

  it('are refused if the row has another SHA-256', async () => {
    const own = createHash('sha256').update(graph).digest('hex');
    await hubWith().pull(runs({ sha256: { [GRAPH]: own } }));
    await hubWith().remove(row);
    const other = runs({ sha256: { [GRAPH]: 'ab'.repeat(32) } });
    expect((await failure(hubWith().pull(other))).message).toContain('a different version');
  });

  it('are downloaded again if the file was truncated later', async () => {
    const { folder } = await hubWith().pull(row);
    await writeFile(path.join(folder, GRAPH), graph.subarray(0, 10));
    expect(await hubWith().onDisk(row)).toBeUndefined();
    await hubWith().pull(row);
    expect(await readFile(path.join(folder, GRAPH))).toEqual(graph);
  });
});

describe('without the hub', () => {
  it('says what to do if downloads are off', async () => {
    const error = await failure(hubWith({ download: 'off' }).files(row));
    expect(error.message).toContain('`lectern models pull test-encoder`');
    expect(server.requests).toEqual([]);
  });

  it('says what to do if it cannot be reached', async () => {
    await server.close();
    const error = await failure(hubWith().files(row));
    expect(error).toMatchObject({ name: 'DownstreamServiceFailureError' });
    expect(error.message).toContain('cannot be reached');
    expect(error.message).toContain('copy the models folder');
    expect(error.message).not.toMatch(/127\.0\.0\.1|lectern models pull/);
  });

  it('says that a repository lacks the file', async () => {
    server.files.delete(GRAPH);
    expect((await failure(hubWith().pull(row))).message).toContain(`no file ${GRAPH}`);
  });

  it('uses a folder of the operator as it is', async () => {
    const own = runs({ folder: dir, file: 'model.onnx' });
    expect((await failure(hubWith().files(own))).message).toContain('is missing or incomplete');
    await writeFile(path.join(dir, 'model.onnx'), 'graph');
    await writeFile(path.join(dir, 'tokenizer.json'), '{}');
    expect((await hubWith().files(own)).graph).toBe(path.join(dir, 'model.onnx'));
    expect(await hubWith().remove(own)).toBe(false);
    expect(server.requests).toEqual([]);
  });
});

it('removes downloaded files', async () => {
  const hub = hubWith();
  expect(await hub.remove(row)).toBe(false);
  await hub.pull(row);
  expect(await hub.remove(row)).toBe(true);
  expect(await hub.onDisk(row)).toBeUndefined();
});
