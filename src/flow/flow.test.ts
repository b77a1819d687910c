import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineFlow } from './definition/define-flow.ts';
import { Document } from './document.ts';
import { type Answer, bindHandlers, type Call, Executor, type ExecutorSetup, on, requests } from './executor.ts';
import { ask, closeAll, EXECUTORS, Fail, flowOf, Mark, Run, routesOf, Tell, texts, textsOf } from './flow.suite.ts';
import { createFlow } from './flow.ts';
import type { DataRequest } from './request.ts';
import { type Connect, type Worker, type WorkerCall, WorkerUnavailableError } from './runtime/worker.ts';

afterEach(closeAll);

const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(path.join(os.tmpdir(), 'flow-test-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

const run = (work: (call: Call, self: Executor) => unknown) => ({ uses: Run, usesWith: { run: work } });

describe('an executor', () => {
  it('may return nothing, documents or an object', async () => {
    const flow = await flowOf([
      { name: 'a', ...run(({ docs }) => void docs.push(new Document({ id: 'pushed' }))) },
      { name: 'b', ...run(({ docs }) => docs.slice(1)) },
      { name: 'c', ...run(() => ({ n: 1 })) },
      { name: 'd', ...run(async () => null) },
    ]);
    const answer = await ask(flow);
    expect(answer.docs.map(({ id }) => id)).toEqual(['pushed']);
    expect(answer.parameters).toEqual({ __results__: { 'c/rep-0': { n: 1 } } });
    expect(answer.header.status).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['a number', 3],
    ['a text', 'documents'],
    ['a document', new Document()],
    ['a list with something else', [new Document(), 1]],
    ['a map', new Map()],
    ['an object with functions in it', { run() {} }],
    [
      'an object within itself',
      (() => {
        const loop: Record<string, unknown> = {};
        loop.loop = loop;
        return loop;
      })(),
    ],
  ])('fails when it returns %s', async (_, value) => {
    const answer = await ask(await flowOf([{ name: 'a', ...run(() => value) }]));
    expect(answer.header.status).toMatchObject({ code: 1, exception: { name: 'TypeError', executor: 'Run' } });
    expect(answer.docs).toHaveLength(1);
  });

  it('receives one list for each part, or none when all are empty', async () => {
    const seen: unknown[] = [];
    const look = ({ docsMatrix, docsMap }: Call) => {
      seen.push([docsMatrix?.map((part) => part.length), docsMap && Object.keys(docsMap)]);
    };
    const flow = await flowOf([{ name: 'a', ...run(look) }]);
    await ask(flow, { docs: texts('x', 'y') });
    await ask(flow, { docs: [] });
    expect(seen).toEqual([
      [[2], ['gateway']],
      [undefined, undefined],
    ]);
  });

  it('reports failures as name, arguments, stack and executor, and keeps running', async () => {
    let calls = 0;
    const sometimes = () => {
      if (calls++ === 0) throw Object.assign(new RangeError('boom'), { args: ["it's", 42] });
    };
    const flow = await flowOf(
      [
        { name: 'a', ...run(sometimes) },
        { name: 'b', uses: Mark },
      ],
      {},
      { stacks: true },
    );
    const answer = await ask(flow, { docs: texts('kept') });
    const { status } = answer.header;
    expect(status).toMatchObject({
      code: 1,
      description: 'RangeError("it\'s", 42)',
      exception: { name: 'RangeError', args: ["it's", '42'], executor: 'Run' },
    });
    const { stacks } = status!.exception!;
    expect(stacks[0]).toBe('Traceback (most recent call last):\n');
    expect(stacks.at(-1)).toBe('RangeError: ("it\'s", 42)\n');
    expect(stacks.length).toBeGreaterThan(3);
    expect(stacks.every((line) => line.endsWith('\n'))).toBe(true);
    expect(textsOf(answer)).toEqual(['kept']);
    expect(routesOf(answer)).toEqual(['gateway', 'a']);
    expect(answer.routes[1]!.status).toEqual(status);
    expect(textsOf(await ask(flow))).toEqual(['b']);
  });

  it('shows no stack unless enabled', async () => {
    const answer = await ask(await flowOf([{ name: 'a', uses: Fail }]));
    expect(answer.header.status!.description).toBe("RangeError('boom', 42)");
    expect(answer.header.status!.exception!.stacks).toEqual([]);
  });

  it('is closed after one of its exit exceptions', async () => {
    let closed = 0;
    class Fragile extends Fail {
      override close() {
        closed++;
      }
    }
    const flow = await flowOf([{ name: 'a', uses: Fragile, exitOnExceptions: ['RangeError'] }]);
    expect((await ask(flow)).header.status!.code).toBe(1);
    await expect(ask(flow)).rejects.toMatchObject({
      name: 'ServiceAwayError',
      message: expect.stringContaining('Gateway: Communication error with deployment a at address(es)'),
      facts: { deployment: 'a' },
    });
    expect((await flow.dryRun()).code).toBe(1);
    await flow.close();
    expect(closed).toBe(1);
  });

  it('receives its name, options, workspace and variables', async () => {
    const workspace = folder();
    let seen: unknown;
    const look = (_: Call, { context, options }: Executor) => {
      seen = { workspace: context.workspace, metas: context.metas, own: Object.keys(options as object) };
    };
    const flow = await flowOf(
      [
        { name: 'a', ...run(look), usesMetas: { name: 'mine', extra: 1 } },
        { name: 'b', uses: Tell, env: { B: '2' } },
      ],
      { workspace, env: { A: '1' } },
    );
    const answer = await ask(flow);
    expect(seen).toEqual({ workspace: path.join(workspace, 'mine'), metas: { name: 'mine', extra: 1 }, own: ['run'] });
    expect(answer.parameters.__results__).toMatchObject({
      'b/rep-0': { name: 'b/rep-0', shardId: -1, shards: 1, replicas: 1, env: { A: '1', B: '2' }, endpoint: '/x' },
    });
  });

  it('receives only the configured headers', async () => {
    const flow = await flowOf([{ name: 'a', uses: Tell }], { headers: ['X-User'] });
    const headers = { 'x-user': 'ann', authorization: 'secret', 'x-other': 'no' };
    const answer = await ask(flow, {}, { headers });
    expect(answer.parameters.__results__).toMatchObject({ 'a/rep-0': { headers: { 'x-user': 'ann' } } });
  });

  it('is bound by inherited tables, decorators and configuration; the last one wins', () => {
    class Base extends Executor {
      static override readonly requests = requests<Base>({ '/a': 'one', '/b': 'one' });
      one = (): Answer => ({ by: 'one' });
      two = (): Answer => ({ by: 'two' });
    }
    class Derived extends Base {
      static override readonly requests = requests<Derived>({ '/b': 'two' });
    }
    // The compiled form of `@on('/c', '/d') three() {}` and `@on() rest() {}`.
    class Decorated extends Derived {
      constructor(setup: ExecutorSetup) {
        super(setup);
        for (const initialize of initializers) initialize.call(this);
      }
      three(): Answer {
        return { by: 'three' };
      }
    }
    const initializers: ((this: Decorated) => void)[] = [];
    const context = { name: 'three', addInitializer: (one: () => void) => initializers.push(one) };
    on('/c', '/d')(Decorated.prototype.three, context as never);
    on()(Decorated.prototype.three, context as never);
    const executor = new Decorated({ options: {}, context: {} as never });
    const bound = bindHandlers(executor, { '/d': 'one' });
    const by = Object.fromEntries([...bound].map(([endpoint, handler]) => [endpoint, handler({} as Call)]));
    expect(by).toEqual({
      '/a': { by: 'one' },
      '/b': { by: 'two' },
      '/c': { by: 'three' },
      '/d': { by: 'one' },
      '/default': { by: 'three' },
      _jina_dry_run_: undefined,
    });
    expect(() => bindHandlers(executor, { '/x': 'nothing' })).toThrow('Decorated has no method nothing');
  });

  it('sets the configured array type', async () => {
    const give = ({ docs }: Call) => {
      docs[0]!.embedding = new Float32Array([1, 2]);
    };
    const flow = await flowOf([{ name: 'a', ...run(give), outputArrayType: 'list' }]);
    const { embedding } = (await ask(flow)).docs[0]!;
    expect(embedding).toMatchObject({ clsName: 'list', dtype: '<f4' });
    expect(embedding!.toList()).toEqual([1, 2]);
  });
});

describe('what executors throw', () => {
  const unreadable = Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('inner');
    },
  });
  it.each<[string, unknown, string]>([
    ['nothing', null, 'Error(null)'],
    ['a text', 'a', "Error('a')"],
    ['an object without a text', { toString: null }, "Error('an error that cannot be read')"],
    ['an error that cannot be read', unreadable, "Error('an error that cannot be read')"],
    ['an error without a name', Object.assign(new Error('m'), { name: null }), "Error('m')"],
  ])('is reported in the status, even %s', async (_, thrown, description) => {
    const flow = await flowOf([
      {
        name: 'a',
        ...run(() => {
          throw thrown;
        }),
      },
    ]);
    const { status } = (await ask(flow)).header;
    expect(status).toMatchObject({ code: 1, description, exception: { name: 'Error' } });
  });
});

