/** The gRPC gateway over real sockets, with the client of the gRPC library. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { AddOptions } from '../../src/flow/definition/define-flow.ts';
import { Document } from '../../src/flow/document.ts';
import type { Call } from '../../src/flow/executor.ts';
import { closeAll, flowOf, texts, textsOf } from '../../src/flow/flow.suite.ts';
import { createGrpcGateway, type GrpcGatewayTools } from '../../src/flow/gateway/grpc.ts';
import { NdArray } from '../../src/flow/ndarray.ts';
import {
  decodeRequest,
  decodeSingleDocument,
  decodeStatus,
  encodeRequest,
  encodeSingleDocument,
  endpointsProto,
  infoProto,
} from '../../src/flow/proto/codec.ts';
import { createOldPeer } from '../../src/flow/proto/old-protocol.suite.ts';
import { createPeers } from '../../src/flow/proto/protocol.suite.ts';
import { createConnect } from '../../src/flow/remote/worker.ts';
import { createRequest, type DataRequest, type RequestInit } from '../../src/flow/request.ts';
import { findProgram } from '../support/start-services.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await closeAll();
});

async function gatewayOf(
  deployments: readonly AddOptions[],
  options: Record<string, unknown> = {},
  tools: Partial<GrpcGatewayTools> = {},
) {
  const flow = await flowOf(deployments, options, { connect: createConnect() });
  const gateway = createGrpcGateway({ flow, version: '1.2.3', ...tools });
  const { port } = await gateway.listen(0, '127.0.0.1');
  open.push({ close: () => gateway.close(1000) });
  return { gateway, client: clientOf(port), port, flow };
}

function clientOf(port: number, credentials = grpc.credentials.createInsecure(), options: grpc.ClientOptions = {}) {
  const client = new grpc.Client(`127.0.0.1:${port}`, credentials, {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    ...options,
  });
  open.push(client);
  return client;
}

const same = (bytes: Buffer) => bytes;
const bytesOf = (init: RequestInit = {}) => Buffer.from(encodeRequest(createRequest({ endpoint: '/x', ...init })));

const SINGLE = '/jina.JinaSingleDataRequestRPC/process_single_data';
const CALL = '/jina.JinaRPC/Call';
const EMPTY = Buffer.alloc(0);

function unary(
  client: grpc.Client,
  method: string,
  message: Buffer = EMPTY,
  metadata: Record<string, string> = {},
  options: grpc.CallOptions = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const all = new grpc.Metadata();
    for (const [key, value] of Object.entries(metadata)) all.set(key, value);
    client.makeUnaryRequest(method, same, same, message, all, options, (error, value) =>
      error ? reject(error) : resolve(value!),
    );
  });
}

const single = async (client: grpc.Client, init: RequestInit = {}, metadata = {}): Promise<DataRequest> =>
  decodeRequest(await unary(client, SINGLE, bytesOf(init), metadata));

type Duplex = grpc.ClientDuplexStream<Buffer, Buffer>;

/** All responses of a call, and how the call ended. */
function outcome(call: Duplex): Promise<{ answers: DataRequest[]; code: number; details: string }> {
  const answers: DataRequest[] = [];
  call.on('data', (bytes: Buffer) => answers.push(decodeRequest(bytes)));
  call.on('error', () => {});
  return new Promise((resolve) => {
    call.on('status', ({ code, details }) => resolve({ answers, code, details }));
  });
}

function stream(client: grpc.Client, messages: readonly Buffer[], metadata: Record<string, string> = {}) {
  const all = new grpc.Metadata();
  for (const [key, value] of Object.entries(metadata)) all.set(key, value);
  const call = client.makeBidiStreamRequest(CALL, same, same, all);
  const ended = outcome(call);
  for (const message of messages) call.write(message);
  call.end();
  return ended;
}

