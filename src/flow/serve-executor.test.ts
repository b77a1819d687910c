/** Tests of a served executor, called the way gateways call it (docs/reference/wire/flow.md, Executors over gRPC). */
import * as grpc from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { type AddOptions, defineFlow } from './definition/define-flow.ts';
import type { Call } from './executor.ts';
import { EXECUTORS, texts, textsOf } from './flow.suite.ts';
import { decodeRequest, encodeRequest, encodeRequestList, endpointsProto, infoProto } from './proto/codec.ts';
import { createRequest, type RequestInit } from './request.ts';
import { type ServeExecutorOptions, serveExecutor } from './serve-executor.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const same = (bytes: Buffer) => bytes;
const EMPTY = Buffer.alloc(0);
const SINGLE = '/jina.JinaSingleDataRequestRPC/process_single_data';
const LIST = '/jina.JinaDataRequestRPC/process_data';

async function executorOf(options: AddOptions, how: Partial<ServeExecutorOptions> = {}) {
  const [definition] = defineFlow().add(options).definition().deployments;
  const server = await serveExecutor({
    definition: definition!,
    port: 0,
    host: '127.0.0.1',
    version: '1.2.3',
    executors: EXECUTORS,
    ...how,
  });
  open.push({ close: () => server.close(100) });
  const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  open.push(client);
  return { server, client };
}

function ask(client: grpc.Client, method: string, message: Uint8Array = EMPTY, metadata = new grpc.Metadata()) {
  return new Promise<{ bytes: Buffer; isError: unknown }>((resolve, reject) => {
    let bytes: Buffer = EMPTY;
    const call = client.makeUnaryRequest(method, same, same, Buffer.from(message), metadata, (error, value) => {
      if (error) reject(error);
      bytes = value ?? EMPTY;
    });
    call.on('status', (status) => resolve({ bytes, isError: status.metadata.get('is-error')[0] }));
  });
}

const requestOf = (init: RequestInit = {}) => createRequest({ endpoint: '/x', ...init });