describe('dynamic batching', () => {
  it('batches requests with equal parameters', async () => {
    const sizes: number[] = [];
    const work = ({ docs, parameters }: Call) => {
      sizes.push(docs.length);
      return docs.map((doc) => new Document({ id: doc.id, text: `${doc.text}${parameters.p}` }));
    };
    const flow = await flowOf([
      { name: 'a', ...run(work), usesDynamicBatching: { '/default': { preferredBatchSize: 3, timeout: 20 } } },
    ]);
    const asked = ['x', 'y', 'z'].map((text) => ask(flow, { docs: texts(text), parameters: { p: 1 } }));
    const other = ask(flow, { docs: texts('w'), parameters: { p: 2 } });
    expect((await Promise.all(asked)).map(textsOf)).toEqual([['x1'], ['y1'], ['z1']]);
    expect(textsOf(await other)).toEqual(['w2']);
    expect(sizes).toEqual([3, 1]);
  });

  it('separates requests with different headers', async () => {
    const flow = await flowOf(
      [
        {
          name: 'a',
          ...run(({ docs, headers }) => docs.map(() => new Document({ text: headers['x-user'] ?? '' }))),
          usesDynamicBatching: { '/default': { preferredBatchSize: 2, timeout: 20 } },
        },
      ],
      { headers: ['x-user'] },
    );
    const asked = ['ann', 'bob'].map((user) => ask(flow, {}, { headers: { 'x-user': user } }));
    expect((await Promise.all(asked)).map(textsOf)).toEqual([['ann'], ['bob']]);
  });

  it('fails all requests when the documents cannot be split', async () => {
    const flow = await flowOf([
      { name: 'a', ...run(() => []), usesDynamicBatching: { '/default': { preferredBatchSize: 2, timeout: 20 } } },
    ]);
    const answers = await Promise.all([ask(flow), ask(flow)]);
    expect(answers.map(({ header }) => header.status?.code)).toEqual([1, 1]);
  });
});

