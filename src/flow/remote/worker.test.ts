/** Executors on separate ports, called by flows. */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../../../test/support/free-ports.ts';
import { type AddOptions, defineFlow } from '../definition/define-flow.ts';
import { type Call, Executor, requests } from '../executor.ts';
import { ask, closeAll, EXECUTORS, flowOf, Tell, texts, textsOf } from '../flow.suite.ts';
import { loadGrpc } from '../grpc/library.ts';
import { decodeRequest, encodeRequest } from '../proto/codec.ts';
import { createRequest } from '../request.ts';
import { type ExecutorServer, type ServeExecutorOptions, serveExecutor } from '../serve-executor.ts';
import { createConnect } from './worker.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await closeAll();
  for (const one of open.splice(0).reverse()) await one.close();
});

async function executorOf(options: AddOptions, how: Partial<ServeExecutorOptions> = {}): Promise<ExecutorServer> {
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
  return server;
}

const external = (port: number | number[], more: AddOptions = {}): AddOptions => ({
  name: 'far',
  external: true,
  host: '127.0.0.1',
  port,
  ...more,
});

const flowTo = (port: number | number[], more: AddOptions = {}, options = {}) =>
  flowOf([external(port, more)], options, { connect: createConnect() });

describe('an external executor', () => {
  it('works like a local executor', async () => {
    const { port } = await executorOf({ uses: 'Mark', name: 'marker' });
    const flow = await flowTo(port);
    const answer = await ask(flow);
    expect(textsOf(answer)).toEqual(['marker']);
    expect(answer.routes.map(({ executor, endTime }) => [executor, endTime !== undefined])).toEqual([
      ['gateway', true],
      ['far', true],
    ]);
  });

  it('returns results and failures', async () => {
    const [tell, fail] = await Promise.all([
      executorOf({ uses: 'Tell', name: 'tell' }),
      executorOf({ uses: 'Fail', name: 'fail' }),
    ]);
    const told = await ask(await flowTo(tell.port), { parameters: { a: 1, far__b: 2 } });
    expect(told.parameters.__results__).toMatchObject({ 'tell/rep-0': { parameters: { a: 1, b: 2 }, endpoint: '/x' } });
    const failure = await ask(await flowTo(fail.port));
    expect(failure.header.status).toMatchObject({
      code: 1,
      description: "RangeError('boom', 42)",
      exception: { name: 'RangeError', args: ['boom', '42'], executor: 'Fail' },
    });
  });

  it('is skipped for endpoints it does not serve, once they are known', async () => {
    const only = requests<Tell>({ '/y': 'tell' });
    class OnlyY extends Executor {
      static override readonly requests = only;
      tell = Tell.prototype.tell;
    }
    const { port } = await executorOf({ uses: OnlyY, name: 'tell' });
    const flow = await flowTo(port);
    const passedBy = async () => (await ask(flow)).routes[1]!.endTime === undefined;
    expect(await passedBy()).toBe(false);
    await expect.poll(passedBy, { timeout: 20_000 }).toBe(true);
    expect((await ask(flow, { endpoint: '/y' })).parameters.__results__).toHaveProperty('tell/rep-0');
    expect(flow.endpoints()).toEqual(['/y']);
  });

  it('receives metadata, request id and configured headers', async () => {
    const { port } = await executorOf({ uses: 'Tell', name: 'tell' });
    const flow = await flowTo(port, { grpcMetadata: { key: 'value' } }, { headers: ['x-tenant'] });
    const request = createRequest({ requestId: 'r1', endpoint: '/x' });
    const answer = await flow.handle(request, { headers: { 'x-tenant': 'ü', secret: 's' } });
    expect(answer.header.requestId).toBe('r1');
    expect(answer.parameters.__results__).toMatchObject({ 'tell/rep-0': { headers: { 'x-tenant': 'ü' } } });
  });

  it.each(['Gzip', 'Deflate'])('receives messages compressed by %s', async (compression) => {
    const { port } = await executorOf({ uses: 'Mark', name: 'mark' });
    const flow = await flowTo(port, { compression });
    const docs = texts('x'.repeat(10_000));
    expect(textsOf(await ask(flow, { docs }))).toEqual([`${'x'.repeat(10_000)} mark`]);
  });

  it('may be a gateway that only supports streams', async () => {
    const library = await loadGrpc();
    const server = new library.Server();
    const same = (bytes: Buffer) => bytes;
    let calls = 0;
    const call = {
      path: '/jina.JinaRPC/Call',
      requestStream: true,
      responseStream: true,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    };
    server.addService(
      { call },
      {
        call(stream: ServerDuplexStream<Buffer, Buffer>) {
          calls++;
          stream.on('data', (bytes: Buffer) => {
            const request = decodeRequest(bytes);
            for (const doc of request.docs) doc.text = 'streamed';
            stream.write(Buffer.from(encodeRequest(request)));
          });
          stream.on('end', () => stream.end());
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', library.ServerCredentials.createInsecure(), (error, opened) =>
        error ? reject(error) : resolve(opened),
      );
    });
    open.push({ close: () => server.forceShutdown() });
    const flow = await flowTo(port);
    for (let at = 0; at < 3; at++) expect(textsOf(await ask(flow))).toEqual(['streamed']);
    expect(calls).toBe(3);
  });

  it('cancels its call when the client disconnects', async () => {
    let signal: AbortSignal | undefined;
    const run = (call: Call) => {
      signal = call.signal;
      return new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()));
    };
    const { port } = await executorOf({ uses: 'Run', usesWith: { run } });
    const flow = await flowTo(port);
    const client = new AbortController();
    const asked = flow.handle(createRequest({ endpoint: '/x' }), { signal: client.signal });
    asked.catch(() => {});
    await expect.poll(() => signal !== undefined, { timeout: 20_000 }).toBe(true);
    client.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => signal!.aborted, { timeout: 20_000 }).toBe(true);
  });

  it('is reported when unreachable', async () => {
    const port = await freePorts();
    const flow = await flowTo(port, { retries: 1 });
    await expect(ask(flow)).rejects.toMatchObject({
      name: 'ServiceAwayError',
      code: 503,
      message: `failed to connect to all addresses|Gateway: Communication error with deployment far at address(es) {'127.0.0.1:${port}'}. Head or worker(s) may be down.`,
    });
    expect(await flow.dryRun()).toMatchObject({ code: 1 });
  });

  it('reconnects', async () => {
    const first = await executorOf({ uses: 'Mark', name: 'one' });
    const flow = await flowTo(first.port, { retries: 0 });
    expect(textsOf(await ask(flow))).toEqual(['one']);
    await first.close(0);
    await expect(ask(flow)).rejects.toMatchObject({ name: 'ServiceAwayError' });
    await executorOf({ uses: 'Mark', name: 'two' }, { port: first.port });
    expect(textsOf(await ask(flow))).toEqual(['two']);
  });

  it('is avoided while it is down and others are available', async () => {
    const dead = await freePorts();
    const { port } = await executorOf({ uses: 'Mark', name: 'alive' });
    const flow = await flowTo([dead, port], { retries: 1 });
    for (let at = 0; at < 10; at++) expect(textsOf(await ask(flow))).toEqual(['alive']);
  });
});
