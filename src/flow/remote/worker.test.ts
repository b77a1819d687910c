/** Executors on ports of their own, reached from flows. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type AddOptions, defineFlow } from '../define.ts';
import { ask, closeAll, EXECUTORS, flowOf, textsOf } from '../flow.suite.ts';
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('an external executor', () => {
  it('works as one of the flow does', async () => {
    const { port } = await executorOf({ uses: 'Mark', name: 'marker' });
    const flow = await flowTo(port);
    const answer = await ask(flow);
    expect(textsOf(answer)).toEqual(['marker']);
    expect(answer.routes.map(({ executor, endTime }) => [executor, endTime !== undefined])).toEqual([
      ['gateway', true],
      ['far', true],
    ]);
  });

  it('tells its results and its failures', async () => {
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

  it('is passed by when it has nothing for the endpoint, once that is known', async () => {
    const { port } = await executorOf({ uses: 'Tell', name: 'tell', usesRequests: { '/y': 'tell' } });
    const flow = await flowTo(port);
    await ask(flow);
    expect(flow.endpoints()).toBeDefined();
  });

  it('that cannot be reached is told so', async () => {
    const port = await freePort();
    const flow = await flowTo(port, { retries: 1 });
    await expect(ask(flow)).rejects.toMatchObject({
      name: 'ServiceAwayError',
      code: 503,
      message: `failed to connect to all addresses|Gateway: Communication error with deployment far at address(es) {'127.0.0.1:${port}'}. Head or worker(s) may be down.`,
    });
    expect(await flow.dryRun()).toMatchObject({ code: 1 });
  });

  it('comes back', async () => {
    const first = await executorOf({ uses: 'Mark', name: 'one' });
    const flow = await flowTo(first.port, { retries: 0 });
    expect(textsOf(await ask(flow))).toEqual(['one']);
    await first.close(0);
    await expect(ask(flow)).rejects.toMatchObject({ name: 'ServiceAwayError' });
    await executorOf({ uses: 'Mark', name: 'two' }, { port: first.port });
    expect(textsOf(await ask(flow))).toEqual(['two']);
  });

  it('is left alone when it is down while others are there', async () => {
    const dead = await freePort();
    const { port } = await executorOf({ uses: 'Mark', name: 'alive' });
    const flow = await flowTo([dead, port], { retries: 1 });
    for (let at = 0; at < 10; at++) expect(textsOf(await ask(flow))).toEqual(['alive']);
  });
});