describe('replicas and shards', () => {
  it('use replicas round robin', async () => {
    const flow = await flowOf([{ name: 'a', uses: Tell, replicas: 3 }]);
    const names = [];
    for (let at = 0; at < 4; at++) names.push(...Object.keys((await ask(flow)).parameters.__results__ as object));
    expect(names).toEqual(['a/rep-0', 'a/rep-1', 'a/rep-2', 'a/rep-0']);
  });

  it.each([
    ['/search', undefined, 2],
    ['/index', undefined, 1],
    ['/other', undefined, 1],
    ['/other', 'all', 2],
    ['/index', 'ALL', 2],
    ['/other', { '*': 'ALL' }, 2],
    ['/index', { '*': 'ALL' }, 1],
    ['/search', { '*': 'ANY' }, 2],
    ['/search', { '/search': 'any' }, 1],
    ['/index', { '/index': 'ALL' }, 2],
  ])('%s with polling %j calls %i of two shards', async (endpoint, polling, count) => {
    const flow = await flowOf([{ name: 'a', uses: Tell, shards: 2, ...(polling ? { polling } : {}) }]);
    const { parameters } = await ask(flow, { endpoint });
    const results = parameters.__results__ as Record<string, { shardId: number }>;
    expect(Object.keys(results)).toHaveLength(count);
    for (const [name, { shardId }] of Object.entries(results)) expect(name).toBe(`a/shard-${shardId}/rep-0`);
  });

  it('merge the answers of all shards unless `uses_after` does', async () => {
    const found = ({ docs }: Call, { context }: Executor) => {
      for (const doc of docs) doc.matches = [new Document({ id: `m${context.shardId}` })];
    };
    const flow = await flowOf([{ name: 'a', ...run(found), shards: 3, polling: 'ALL' }]);
    expect((await ask(flow)).docs.map(({ matches }) => matches.map(({ id }) => id))).toEqual([['m0', 'm1', 'm2']]);

    class Before extends Executor {
      static override readonly requests = requests<Before>({ '/default': 'prepare' });
      prepare({ docs }: Call): void {
        for (const doc of docs) doc.text = 'prepared';
      }
    }
    class After extends Executor {
      static override readonly requests = requests<After>({ '/default': 'gather' });
      gather({ docsMatrix }: Call): Answer {
        return docsMatrix!.map((part, at) => new Document({ id: String(at), text: `${part[0]!.text} ${part.length}` }));
      }
    }
    const sided = await flowOf([
      { name: 'a', uses: Mark, shards: 2, polling: 'ALL', usesBefore: Before, usesAfter: After },
    ]);
    expect(textsOf(await ask(sided))).toEqual(['prepared a 1', 'prepared a 1']);
    const plain = await flowOf([{ name: 'a', uses: Mark, usesBefore: Before, usesAfter: After }]);
    expect(textsOf(await ask(plain))).toEqual(['a']);
  });

  it('answer with the failure of a shard', async () => {
    const second = (_: Call, { context }: Executor) => {
      if (context.shardId === 1) throw new Error('shard 1');
    };
    const flow = await flowOf([{ name: 'a', ...run(second), shards: 2, polling: 'ALL' }]);
    expect((await ask(flow)).header.status!.description).toBe("Error('shard 1')");
  });
});