/** An executor whose calls wait until the test releases them by request id. */
function gate() {
  const waiting = new Map<string, () => void>();
  const signals = new Map<string, AbortSignal>();
  let most = 0;
  const run = async ({ requestId, signal }: Call): Promise<void> => {
    signals.set(requestId, signal);
    await new Promise<void>((resolve) => {
      waiting.set(requestId, resolve);
      most = Math.max(most, waiting.size);
    });
    waiting.delete(requestId);
  };
  return {
    uses: { uses: 'Run', name: 'gate', usesWith: { run } } satisfies AddOptions,
    signals,
    most: () => most,
    async arrived(id: string) {
      await expect.poll(() => waiting.has(id), { timeout: 20_000 }).toBe(true);
    },
    release: (id: string) => waiting.get(id)!(),
  };
}

const idsOf = (answers: readonly DataRequest[]) => answers.map(({ header }) => header.requestId);

describe('one request at a time', () => {
  it('answers with the id and the routes', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const answer = await single(client, { requestId: 'r1', docs: texts('hello') });
    expect(answer.header).toMatchObject({ requestId: 'r1', execEndpoint: '/x' });
    expect(answer.header.status).toBeUndefined();
    expect(textsOf(answer)).toEqual(['hello a']);
    expect(answer.routes.map(({ executor }) => executor)).toEqual(['gateway', 'a']);
  });

  it('takes an id from the metadata, and headers that the flow lets through', async () => {
    const { client } = await gatewayOf([{ uses: 'Tell', name: 'tell' }], { headers: ['X-Tenant'] });
    const answer = await single(
      client,
      { requestId: '' },
      { 'x-request-id': 'from-outside', 'x-tenant': 't1', secret: 's' },
    );
    expect(answer.header.requestId).toBe('from-outside');
    expect(answer.parameters.__results__).toMatchObject({ 'tell/rep-0': { headers: { 'x-tenant': 't1' } } });
  });

  it('reports the failure of an executor in the answer', async () => {
    const { client } = await gatewayOf([{ uses: 'Fail', name: 'fail' }]);
    const { header } = await single(client);
    expect(header.status).toMatchObject({ code: 1, exception: { name: 'RangeError', args: ['boom', '42'] } });
  });

  it('takes a message without a byte for an empty request to /', async () => {
    const { client } = await gatewayOf([{ uses: 'Tell', name: 'tell' }]);
    const answer = decodeRequest(await unary(client, SINGLE));
    expect(answer.parameters.__results__).toMatchObject({ 'tell/rep-0': { endpoint: '/', docs: 0 } });
  });

  it('never decodes pickles', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const bytes = encodeRequest({
      ...createRequest({ endpoint: '/x' }),
      docsBytes: Buffer.from('\x80\x04N.', 'latin1'),
    });
    const { header, docs } = decodeRequest(await unary(client, SINGLE, Buffer.from(bytes)));
    expect(header.status).toMatchObject({ code: 1, exception: { name: 'UnsupportedContent' } });
    expect(docs).toEqual([]);
  });

  it('refuses bytes that are no message, and patterns that are none', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const bad = unary(client, SINGLE, Buffer.from('this is not protobuf'));
    await expect(bad).rejects.toMatchObject({
      code: grpc.status.INVALID_ARGUMENT,
      details: expect.stringContaining('DataRequestProto'),
    });
    const { header } = await single(client, { requestId: 'r', targetExecutor: '(' });
    expect(header).toMatchObject({ requestId: 'r', status: { code: 1, exception: { name: 'ValidationError' } } });
  });

  it('carries 60 MB, and rejects more than maxBodyBytes', async () => {
    const { client } = await gatewayOf([{ uses: 'BaseExecutor', name: 'a' }]);
    const blob = Buffer.alloc(60 * 2 ** 20, 7);
    const answer = await single(client, { docs: [new Document({ blob })] });
    expect(Buffer.compare(answer.docs[0]!.blob!, blob)).toBe(0);
    const small = await gatewayOf([{ uses: 'BaseExecutor' }], { maxBodyBytes: 10_000 });
    await expect(single(small.client, { docs: [new Document({ blob: Buffer.alloc(10_001) })] })).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
    });
    expect(textsOf(await single(small.client, { docs: texts('fits') }))).toEqual(['fits']);
  });

  it.each([1, 2])('decompresses algorithm %i, and rejects messages that become too large', async (algorithm) => {
    const { port } = await gatewayOf([{ uses: 'Mark', name: 'a' }], { maxBodyBytes: 100_000 });
    const client = clientOf(port, undefined, { 'grpc.default_compression_algorithm': algorithm });
    expect(textsOf(await single(client, { docs: texts('x'.repeat(5000)) }))).toEqual([`${'x'.repeat(5000)} a`]);
    await expect(single(client, { docs: texts('x'.repeat(200_000)) })).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
    });
  });

  it('keeps arrays byte for byte', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const buffer = Buffer.from('3c003c01', 'hex');
    const embedding = NdArray.fromDense({ buffer, shape: [2], dtype: '>f2' }, { clsName: 'torch' });
    const { docs } = await single(client, { docs: [new Document({ embedding })] });
    expect(docs[0]!.embedding).toMatchObject({ clsName: 'torch', dense: { shape: [2], dtype: '>f2' } });
    expect(Buffer.from(docs[0]!.embedding!.dense!.buffer).toString('hex')).toBe('3c003c01');
  });

  it('ends at its deadline and aborts the work', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses]);
    const asked = unary(client, SINGLE, bytesOf({ requestId: 'late' }), {}, { deadline: Date.now() + 1000 });
    asked.catch(() => {});
    await work.arrived('late');
    await expect(asked).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
    await expect.poll(() => work.signals.get('late')!.aborted, { timeout: 20_000 }).toBe(true);
  });

  it('does not abort floating executors after the answer', async () => {
    const work = gate();
    const { client } = await gatewayOf([
      { uses: 'Mark', name: 'a' },
      { ...work.uses, needs: 'gateway', floating: true },
    ]);
    await single(client, { requestId: 'r' });
    await work.arrived('r');
    await single(client, { requestId: 's' });
    await work.arrived('s');
    expect(work.signals.get('r')!.aborted).toBe(false);
    for (const id of ['r', 's']) work.release(id);
  });

  it('ends after the timeout of the gateway', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses], { requestTimeout: 50 });
    await expect(single(client, { requestId: 'r' })).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
    expect(work.signals.get('r')!.aborted).toBe(true);
  });
});

