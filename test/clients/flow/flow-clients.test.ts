/**
 * Python clients of every generation, written from the protocol specification, with one gateway. They send the same
 * data as the stock clients, and fail in the same cases. Skipped if Debian's packages for them are not installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROTO_FILES } from '../../../src/flow/grpc/proto-files.ts';
import { defineFlow, type FlowServer, serveFlow } from '../../../src/flow/index.ts';
import { Marker } from '../../support/flow-gateway.ts';
import { findProgram } from '../../support/start-services.ts';

const PYTHON = '/usr/bin/python3';
const HERE = import.meta.dirname;
const protoc = findProgram('protoc');
const plugin = findProgram('grpc_python_plugin');
const isInstalled =
  protoc !== undefined &&
  plugin !== undefined &&
  existsSync(PYTHON) &&
  spawnSync(PYTHON, ['-c', 'import grpc, google.protobuf, aiohttp, websockets']).status === 0;

const OLD = ['old_v1.proto', 'old_v2.proto'];
const STUBS = [
  'docarray.proto',
  'jina.proto',
  'grpc/health/v1/health.proto',
  'grpc/reflection/v1alpha/reflection.proto',
];

function generateStubs(folder: string): void {
  for (const [name, text] of Object.entries(PROTO_FILES)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  for (const name of OLD) copyFileSync(path.join(HERE, name), path.join(folder, name));
  const { status, stderr } = spawnSync(
    protoc!,
    [
      `-I${folder}`,
      `--python_out=${folder}`,
      `--grpc_python_out=${folder}`,
      `--plugin=protoc-gen-grpc_python=${plugin}`,
      ...STUBS,
      ...OLD,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
}

/** Runs a client and returns its output. */
async function run(client: string, ...args: string[]): Promise<Record<string, unknown>> {
  const child = spawn(PYTHON, [path.join(HERE, client), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { out: '', errors: '' };
  child.stdout.on('data', (text) => {
    texts.out += text;
  });
  child.stderr.on('data', (text) => {
    texts.errors += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(texts.errors);
  return JSON.parse(texts.out);
}

describe.skipIf(!isInstalled)('clients in Python', () => {
  let folder: string;
  let server: FlowServer;
  let http: string;
  let websocket: string;
  let grpc: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-flow-clients-'));
    generateStubs(folder);
    const definition = defineFlow({ protocol: ['HTTP', 'WEBSOCKET', 'GRPC'], host: '127.0.0.1' })
      .add({ name: 'pass', uses: '_pass' })
      .add({ name: 'marker', uses: Marker })
      .definition();
    server = await serveFlow({ definition, version: '1.2.3' });
    [http, websocket, grpc] = server.places.map(({ url }) => url) as [string, string, string];
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const address = () => grpc.replace('grpc://', '');

  it('of generation 3 over HTTP', async () => {
    expect(await run('http_client.py', http)).toEqual({
      ready: true,
      texts: ['a!', 'a!', 'a!', 'a!', 'a!'],
      parameters: 'a+',
      target: 'a',
      empty: [],
      results: { 'marker/rep-0': { count: 1 } },
      failure: [1, 'RangeError'],
      granularity: [null, 3],
    });
  });

  it.each(['HTTP', 'WEBSOCKET'])('of generation 3 over WebSocket on the port of %s', async (protocol) => {
    const url = protocol === 'HTTP' ? http.replace('http', 'ws') : websocket;
    expect(await run('websocket_client.py', folder, url)).toEqual({
      ready: true,
      protocol: 'bytes',
      unanswered: 0,
      close: 1000,
      texts: ['0!', '1!', '2!'],
      granularity: [0, 3],
      failure: 'RangeError',
      routes: ['gateway', 'pass', 'marker'],
    });
  });

  it('of generation 3 over gRPC, and a gateway that uses this one as an executor', async () => {
    expect(await run('grpc_client.py', folder, address())).toEqual({
      ready: 0,
      texts: ['0!', '1!', '2!'],
      granularity: [0, 3],
      health: [1, 1],
      executor: {
        services: [
          'jina.JinaDiscoverEndpointsRPC',
          'jina.JinaInfoRPC',
          'jina.JinaRPC',
          'jina.JinaSingleDataRequestRPC',
        ],
        endpoints: ['/index', '/default', '_jina_dry_run_'],
        texts: ['a!'],
        trailers: [null, 'true'],
        version: '1.2.3',
      },
      described: { methods: ['Call'], optional: true, map: true },
    });
  });

  it('of generations 1 and 2 over REST, WebSocket and gRPC', async () => {
    const v1 = {
      texts: ['a!'],
      array: ['0000803f', [1], '<f4'],
      hash: 16,
      queryset: ['SliceQL'],
      pods: ['gateway', 'pass', 'marker', 'gateway'],
      ids: ['d1', 'd2'],
      status: 'READY',
    };
    const v2 = { texts: ['a+'], endpoint: '/foo', code: 0, pods: ['gateway', 'pass', 'marker'] };
    expect(await run('old_client.py', folder, http, address())).toEqual({
      rest: {
        kind: ['search'],
        texts: ['a!'],
        pods: ['gateway', 'pass', 'marker', 'gateway'],
        status: { code: 'READY' },
        version: '1.2.3',
      },
      v1,
      v2: { ...v2, close: 1000 },
      grpc: { v1, v2: [v2, { ...v2, texts: ['a'], endpoint: '/fail', code: 3 }] },
    });
  });
});