/** Workers that return prepared responses in order. */
function remote(answers: Record<string, (call: WorkerCall) => Promise<DataRequest>>) {
  const calls: string[] = [];
  const connect: Connect = ({ host, port }): Worker => ({
    address: `${host}:${port}`,
    endpoints: () => undefined,
    process(call) {
      calls.push(host);
      return answers[host]!(call);
    },
    async ping() {},
    async close() {},
  });
  return { connect, calls };
}

const lost = (because: WorkerUnavailableError['reason']) => async () => {
  throw new WorkerUnavailableError(because, 'it did not answer');
};
const echo = async ({ requests: [request] }: WorkerCall) => request!;
const never = () => new Promise<DataRequest>(() => {});

describe('external executors', () => {
  const external = (host: string | string[], more = {}) => [{ name: 'a', external: true, host, port: 1234, ...more }];

  it('are retried on the next replica; the unreachable one is used again after its back-off', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let down = true;
    const { connect, calls } = remote({ bad: (call) => (down ? lost('unreachable')() : echo(call)), good: echo });
    const flow = await flowOf(external(['bad', 'good']), {}, { connect });
    for (let at = 0; at < 4; at++) await ask(flow);
    expect(calls).toEqual(['bad', 'good', 'good', 'good', 'good']);
    down = false;
    vi.advanceTimersByTime(300);
    await ask(flow);
    await ask(flow);
    vi.useRealTimers();
    expect(calls.slice(5).sort()).toEqual(['bad', 'good']);
  });

  it.each([
    [{}, 4],
    [{ retries: 0 }, 1],
    [{ retries: 1 }, 2],
    [{ retries: -1 }, 4],
  ])('with %j are tried %i times', async (options, tries) => {
    const { connect, calls } = remote({ bad: lost('unreachable') });
    const flow = await flowOf(external('bad', options), {}, { connect });
    await expect(ask(flow)).rejects.toMatchObject({
      name: 'ServiceAwayError',
      code: 503,
      message:
        "failed to connect to all addresses|Gateway: Communication error with deployment a at address(es) {'bad:1234'}. Head or worker(s) may be down.",
      facts: { deployment: 'a', addresses: ['bad:1234'] },
    });
    expect(calls).toHaveLength(tries);
  });

  it('are not retried after other failures', async () => {
    const { connect, calls } = remote({ bad: lost('other') });
    const flow = await flowOf(external('bad'), {}, { connect });
    await expect(ask(flow)).rejects.toMatchObject({ name: 'DownstreamServiceError', code: 500 });
    expect(calls).toHaveLength(1);
  });

  it('time out without a retry by default', async () => {
    const { connect, calls } = remote({ slow: never });
    const once = await flowOf(external('slow', { timeoutSend: 10 }), {}, { connect });
    await expect(ask(once)).rejects.toMatchObject({
      name: 'ServiceTimeoutError',
      code: 504,
      message: expect.stringMatching(/^Deadline Exceeded\|Gateway: Connection with deployment a at address/),
    });
    expect(calls).toHaveLength(1);
    const again = await flowOf(
      external('slow', { retryTimeouts: true, retries: 2 }),
      { timeout_send: 10 },
      { connect },
    );
    await expect(ask(again)).rejects.toMatchObject({ code: 504 });
    expect(calls).toHaveLength(4);
  });

  it('in this process time out too', async () => {
    const flow = await flowOf([{ name: 'a', ...run(never), timeoutSend: 10 }]);
    await expect(ask(flow)).rejects.toMatchObject({ code: 504 });
  });

  it('that are floating fail silently when unreachable', async () => {
    const { connect } = remote({ bad: lost('unreachable') });
    const flow = await flowOf([{ name: 'b', uses: Mark }, ...external('bad', { floating: true })], {}, { connect });
    expect(textsOf(await ask(flow))).toEqual(['b']);
  });
});