describe('a stream', () => {
  it('answers each request once, in the order of completion', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses]);
    const ended = stream(
      client,
      ['a', 'b', 'c'].map((requestId) => bytesOf({ requestId })),
    );
    for (const id of ['a', 'b', 'c']) await work.arrived(id);
    for (const id of ['c', 'a', 'b']) {
      work.release(id);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { answers, code } = await ended;
    expect(idsOf(answers)).toEqual(['c', 'a', 'b']);
    expect(code).toBe(grpc.status.OK);
  });

  it('answers in the order of the requests if asked to, with a limited number at a time', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses]);
    const ids = ['a', 'b', 'c', 'd'];
    const ended = stream(
      client,
      ids.map((requestId) => bytesOf({ requestId })),
      { __results_in_order__: 'true', __prefetch__: '2' },
    );
    await work.arrived('a');
    await work.arrived('b');
    work.release('b');
    work.release('a');
    for (const id of ['c', 'd']) {
      await work.arrived(id);
      work.release(id);
    }
    expect(idsOf((await ended).answers)).toEqual(ids);
    expect(work.most()).toBe(2);
  });

  it('takes 500 requests, empty ones among them', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }], { prefetch: 7 });
    const ids = Array.from({ length: 500 }, (_, at) => `r${at}`);
    const messages = ids.map((requestId) => bytesOf({ requestId, docs: texts(requestId) }));
    const { answers, code } = await stream(client, [...messages, EMPTY]);
    expect(code).toBe(grpc.status.OK);
    expect(new Set(idsOf(answers))).toEqual(new Set([...ids, '']));
    for (const { header, docs } of answers)
      expect(docs.map(({ text }) => text)).toEqual(header.requestId ? [`${header.requestId} a`] : []);
  });

  it('continues after a failed executor or an invalid pattern', async () => {
    const { client } = await gatewayOf([{ uses: 'Fail', name: 'fail' }]);
    const messages = [
      bytesOf({ requestId: 'a' }),
      bytesOf({ requestId: 'b', targetExecutor: '[' }),
      bytesOf({ requestId: 'c', targetExecutor: 'none' }),
    ];
    const { answers, code } = await stream(client, messages, { __results_in_order__: 'true' });
    expect(code).toBe(grpc.status.OK);
    expect(answers.map(({ header }) => header.status?.exception?.name)).toEqual([
      'RangeError',
      'ValidationError',
      undefined,
    ]);
  });

  it('answers running requests before it ends at invalid bytes', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses]);
    const ended = stream(client, [
      bytesOf({ requestId: 'a' }),
      Buffer.from('not protobuf'),
      bytesOf({ requestId: 'b' }),
    ]);
    await work.arrived('a');
    work.release('a');
    const { answers, code } = await ended;
    expect(idsOf(answers)).toEqual(['a']);
    expect(code).toBe(grpc.status.INVALID_ARGUMENT);
  });

  it('ends with the id of the request whose executor is unavailable', async () => {
    const { client } = await gatewayOf([{ name: 'far', external: true, host: '127.0.0.1', port: 1, retries: 0 }]);
    const { answers, code, details } = await stream(client, [bytesOf({ requestId: 'r1' })]);
    expect(answers).toEqual([{ header: { requestId: 'r1' }, parameters: {}, routes: [], docs: [] }]);
    expect(code).toBe(grpc.status.UNAVAILABLE);
    expect(details).toContain("deployment far at address(es) {'127.0.0.1:1'}");
  });

  it('ends with a deadline failure when the executor is too slow', async () => {
    const work = gate();
    const { client } = await gatewayOf([{ ...work.uses, timeoutSend: 50, retries: 0 }]);
    const { answers, code, details } = await stream(client, [bytesOf({ requestId: 'r1' })]);
    expect(idsOf(answers)).toEqual(['r1']);
    expect(code).toBe(grpc.status.DEADLINE_EXCEEDED);
    expect(details).toContain('timeout_send');
  });

  it('aborts the work when the client cancels', async () => {
    const work = gate();
    const { client } = await gatewayOf([work.uses]);
    const call = client.makeBidiStreamRequest(CALL, same, same, new grpc.Metadata());
    const ended = outcome(call);
    call.write(bytesOf({ requestId: 'a' }));
    await work.arrived('a');
    call.cancel();
    expect((await ended).code).toBe(grpc.status.CANCELLED);
    await expect.poll(() => work.signals.get('a')!.aborted, { timeout: 20_000 }).toBe(true);
  });

  it('stops reading from a client that reads no answers, and serves others', async () => {
    let handled = 0;
    const run = () => {
      handled++;
    };
    const limits = { maxUnreadBytes: 100_000, maxInWorkBytes: 1_000_000 };
    const { client, port } = await gatewayOf([{ uses: 'Run', name: 'run', usesWith: { run } }], {}, { limits });
    const call = client.makeBidiStreamRequest(CALL, same, same, new grpc.Metadata());
    call.on('error', () => {});
    const message = bytesOf({ docs: [new Document({ blob: Buffer.alloc(100_000) })] });
    for (let at = 0; at < 300; at++) call.write(message);
    call.end();
    await expect.poll(() => handled, { timeout: 20_000 }).toBeGreaterThan(0);
    expect((await single(clientOf(port))).header.status).toBeUndefined();
    const before = handled;
    expect(before).toBeLessThan(150);
    let answers = 0;
    await new Promise<void>((resolve) => {
      call.on('data', () => answers++);
      call.on('end', resolve);
    });
    expect(answers).toBe(300);
  });
});