describe('an executor served on its own', () => {
  it('answers a request', async () => {
    const { client } = await executorOf({ uses: 'Mark', name: 'mark' });
    const { bytes, isError } = await ask(
      client,
      SINGLE,
      encodeRequest(requestOf({ requestId: 'r', docs: texts('a') })),
    );
    const answer = decodeRequest(bytes);
    expect(answer.header.requestId).toBe('r');
    expect(textsOf(answer)).toEqual(['a mark']);
    expect(isError).toBeUndefined();
  });

  it('marks a failure in the trailing metadata', async () => {
    const { client } = await executorOf({ uses: 'Fail', name: 'fail' });
    for (const [method, message] of [
      [SINGLE, encodeRequest(requestOf())],
      [LIST, encodeRequestList([requestOf(), requestOf()])],
    ] as const) {
      const { bytes, isError } = await ask(client, method, message);
      expect(isError).toBe('true');
      expect(decodeRequest(bytes).header.status).toMatchObject({
        code: 1,
        exception: { name: 'RangeError', executor: 'Fail' },
      });
    }
  });

  it('accepts the parts of a join as one list each', async () => {
    const run = ({ docsMatrix, docsMap, docs }: Call) => ({
      lists: docsMatrix!.map((part) => part.map(({ text }) => text)),
      names: Object.keys(docsMap!),
      docs: docs.length,
    });
    const { client } = await executorOf({ uses: 'Run', name: 'join', usesWith: { run } });
    const [one, two] = [requestOf({ docs: texts('a') }), requestOf({ docs: texts('b', 'c') })];
    one.routes.push({ executor: 'left' });
    two.routes.push({ executor: 'right' });
    const { bytes } = await ask(client, LIST, encodeRequestList([one, two]));
    expect(decodeRequest(bytes).parameters.__results__).toEqual({
      'join/rep-0': { lists: [['a'], ['b', 'c']], names: ['left', 'right'], docs: 3 },
    });
    await expect(ask(client, LIST)).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  });

  it('passes unbound requests through and reports its endpoints', async () => {
    const { client } = await executorOf({ uses: 'BaseExecutor', name: 'nothing' });
    const { bytes } = await ask(client, SINGLE, encodeRequest(requestOf({ docs: texts('a') })));
    expect(textsOf(decodeRequest(bytes))).toEqual(['a']);
    const found = endpointsProto.decode((await ask(client, '/jina.JinaDiscoverEndpointsRPC/endpoint_discovery')).bytes);
    expect(found.endpoints).toEqual(['_jina_dry_run_']);
    const other = await executorOf({ uses: 'Mark', usesRequests: { '/y': 'mark' } });
    const more = endpointsProto.decode(
      (await ask(other.client, '/jina.JinaDiscoverEndpointsRPC/endpoint_discovery')).bytes,
    );
    expect(new Set(more.endpoints)).toEqual(new Set(['/default', '/y', '_jina_dry_run_']));
  });

  it('lists only services that other gateways know', async () => {
    const { client } = await executorOf({ uses: 'Mark' });
    const method = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo';
    const call = client.makeBidiStreamRequest(method, same, same, new grpc.Metadata());
    call.write(Buffer.from([0x3a, 1, 0x2a]));
    call.end();
    const [answer] = (await call.toArray()) as [Buffer];
    expect(new Set(answer.toString('latin1').match(/(?:jina|grpc)\.[\w.]+/g))).toEqual(
      new Set([
        'jina.JinaSingleDataRequestRPC',
        'jina.JinaDataRequestRPC',
        'jina.JinaDiscoverEndpointsRPC',
        'jina.JinaInfoRPC',
        'jina.JinaRPC',
        'grpc.reflection.v1alpha.ServerReflection',
      ]),
    );
  });

  it('answers streams and status but has no dry run', async () => {
    const { client } = await executorOf({ uses: 'Mark', name: 'mark' });
    const call = client.makeBidiStreamRequest('/jina.JinaRPC/Call', same, same, new grpc.Metadata());
    call.end(Buffer.from(encodeRequest(requestOf({ docs: texts('a') }))));
    const answers = ((await call.toArray()) as Buffer[]).map(decodeRequest);
    expect(answers.map(textsOf)).toEqual([['a mark']]);
    expect(infoProto.decode((await ask(client, '/jina.JinaInfoRPC/_status')).bytes).jina.get('jina')).toBe('1.2.3');
    expect([...(await ask(client, '/grpc.health.v1.Health/Check')).bytes]).toEqual([8, 1]);
    await expect(ask(client, '/jina.JinaGatewayDryRunRPC/dry_run')).rejects.toMatchObject({
      code: grpc.status.UNIMPLEMENTED,
    });
  });

  it('never decodes pickled documents', async () => {
    const { client } = await executorOf({ uses: 'Mark' });
    const request = { ...requestOf(), docsBytes: Buffer.from('\x80\x04N.', 'latin1') };
    for (const [method, message] of [
      [SINGLE, encodeRequest(request)],
      [LIST, encodeRequestList([requestOf(), request])],
    ] as const) {
      const { bytes, isError } = await ask(client, method, message);
      expect(isError).toBe('true');
      expect(decodeRequest(bytes).header.status?.exception?.name).toBe('UnsupportedContent');
    }
  });

  it('receives forwarded headers and ignores invalid ones', async () => {
    const { client } = await executorOf({ uses: 'Tell', name: 'tell' });
    for (const [value, headers] of [
      ['{"x-tenant":"t1"}', { 'x-tenant': 't1' }],
      ['{', {}],
    ] as const) {
      const metadata = new grpc.Metadata();
      metadata.set('lectern-headers-bin', Buffer.from(value));
      const { bytes } = await ask(client, SINGLE, encodeRequest(requestOf()), metadata);
      expect(decodeRequest(bytes).parameters.__results__).toMatchObject({ 'tell/rep-0': { headers } });
    }
  });

  it('reports when it has closed itself', async () => {
    let exits = 0;
    const { client } = await executorOf({ uses: 'Fail', exitOnExceptions: ['RangeError'] }, { onExit: () => exits++ });
    expect((await ask(client, SINGLE, encodeRequest(requestOf()))).isError).toBe('true');
    expect(exits).toBe(1);
    await expect(ask(client, SINGLE, encodeRequest(requestOf()))).rejects.toMatchObject({
      code: grpc.status.UNAVAILABLE,
    });
    expect(exits).toBe(1);
  });

  it('reports why it cannot start and leaves nothing open', async () => {
    await expect(executorOf({ uses: 'Nobody', name: 'who' })).rejects.toMatchObject({
      name: 'FaceNotReadyError',
      message: expect.stringContaining('there is no executor Nobody'),
    });
    const { server } = await executorOf({ uses: 'Mark' });
    await expect(executorOf({ uses: 'Mark' }, { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