describe('the life of a flow', () => {
  it('fails to start with one error that names each failed deployment, and closes all', async () => {
    const closed: string[] = [];
    class Good extends Executor {
      override close() {
        closed.push('good');
      }
    }
    class Broken extends Executor {
      override async start() {
        throw new Error('no model file');
      }
      override close() {
        closed.push('broken');
      }
    }
    class Throwing extends Executor {
      constructor(setup: ExecutorSetup) {
        super(setup);
        throw new Error('bad options');
      }
    }
    class Hanging extends Executor {
      override start() {
        return new Promise<void>(() => {});
      }
    }
    const flow = flowOf([
      { name: 'good', uses: Good },
      { name: 'broken', uses: Broken },
      { name: 'throwing', uses: Throwing, replicas: 2 },
      { name: 'hanging', uses: Hanging, timeoutReady: 20 },
      { name: 'unknown', uses: 'Nowhere' },
    ]);
    await expect(flow).rejects.toMatchObject({
      name: 'FaceNotReadyError',
      message: expect.stringMatching(
        /broken: no model file; throwing: bad options; hanging: not ready after 20 ms; unknown: there is no executor Nowhere/,
      ),
    });
    expect(closed.sort()).toEqual(['broken', 'good']);
  });

  it('refuses requests before starting and while closing, and finishes running ones', async () => {
    const { definition } = await flowOf([]);
    await expect(ask(createFlow(definition))).rejects.toMatchObject({ name: 'FaceNotReadyError' });
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const closes: string[] = [];
    class Slow extends Mark {
      override async mark(call: Call): Promise<void> {
        await gate;
        super.mark(call);
      }
      override close() {
        closes.push('closed');
      }
    }
    const flow = await flowOf([{ name: 'a', uses: Slow }]);
    const pending = ask(flow);
    const closing = flow.close();
    await expect(ask(flow)).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError', code: 503 });
    expect(closes).toEqual([]);
    release();
    expect(textsOf(await pending)).toEqual(['a']);
    await closing;
    await flow.close();
    expect(closes).toEqual(['closed']);
  });

  it('closes after the grace period', async () => {
    const flow = await flowOf([{ name: 'a', ...run(never) }]);
    ask(flow).catch(() => {});
    await flow.close(20);
  });

  it('reloads executors from changed files while requests run', async () => {
    const base = folder();
    const file = path.join(base, 'mine.mjs');
    const source = path.resolve(import.meta.dirname, 'executor.ts');
    const write = (mark: string) =>
      writeFileSync(
        file,
        `import { Executor } from ${JSON.stringify(source)};
globalThis.timesImported = (globalThis.timesImported ?? 0) + 1;
export class Mine extends Executor {
  static requests = { '/default': 'mark' };
  async mark({ docs }) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const doc of docs) doc.text = '${mark}';
  }
}`,
      );
    write('old');
    const builder = defineFlow({}, { baseDir: base })
      .add({ name: 'mine', uses: 'Mine', modules: 'mine.mjs' })
      .add({ name: 'still', uses: 'Mark' });
    const flow = createFlow(builder.definition(), { executors: EXECUTORS });
    await flow.start();
    expect(textsOf(await ask(flow))).toEqual(['old still']);
    write('new');
    const before = Array.from({ length: 20 }, () => ask(flow));
    const reloading = flow.reload(['mi']);
    const during = Array.from({ length: 20 }, () => ask(flow));
    const routes = await reloading;
    expect(routes.map(({ executor, status }) => ({ executor, status }))).toEqual([
      { executor: 'mine', status: undefined },
    ]);
    for (const answer of await Promise.all([...before, ...during])) {
      expect(answer.header.status).toBeUndefined();
      expect(textsOf(answer)[0]).toMatch(/^(?:old|new) still$/);
    }
    expect(textsOf(await ask(flow))).toEqual(['new still']);
    const imported = () => (globalThis as { timesImported?: number }).timesImported;
    const once = imported();
    for (let at = 0; at < 3; at++) await flow.reload(['mine']);
    expect(imported()).toBe(once);
    expect(await flow.reload(['nobody'])).toEqual([]);
    await expect(flow.reload(['('])).rejects.toMatchObject({ code: 422 });

    rmSync(file);
    const [kept] = await flow.reload(['mine']);
    expect(kept!.status!.code).toBe(1);
    expect(textsOf(await ask(flow))).toEqual(['new still']);
    await flow.close();
  });

  it('reloads shards while a request is between `uses_before` and the shards', async () => {
    let release = () => {};
    const waits = new Promise<void>((resolve) => {
      release = resolve;
    });
    const closed: string[] = [];
    class Before extends Mark {
      override async mark(call: Call) {
        await waits;
        super.mark(call);
      }
    }
    class Shard extends Mark {
      override close() {
        closed.push(this.context.name);
      }
    }
    const flow = await flowOf([{ name: 'a', uses: Shard, shards: 2, usesBefore: Before }]);
    const asked = ask(flow);
    const reloading = flow.reload(['a']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(closed).toEqual([]);
    release();
    expect(textsOf(await asked)).toEqual(['a a']);
    await reloading;
    expect(closed.sort()).toEqual(['a/shard-0/rep-0', 'a/shard-1/rep-0']);
  });

  it('closes all executors opened by concurrent reloads', async () => {
    const open = new Set<Executor>();
    class Counted extends Mark {
      override start() {
        open.add(this);
      }
      override close() {
        open.delete(this);
      }
    }
    const flow = await flowOf([{ name: 'a', uses: Counted }]);
    await Promise.all([flow.reload(['a']), flow.reload(['a']), flow.reload(['a'])]);
    expect(open.size).toBe(1);
    const late = flow.reload(['a']);
    await flow.close();
    await late;
    expect(open.size).toBe(0);
  });

  it('aborts a request when its client disconnects', async () => {
    let seen: AbortSignal | undefined;
    const hang = ({ signal }: Call) => {
      seen = signal;
      return new Promise(() => {});
    };
    const flow = await flowOf([{ name: 'a', ...run(hang), timeoutSend: 600_000 }]);
    const client = new AbortController();
    const asked = ask(flow, {}, { signal: client.signal });
    await new Promise((resolve) => setImmediate(resolve));
    client.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    expect(seen!.aborted).toBe(true);
    await flow.close(0);
  });

  it('refuses pickled documents and keeps the request id', async () => {
    const flow = await flowOf([{ name: 'a', uses: Mark }]);
    const request: DataRequest = {
      header: { requestId: 'r' },
      parameters: {},
      routes: [],
      docs: [],
      docsBytes: new Uint8Array([128]),
    };
    const answer = await flow.handle(request);
    expect(answer.header).toMatchObject({
      requestId: 'r',
      status: { code: 1, exception: { name: 'UnsupportedContent' } },
    });
    expect(answer.docsBytes).toBeUndefined();
  });
});