describe('an old request', () => {
  it.each([1, 2] as const)('of generation %i is answered in its form', async (generation) => {
    const peer = createOldPeer(generation);
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const docs = { docs: [{ id: 'd1', text: 'x' }] };
    const body = generation === 1 ? { search: docs } : { data: docs, header: { exec_endpoint: '/search' } };
    const control = generation === 1 ? { control: { command: 1 } } : { control: { command: 1 }, header: {} };
    const call = client.makeBidiStreamRequest(CALL, same, same, new grpc.Metadata());
    for (const fields of [body, control])
      call.write(Buffer.from(peer.encode('RequestProto', { request_id: 'r', ...fields })));
    call.end();
    const answers = ((await call.toArray()) as Buffer[]).map((bytes) => peer.decode('RequestProto', bytes));
    const found = answers.find((one) => one.search ?? one.data)!;
    expect(answers).toHaveLength(2);
    expect((found.search ?? found.data) as object).toMatchObject({ docs: [{ id: 'd1', text: 'x a' }] });
    expect(found).toMatchObject({ request_id: 'r', status: {} });
    expect(answers.find((one) => one.control)).toMatchObject({ status: { code: 2 } });
  });
});

describe('documents one by one', () => {
  it('come back in as many messages', async () => {
    const run = ({ docs }: Call) => [docs[0]!, new Document({ text: 'more' })];
    const { client } = await gatewayOf([{ uses: 'Run', usesWith: { run } }]);
    const bytes = Buffer.from(encodeSingleDocument(createRequest({ requestId: 'r', docs: texts('one') })));
    const call = client.makeServerStreamRequest('/jina.JinaSingleDocumentRequestRPC/stream_doc', same, same, bytes);
    const answers = ((await call.toArray()) as Buffer[]).map(decodeSingleDocument);
    expect(answers.map(({ header, docs }) => [header.requestId, docs[0]!.text])).toEqual([
      ['r', 'one'],
      ['r', 'more'],
    ]);
  });
});

