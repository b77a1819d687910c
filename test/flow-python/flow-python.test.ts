/**
 * Tests a client and an executor of Python's gRPC implementation, generated from the protocol files, against ours.
 * Skipped if Debian's packages for it are not installed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, closeAll, flowOf, textsOf } from '../../src/flow/flow.suite.ts';
import { PROTO_FILES } from '../../src/flow/grpc/proto-files.ts';
import { createConnect, createGrpcGateway } from '../../src/flow/index.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { findProgram } from '../support/start-services.ts';

const PYTHON = '/usr/bin/python3';
const HERE = import.meta.dirname;
const plugin = findProgram('grpc_python_plugin');
const protoc = findProgram('protoc');
const isInstalled =
  plugin !== undefined &&
  protoc !== undefined &&
  existsSync(PYTHON) &&
  spawnSync(PYTHON, ['-c', 'import grpc, google.protobuf']).status === 0;

let folder: string;

/** Generates the stubs in a separate folder. The Python package already includes the stubs of protobuf's own types. */
function generate(): void {
  for (const [name, text] of Object.entries(PROTO_FILES)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const wanted = ['docarray.proto', 'jina.proto', 'grpc/health/v1/health.proto'];
  const { status, stderr } = spawnSync(
    protoc!,
    [
      `-I${folder}`,
      `--python_out=${folder}`,
      `--grpc_python_out=${folder}`,
      `--plugin=protoc-gen-grpc_python=${plugin}`,
      ...wanted,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
}

interface Message {
  header: { request_id?: string; status?: { code?: string; description: string; exception: Record<string, unknown> } };
  parameters?: Record<string, unknown>;
  routes?: { executor: string; start_time: string; end_time: string }[];
  data?: { docs?: { docs?: Record<string, never>[] } };
}

async function python(address: string, what: string, given: unknown): Promise<unknown> {
  const child = spawn(PYTHON, [path.join(HERE, 'client.py'), folder, address, what], { stdio: 'pipe' });
  child.stdin.end(JSON.stringify(given));
  let out = '';
  let errors = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(errors);
  return JSON.parse(out);
}

const calls = (address: string, how: string, ...given: unknown[]) => python(address, how, given) as Promise<Message[]>;
const docsOf = (message: Message | undefined) => (message?.data?.docs?.docs ?? []) as Record<string, unknown>[];

describe.skipIf(!isInstalled)('Python', () => {
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-python-'));
    generate();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe('as a client', () => {
    let address: string;
    let close: () => Promise<void>;
    beforeAll(async () => {
      const flow = await flowOf([
        { name: 'mark', uses: 'Mark' },
        { name: 'tell', uses: 'Tell' },
      ]);
      const gateway = createGrpcGateway({ flow, version: '1.2.3' });
      const { port } = await gateway.listen(0, '127.0.0.1');
      address = `127.0.0.1:${port}`;
      close = () => gateway.close(1000);
    });
    afterAll(async () => {
      await close();
      await closeAll();
    });

    it.each(['unary', 'stream', 'unary+gzip', 'stream+deflate'])('sends documents: %s', async (how) => {
      const half = '003c0040ff7b00fc';
      const answers = await calls(
        address,
        how,
        {
          id: 'r1',
          endpoint: '/x',
          docs: [
            { id: 'a', text: 'hello' },
            { id: 'b', half },
          ],
          parameters: { deep: { a: [1, null, true] } },
        },
        { id: 'r2', endpoint: '/x', docs: [] },
        { id: 'r3', endpoint: '/x', docs: [{ text: 'ü€😀' }] },
      );
      expect(answers.map(({ header }) => header.request_id)).toEqual(['r1', 'r2', 'r3']);
      const [first, second, third] = answers;
      expect(docsOf(first)).toMatchObject([
        { id: 'a', text: 'hello mark' },
        {
          id: 'b',
          text: 'mark',
          embedding: {
            cls_name: 'numpy',
            dense: { buffer: Buffer.from(half, 'hex').toString('base64'), shape: [4], dtype: '<f2' },
          },
        },
      ]);
      expect(first!.routes!.map(({ executor }) => executor)).toEqual(['gateway', 'mark', 'tell']);
      for (const { start_time, end_time } of first!.routes!)
        expect(Date.parse(end_time)).toBeGreaterThanOrEqual(Date.parse(start_time));
      expect(first!.parameters).toMatchObject({
        deep: { a: [1, null, true] },
        __results__: { 'tell/rep-0': { docs: 2, endpoint: '/x' } },
      });
      expect(docsOf(second)).toEqual([]);
      expect(docsOf(third)[0]!.text).toBe('ü€😀 mark');
    });

    it('receives health and version information', async () => {
      const about = (await python(address, 'about', [])) as Record<string, unknown>;
      expect(about).toMatchObject({
        dry_run: {},
        info: { jina: { jina: '1.2.3' } },
        health: { '': 1, 'jina.JinaRPC': 1, 'jina.Nothing': 'NOT_FOUND' },
        unknown: 'UNIMPLEMENTED',
      });
      expect(about.dry_run).toEqual({});
    });

    it('gets an error for a pickle, which is not decoded', async () => {
      // Unpickling this value would create a folder.
      const proof = path.join(folder, 'decoded');
      const pickle = spawnSync(PYTHON, [
        '-c',
        `import os, pickle\nclass Evil:\n  def __reduce__(self): return (os.mkdir, (${JSON.stringify(proof)},))\nprint(pickle.dumps(Evil()).hex())`,
      ])
        .stdout.toString()
        .trim();
      const [answer] = await calls(address, 'unary', { id: 'r1', endpoint: '/x', pickle });
      expect(answer!.header.status).toMatchObject({ code: 'ERROR', exception: { name: 'UnsupportedContent' } });
      expect(existsSync(proof)).toBe(false);
    });
  });

  describe('as an executor', () => {
    let child: ChildProcess;
    let port: number;
    beforeAll(async () => {
      child = spawn(PYTHON, [path.join(HERE, 'executor.py'), folder], { stdio: ['pipe', 'pipe', 'inherit'] });
      const [line] = await once(createInterface({ input: child.stdout! }), 'line');
      port = Number(line);
    });
    afterAll(async () => {
      child.stdin!.end();
      await once(child, 'exit');
      await closeAll();
    });

    const flowWith = () =>
      flowOf(
        [
          { name: 'first', uses: 'Mark' },
          {
            name: 'turn',
            external: true,
            host: '127.0.0.1',
            port,
            grpcMetadata: { key: 'value' },
            compression: 'Gzip',
          },
          { name: 'last', uses: 'Mark' },
        ],
        {},
        { connect: createConnect() },
      );

    it('works in one of our flows', async () => {
      const flow = await flowWith();
      expect(await flow.dryRun()).toEqual({ code: 0, description: '' });
      const answer = await ask(flow, { endpoint: '/turn', requestId: 'r1' });
      expect(textsOf(answer)).toEqual(['tsrif last']);
      expect(answer.docs[0]!.tags).toEqual({ request_id: 'r1', endpoint: '/turn', key: 'value' });
      const counted = await ask(flow, { endpoint: '/count' });
      expect(counted.parameters.__results__).toEqual({ 'turn/rep-0': { count: 1 } });
    });

    it('reports its failures', async () => {
      const flow = await flowWith();
      const answer = await ask(flow, { endpoint: '/fail' });
      expect(answer.header.status).toMatchObject({
        code: 1,
        description: "ValueError('boom', 42)",
        exception: { name: 'ValueError', args: ['boom', '42'], executor: 'Turn' },
      });
      expect(answer.routes.map(({ executor }) => executor)).toEqual(['gateway', 'first', 'turn']);
    });
  });

  describe('running the example', () => {
    let site: Site;
    let server: TestServer;
    beforeAll(async () => {
      const page =
        '<html lang="en"><head><title>Tap water</title></head><body><main><h1>Tap water</h1><p>The tap water of Lisbon is safe to drink: it is measured every day at forty places in the city.</p></main></body></html>';
      site = await startSite({ '/water': page });
      server = await startServer({ allowNetworks: site.allow, browser: 'none' });
    });
    afterAll(async () => {
      await server?.close();
      await site?.close();
    });

    it('indexes documents by URL, and answers questions with passages', async () => {
      const address = server.urls.grpc!.replace('grpc://', '');
      const [indexed] = await calls(address, 'unary', {
        endpoint: '/index',
        docs: [{ id: 'water', uri: `${site.origin}/water` }],
      });
      expect(indexed!.header.status).toBeUndefined();
      const [found] = await calls(address, 'stream', {
        endpoint: '/search',
        docs: [{ text: 'May I drink the water from the tap?' }],
      });
      const [match] = docsOf(found)[0]!.matches as Record<string, unknown>[];
      expect(match).toMatchObject({
        parent_id: 'water',
        uri: `${site.origin}/water`,
        text: expect.stringContaining('safe to drink'),
      });
    });
  });
});