const health = (service: string) => Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)]);
const CHECK = '/grpc.health.v1.Health/Check';

describe('what is said of the gateway', () => {
  it('dry run, information, health', async () => {
    const { client } = await gatewayOf(
      [{ uses: 'Mark' }],
      {},
      { environment: { JINA_LOG_LEVEL: 'INFO', SECRET: 'x' } },
    );
    expect((await unary(client, '/jina.JinaGatewayDryRunRPC/dry_run')).length).toBe(0);
    const { jina, envs } = infoProto.decode(await unary(client, '/jina.JinaInfoRPC/_status'));
    expect(jina.get('jina')).toBe('1.2.3');
    expect(envs.get('JINA_LOG_LEVEL')).toBe('INFO');
    expect(envs.has('SECRET')).toBe(false);
    for (const service of ['', 'jina.JinaRPC', 'jina.JinaGatewayDryRunRPC']) {
      expect([...(await unary(client, CHECK, health(service)))]).toEqual([8, 1]);
    }
    await expect(unary(client, CHECK, health('jina.JinaDataRequestRPC'))).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
    });
    const { endpoints } = endpointsProto.decode(
      await unary(client, '/jina.JinaDiscoverEndpointsRPC/endpoint_discovery'),
    );
    expect(endpoints).toEqual(expect.arrayContaining(['/default', '_jina_dry_run_']));
    for (const method of ['/jina.JinaDataRequestRPC/process_data', '/jina.JinaRPC/Nothing']) {
      await expect(unary(client, method)).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
    }
  });

  it('a dry run names unavailable executors', async () => {
    const { client } = await gatewayOf([{ name: 'far', external: true, host: '127.0.0.1', port: 1, retries: 0 }]);
    const status = decodeStatus(await unary(client, '/jina.JinaGatewayDryRunRPC/dry_run'));
    expect(status).toMatchObject({ code: 1, exception: { name: 'ServiceAwayError' } });
    expect(status.description).toContain('deployment far');
  });

  it.each(['v1', 'v1alpha'])('reflection %s lists services and describes them', async (version) => {
    const { client } = await gatewayOf([{ uses: 'Mark' }]);
    const method = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    const call = client.makeBidiStreamRequest(method, same, same, new grpc.Metadata());
    call.write(Buffer.from([0x3a, 1, 0x2a]));
    call.write(Buffer.concat([Buffer.from([0x22, 12]), Buffer.from('jina.JinaRPC')]));
    call.write(Buffer.concat([Buffer.from([0x22, 12]), Buffer.from('jina.Nothing')]));
    call.end();
    const [services, files, nothing] = (await call.toArray()) as [Buffer, Buffer, Buffer];
    // Exactly the names that gateways of the original framework know: they fail on any other name.
    expect(services.toString('latin1').match(/\w+(?:\.\w+)+/g)).toEqual([
      'jina.JinaRPC',
      'jina.JinaSingleDataRequestRPC',
      'jina.JinaDiscoverEndpointsRPC',
      'jina.JinaInfoRPC',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    expect(files.toString('latin1')).toContain('DataRequestProto');
    expect(nothing.toString('latin1')).toContain('Symbol or file not found');
  });
});

it('asks for its token, health aside', async () => {
  const { client } = await gatewayOf([{ uses: 'Mark' }], { token: 'the-token-of-tests' });
  await expect(single(client)).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  await expect(single(client, {}, { authorization: 'Bearer wrong' })).rejects.toMatchObject({
    code: grpc.status.UNAUTHENTICATED,
  });
  expect((await stream(client, [bytesOf()])).code).toBe(grpc.status.UNAUTHENTICATED);
  expect(
    (await single(client, { docs: texts('x') }, { authorization: 'Bearer the-token-of-tests' })).docs,
  ).toHaveLength(1);
  expect([...(await unary(client, CHECK))]).toEqual([8, 1]);
});

it('shuts down: health first, running requests are answered, others rejected', async () => {
  const work = gate();
  const { gateway, client } = await gatewayOf([work.uses]);
  const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', same, same, EMPTY);
  const seen: number[][] = [];
  watch.on('data', (bytes: Buffer) => seen.push([...bytes]));
  const unwatched = new Promise((resolve) => watch.on('end', resolve));
  const call = client.makeBidiStreamRequest(CALL, same, same, new grpc.Metadata());
  const ended = outcome(call);
  call.write(bytesOf({ requestId: 'a' }));
  const asked = single(client, { requestId: 'b' });
  for (const id of ['a', 'b']) await work.arrived(id);
  const closed = gateway.close(20_000);
  await unwatched;
  expect(seen).toEqual([
    [8, 1],
    [8, 2],
  ]);
  for (const id of ['a', 'b']) work.release(id);
  expect((await asked).header.requestId).toBe('b');
  const { answers, code } = await ended;
  expect(idsOf(answers)).toEqual(['a']);
  expect(code).toBe(grpc.status.UNAVAILABLE);
  await closed;
  await expect(single(client)).rejects.toMatchObject({ code: grpc.status.UNAVAILABLE });
});

it('reports which port is in use', async () => {
  const { port, flow } = await gatewayOf([{ uses: 'Mark' }]);
  const second = createGrpcGateway({ flow, version: '1.2.3' });
  await expect(second.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});

const openssl = findProgram('openssl');

describe.skipIf(!openssl)('over TLS', () => {
  it('serves with the files of the options, and reaches executors so', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-tls-'));
    try {
      const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
      const made = spawnSync(openssl!, [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ...[
          '-subj',
          '/CN=localhost',
          '-addext',
          'subjectAltName=DNS:localhost,IP:127.0.0.1',
          '-keyout',
          key,
          '-out',
          cert,
        ],
      ]);
      expect(made.status).toBe(0);
      const { port } = await gatewayOf([{ uses: 'Mark', name: 'a' }], { sslCertfile: cert, sslKeyfile: key });
      const rootCertificates = readFileSync(cert);
      const client = clientOf(port, grpc.credentials.createSsl(rootCertificates));
      expect(textsOf(await single(client, { docs: texts('x') }))).toEqual(['x a']);
      await expect(single(clientOf(port))).rejects.toMatchObject({ code: grpc.status.UNAVAILABLE });
      const flow = await flowOf(
        [{ name: 'far', external: true, host: '127.0.0.1', port, tls: true }],
        {},
        {
          connect: createConnect({ rootCertificates }),
        },
      );
      expect(textsOf(await flow.handle(createRequest({ docs: texts('y') })))).toEqual(['y a']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it('is understood by another codec', async () => {
  const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
  const { today } = createPeers();
  const bytes = today.encode('DataRequestProto', {
    header: { request_id: 'r1', exec_endpoint: '/x' },
    data: { docs: { docs: [{ id: 'd', text: 'hello' }] } },
  });
  expect(today.decode('DataRequestProto', await unary(client, SINGLE, Buffer.from(bytes)))).toMatchObject({
    header: { request_id: 'r1' },
    data: { docs: { docs: [{ id: 'd', text: 'hello a' }] } },
  });
});
