/** Executors behave the same in this process and in their own. */
// Full run only: starts executor processes.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AddOptions, defineFlow } from '../definition/define-flow.ts';
import type { Options } from '../definition/options.ts';
import { Document } from '../document.ts';
import { ask, closeAll, routesOf, texts, textsOf } from '../flow.suite.ts';
import { createFlow, type Flow, type FlowTools } from '../flow.ts';
import { createFlowMetrics } from '../metrics/prometheus.ts';
import { NdArray } from '../ndarray.ts';
import { createRequest } from '../request.ts';
import { createRecordingLog, flowIndex, moduleText, writeModule } from './executors.suite.ts';

const BODY = `
import { appendFileSync } from 'node:fs';

export class Work extends Executor {
  static requests = {
    '/nothing': 'nothing', '/list': 'list', '/object': 'object', '/change': 'change', '/look': 'look',
    '/fail': 'fail', '/fragile': 'fragile', '/wait': 'wait', '/log': 'log', '/floats': 'floats', '/array': 'array',
    '/number': 'number', '/parts': 'parts', '/where': 'where',
  };
  seen = [];
  async start() {
    await null;
    this.started = true;
    if (this.options.fails === 'start') throw new RangeError('no model file');
  }
  close() {
    if (this.options.file) appendFileSync(this.options.file, this.context.name + ' closed\\n');
    if (this.options.fails === 'close') throw new Error('it does not want to');
  }
  nothing() {}
  list({ docs }) {
    return [...docs.slice(1), new Document({ id: 'new', text: 'fresh', tags: { deep: { list: [1, null, 'x'] } } })];
  }
  object({ parameters }) { return { parameters, started: this.started, date: undefined }; }
  change({ docs }) { for (const doc of docs) doc.text += ' ' + (this.options.mark ?? this.context.deployment); }
  look({ docs, docsMatrix, docsMap, endpoint, requestId, headers, signal }) {
    const { name, deployment, shardId, shards, replicas, replica, metas, env } = this.context;
    return {
      docs: docs.length, matrix: docsMatrix?.map((part) => part.length) ?? null, map: docsMap ? Object.keys(docsMap) : null,
      same: docsMatrix ? docsMatrix[0][0] === docs[0] : null,
      endpoint, requestId, headers: { ...headers }, aborted: signal.aborted,
      context: { name, deployment, shardId, shards, replicas, replica, metas: { ...metas }, env: { ...env } },
      workspace: this.options.noWorkspace ? null : this.context.workspace,
    };
  }
  fail() { throw Object.assign(new RangeError('boom'), { args: ["it's", 42] }); }
  fragile() { throw new RangeError('never again'); }
  wait({ docs, signal }) {
    return new Promise((resolve) => {
      const file = this.options.file;
      appendFileSync(file, 'waits\\n');
      signal.addEventListener('abort', () => { appendFileSync(file, 'aborted: ' + signal.reason.message + '\\n'); resolve(); });
      const timer = setInterval(() => {
        if (this.options.until && this.exists(this.options.until)) { clearInterval(timer); resolve(docs); }
      }, 10);
    });
  }
  log() { this.context.log?.warn({ password: 'hidden', count: 3 }, 'a word of mine'); }
  floats({ docs }) {
    docs[0].weight = 0.1; docs[0].offset = 1 / 3; docs[0].location = [0.1, 2];
    docs[0].scores = { s: { value: 0.7, opName: 'cosine' } };
    docs[0].tags = { n: Number.MAX_SAFE_INTEGER, when: new Date(0), none: undefined };
    docs[0].chunks = [new Document({ id: 'c', text: 'chunk' })];
    docs[0].matches = [new Document({ id: 'm', blob: new Uint8Array([1, 2]) })];
  }
  array({ docs }) { docs[0].embedding = NdArray.fromTyped(new Float32Array([1, 2])); docs[0].tensor = [[1, 2], [3, 4]]; }
  number() { return 3; }
  where() { return { pid: process.pid }; }
  parts({ docsMatrix, docsMap }) {
    return docsMatrix.map((part, at) => new Document({ text: Object.keys(docsMap)[at] + ':' + part.map(({ text }) => text).join() }));
  }
  exists(file) { return exists(file); }
}
import { existsSync as exists } from 'node:fs';

export class Batched extends Executor {
  static requests = { '/default': 'work' };
  sizes = [];
  work({ docs, parameters }) {
    if (parameters.tell) return { sizes: this.sizes };
    this.sizes.push(docs.length);
    return docs.map((doc) => new Document({ id: doc.id, text: doc.text + parameters.p }));
  }
}

export class Broken extends Executor {
  constructor(setup) { super(setup); throw new Error('bad options'); }
}

export class Plain {}
`;

describe.each([
  ['in this process', false],
  ['in a process of its own', true],
])('an executor %s', (_, ownProcesses) => {
  let folder: string;
  let file: string;
  let index: string;
  const open: Flow[] = [];
  beforeAll(async () => {
    index = await flowIndex(ownProcesses);
    ({ folder, file } = writeModule('work.mjs', index, BODY));
  }, 120_000);
  afterAll(async () => {
    await shared?.close(5000);
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((flow) => flow.close(5000)));
    await closeAll();
  });

  async function flowOf(adds: readonly AddOptions[], options: Options = {}, tools: FlowTools = {}): Promise<Flow> {
    const builder = defineFlow(options);
    for (const one of adds) builder.add({ uses: 'Work', modules: file, ...one });
    const flow = createFlow(builder.definition(), { ownProcesses, ...tools });
    open.push(flow);
    await flow.start();
    return flow;
  }

  /** A flow with one executor, for tests that do not change it. */
  let shared: Flow | undefined;
  async function sharedFlow(): Promise<Flow> {
    if (!shared) {
      const builder = defineFlow().add({ uses: 'Work', modules: file, name: 'a' });
      shared = createFlow(builder.definition(), { ownProcesses });
      await shared.start();
    }
    return shared;
  }
  const place = (name: string) => path.join(folder, name);
  const linesOf = (name: string) =>
    existsSync(place(name)) ? readFileSync(place(name), 'utf8').trim().split('\n').filter(Boolean) : [];

  it('runs in the expected process', async () => {
    const flow = await sharedFlow();
    const { parameters } = await ask(flow, { endpoint: '/where' });
    expect((parameters.__results__ as { 'a/rep-0': { pid: number } })['a/rep-0'].pid === process.pid).toBe(
      !ownProcesses,
    );
  });

  it('is closed after one of its exit exceptions', async () => {
    const flow = await flowOf([{ name: 'gone', exitOnExceptions: ['RangeError'] }]);
    expect((await ask(flow, { endpoint: '/fragile' })).header.status).toMatchObject({ code: 1 });
    const error = await ask(flow, { endpoint: '/fragile' }).catch((thrown) => thrown);
    expect(error).toMatchObject({
      name: 'ServiceAwayError',
      code: 503,
      message: expect.stringContaining('Gateway: Communication error with deployment gone at address(es)'),
      facts: { deployment: 'gone', addresses: [ownProcesses ? 'own-process' : 'in-process'] },
    });
    expect((await flow.dryRun()).code).toBe(1);
  });

  it('returns nothing, documents or an object', async () => {
    const flow = await sharedFlow();
    const nothing = await ask(flow, { endpoint: '/nothing', docs: texts('x', 'y') });
    expect(textsOf(nothing)).toEqual(['x', 'y']);
    expect(nothing.parameters).toEqual({});
    const list = await ask(flow, { endpoint: '/list', docs: texts('x', 'y') });
    expect(list.docs.map(({ id, text, tags }) => ({ id, text, tags }))).toEqual([
      { id: 'd1', text: 'y', tags: {} },
      { id: 'new', text: 'fresh', tags: { deep: { list: [1, null, 'x'] } } },
    ]);
    const object = await ask(flow, { endpoint: '/object', parameters: { n: 1, a__only: 2, b__other: 3 } });
    expect(object.parameters).toEqual({
      n: 1,
      a__only: 2,
      b__other: 3,
      __results__: { 'a/rep-0': { parameters: { n: 1, only: 2 }, started: true } },
    });
  });

  it('fails when it returns anything else', async () => {
    const answer = await ask(await sharedFlow(), { endpoint: '/number' });
    expect(answer.header.status).toMatchObject({
      code: 1,
      description: expect.stringMatching(/^TypeError\('The return type must be/),
      exception: { name: 'TypeError', executor: 'Work' },
    });
  });

  it('receives the whole call and context', async () => {
    const workspace = place('space');
    const flow = await flowOf([{ name: 'a', usesMetas: { name: 'mine', extra: 1 }, env: { A: '1' } }], {
      workspace,
      headers: ['X-User'],
      env: { B: '2' },
    });
    const request = createRequest({ endpoint: '/look', requestId: 'r1', docs: texts('x', 'y') });
    const answer = await flow.handle(request, { headers: { 'x-user': 'ann', authorization: 'secret' } });
    expect(answer.header.status).toBeUndefined();
    expect(answer.parameters.__results__).toEqual({
      'a/rep-0': {
        docs: 2,
        matrix: [2],
        map: ['gateway'],
        same: true,
        endpoint: '/look',
        requestId: 'r1',
        headers: { 'x-user': 'ann' },
        aborted: false,
        context: {
          name: 'a/rep-0',
          deployment: 'a',
          shardId: -1,
          shards: 1,
          replicas: 1,
          replica: 0,
          metas: { name: 'mine', extra: 1 },
          env: { A: '1', B: '2' },
        },
        workspace: path.join(workspace, 'mine'),
      },
    });
    expect(existsSync(path.join(workspace, 'mine'))).toBe(true);
    const empty = await ask(flow, { endpoint: '/look', docs: [] });
    expect(empty.parameters.__results__).toMatchObject({ 'a/rep-0': { docs: 0, matrix: null, map: null } });
  });

  it('receives the parts of a join by executor name', async () => {
    const builder = defineFlow()
      .add({ name: 'b', uses: 'Work', modules: file })
      .add({ name: 'c', uses: 'Work', modules: file, needs: 'gateway' })
      .add({ name: 'j', uses: 'Work', modules: file, needs: ['b', 'c'], noReduce: true });
    const flow = createFlow(builder.definition(), { ownProcesses });
    open.push(flow);
    await flow.start();
    const answer = await ask(flow, { endpoint: '/parts', docs: texts('x', 'y'), targetExecutor: 'j' });
    expect(answer.docs).toHaveLength(2);
    expect(textsOf(answer).map((text) => text.split(':')[1])).toEqual(['x,y', 'x,y']);
    expect(routesOf(answer)).toEqual(['gateway', 'b', 'j', 'c']);
  });

  it('reports failures in the status, with a stack only if enabled, and keeps running', async () => {
    const flow = await flowOf([{ name: 'a' }], {}, { stacks: true });
    const answer = await ask(flow, { endpoint: '/fail', docs: texts('kept') });
    expect(answer.header.status).toMatchObject({
      code: 1,
      description: 'RangeError("it\'s", 42)',
      exception: { name: 'RangeError', args: ["it's", '42'], executor: 'Work' },
    });
    const { stacks } = answer.header.status!.exception!;
    expect(stacks[0]).toBe('Traceback (most recent call last):\n');
    expect(stacks.at(-1)).toBe('RangeError: ("it\'s", 42)\n');
    expect(stacks.some((line) => line.includes('work.mjs'))).toBe(true);
    expect(answer.routes[1]!.status).toEqual(answer.header.status);
    expect(textsOf(answer)).toEqual(['kept']);
    expect(textsOf(await ask(flow, { endpoint: '/change' }))).toEqual([' a']);
    const quiet = await ask(await sharedFlow(), { endpoint: '/fail' });
    expect(quiet.header.status!.exception!.stacks).toEqual([]);
  });

  it('keeps every field of a document with full precision', async () => {
    const flow = await flowOf([{ name: 'a' }, { name: 'b' }]);
    const given = new Document({
      id: 'g',
      text: 'text',
      mimeType: 'text/plain',
      uri: 'https://a.example',
      modality: 'm',
    });
    const { docs } = await ask(flow, { endpoint: '/floats', docs: [given] });
    const [doc] = docs;
    expect(doc).toMatchObject({
      id: 'g',
      text: 'text',
      mimeType: 'text/plain',
      uri: 'https://a.example',
      modality: 'm',
    });
    expect([doc!.weight, doc!.offset, doc!.location]).toEqual([0.1, 1 / 3, [0.1, 2]]);
    expect(doc!.scores).toEqual({ s: { value: 0.7, opName: 'cosine' } });
    expect(JSON.parse(JSON.stringify(doc!.tags))).toEqual({
      n: Number.MAX_SAFE_INTEGER,
      when: '1970-01-01T00:00:00.000Z',
    });
    expect(doc!.chunks.map(({ id, parentId, granularity }) => [id, parentId, granularity])).toEqual([['c', 'g', 1]]);
    expect(doc!.matches.map(({ id, adjacency, blob }) => [id, adjacency, [...blob!]])).toEqual([['m', 1, [1, 2]]]);
  });

  it('keeps arrays and sets the configured array type', async () => {
    const flow = await flowOf([{ name: 'a', outputArrayType: 'list' }]);
    const { docs } = await ask(flow, { endpoint: '/array' });
    expect(docs[0]!.embedding).toMatchObject({ clsName: 'list', dtype: '<f4' });
    expect(docs[0]!.embedding!.toList()).toEqual([1, 2]);
    expect(docs[0]!.tensor!.toList()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const half = NdArray.fromDense({ buffer: new Uint8Array([0, 60]), shape: [1], dtype: '<f2' }, { clsName: 'numpy' });
    const [kept] = (await ask(await sharedFlow(), { endpoint: '/nothing', docs: [new Document({ tensor: half })] }))
      .docs;
    expect(kept!.tensor).toMatchObject({ dtype: '<f2', shape: [1], clsName: 'numpy' });
  });

  it('skips unbound endpoints and reports its endpoints', async () => {
    const flow = await flowOf([{ name: 'a', usesRequests: { '/extra': 'change' } }]);
    expect(flow.endpoints()).toContain('/extra');
    expect(flow.endpoints()).toContain('/list');
    expect(textsOf(await ask(flow, { endpoint: '/extra', docs: texts('x') }))).toEqual(['x a']);
    const passed = await ask(flow, { endpoint: '/other', docs: texts('x') });
    expect(textsOf(passed)).toEqual(['x']);
    expect(passed.routes[1]).toMatchObject({ executor: 'a' });
    expect(passed.routes[1]!.endTime).toBeUndefined();
    expect(await flow.dryRun()).toEqual({ code: 0, description: '' });
  });

  it('batches requests with equal parameters', async () => {
    const flow = await flowOf([
      { name: 'a', uses: 'Batched', usesDynamicBatching: { '/default': { preferredBatchSize: 3, timeout: 300 } } },
    ]);
    const asked = ['x', 'y', 'z'].map((text) => ask(flow, { docs: texts(text), parameters: { p: 1 } }));
    const other = ask(flow, { docs: texts('w'), parameters: { p: 2 } });
    expect((await Promise.all(asked)).map(textsOf)).toEqual([['x1'], ['y1'], ['z1']]);
    expect(textsOf(await other)).toEqual(['w2']);
    const { parameters } = await ask(flow, { parameters: { tell: true } });
    expect(parameters.__results__).toEqual({ 'a/rep-0': { sizes: [3, 1] } });
  });

  it('runs with replicas, shards and executors before and after them', async () => {
    const flow = await flowOf([{ name: 'a', replicas: 2, usesWith: { noWorkspace: true } }]);
    const names = [];
    for (let at = 0; at < 3; at++) {
      names.push(...Object.keys((await ask(flow, { endpoint: '/look' })).parameters.__results__ as object));
    }
    expect(names).toEqual(['a/rep-0', 'a/rep-1', 'a/rep-0']);
    const side = (mark: string) => ({ jtype: 'Work', modules: [file], with: { mark } });
    const sharded = await flowOf([
      { name: 's', shards: 2, polling: 'ALL', usesBefore: side('before'), usesAfter: side('after') },
    ]);
    const answer = await ask(sharded, { endpoint: '/change', docs: texts('x') });
    expect(textsOf(answer)).toEqual(['x before s after', 'x before s after']);
  });

  it('receives an abort on disconnect and on timeout', async () => {
    const flow = await flowOf([{ name: 'a', usesWith: { file: place('waits') } }]);
    const client = new AbortController();
    const asked = ask(flow, { endpoint: '/wait' }, { signal: client.signal });
    await expect.poll(() => linesOf('waits'), { timeout: 10_000 }).toEqual(['waits']);
    client.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    await expect.poll(() => linesOf('waits'), { timeout: 10_000 }).toEqual(['waits', 'aborted: gone']);
    const late = await flowOf([{ name: 'a', usesWith: { file: place('late') }, timeoutSend: 300 }]);
    await expect(ask(late, { endpoint: '/wait' })).rejects.toMatchObject({ name: 'ServiceTimeoutError', code: 504 });
    await expect.poll(() => linesOf('late')[1] ?? '', { timeout: 10_000 }).toMatch(/^aborted: /);
    expect((await ask(flow, { endpoint: '/nothing' })).header.status).toBeUndefined();
  });

  it('runs floating: the answer does not wait, closing does', async () => {
    const options = { file: place('floating'), until: place('may-end') };
    const flow = await flowOf([{ name: 'a' }, { name: 'f', floating: true, usesWith: options }]);
    // Skip the first call, which would wait too.
    const answer = await ask(flow, { endpoint: '/wait', docs: texts('x'), targetExecutor: 'f' });
    expect(textsOf(answer)).toEqual(['x']);
    await expect.poll(() => linesOf('floating'), { timeout: 10_000 }).toEqual(['waits']);
    const closing = flow.close(20_000);
    writeFileSync(place('may-end'), '');
    await closing;
    expect(linesOf('floating')).toEqual(['waits', 'f/rep-0 closed']);
  });

  it('finishes running requests before it is closed once', async () => {
    const flow = await flowOf([{ name: 'a', usesWith: { file: place('closes'), until: place('end') } }]);
    const asked = ask(flow, { endpoint: '/wait', docs: texts('x') });
    await expect.poll(() => linesOf('closes'), { timeout: 10_000 }).toEqual(['waits']);
    const closing = flow.close(20_000);
    await expect(ask(flow)).rejects.toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    writeFileSync(place('end'), '');
    expect(textsOf(await asked)).toEqual(['x']);
    await closing;
    await flow.close();
    expect(linesOf('closes')).toEqual(['waits', 'a/rep-0 closed']);
  });

  it('logs under its name with secrets hidden', async () => {
    const { log, lines } = createRecordingLog();
    const flow = await flowOf([{ name: 'a' }], {}, { log });
    await ask(flow, { endpoint: '/log' });
    const words = () => lines().find(({ msg }) => msg === 'a word of mine');
    await expect.poll(words, { timeout: 10_000 }).toBeDefined();
    expect(words()).toMatchObject({ level: 'warn', executor: 'a/rep-0', count: 3, password: '[secret]' });
  });

  it('logs failures with executor, endpoint, request and stack', async () => {
    const { log, lines } = createRecordingLog();
    const flow = await flowOf([{ name: 'a' }], {}, { log });
    await flow.handle(createRequest({ endpoint: '/fail', requestId: 'r7', docs: [] }));
    const failure = () => lines().find(({ msg }) => msg === 'an executor failed');
    await expect.poll(failure, { timeout: 10_000 }).toBeDefined();
    expect(failure()).toMatchObject({
      level: 'error',
      executor: 'a/rep-0',
      endpoint: '/fail',
      requestId: 'r7',
      error: { type: 'RangeError', message: "it's, 42", stack: expect.stringContaining('work.mjs') },
    });
  });

  it('is counted and timed', async () => {
    const metrics = createFlowMetrics();
    const flow = await flowOf([{ name: 'a' }], {}, { observe: metrics.observe });
    await ask(flow, { endpoint: '/change', docs: texts('x', 'y') });
    await ask(flow, { endpoint: '/fail', docs: texts('x') });
    const text = metrics.text();
    const labels = (endpoint: string) => `{executor="Work",runtime_name="a/rep-0",executor_endpoint="${endpoint}"}`;
    expect(text).toContain(`jina_process_request_seconds_count${labels('/change')} 1`);
    expect(text).toContain(`jina_document_processed_total${labels('/change')} 2`);
    expect(text).toContain('jina_failed_requests_total{runtime_name="a/rep-0"} 1');
    expect(text).toContain('jina_successful_requests_total{runtime_name="a/rep-0"} 1');
  });

  it('reports why it cannot start', async () => {
    const starts = flowOf([
      { name: 'broken', uses: 'Broken' },
      { name: 'late', usesWith: { fails: 'start' } },
      { name: 'nowhere', uses: 'Nowhere' },
      { name: 'plain', uses: 'Plain' },
      { name: 'absent', modules: place('absent.mjs') },
    ]);
    const error = await starts.catch((thrown) => thrown);
    expect(error.name).toBe('FaceNotReadyError');
    expect(error.message).toContain('broken: bad options;');
    expect(error.message).toContain('no model file;');
    expect(error.message).toContain('nowhere: there is no executor Nowhere in work.mjs; built-in executors: none;');
    expect(error.message).toContain('plain: Plain of work.mjs does not extend Executor;');
    expect(error.message).toMatch(/absent: .*absent\.mjs/);
  });

  it('is found among built-in executors when modules lack it', async () => {
    const flow = await flowOf([{ name: 'a', uses: 'BaseExecutor' }]);
    expect(textsOf(await ask(flow, { docs: texts('x') }))).toEqual(['x']);
  });

  it('logs a failed close', async () => {
    const { log, lines } = createRecordingLog();
    const flow = await flowOf([{ name: 'a', usesWith: { fails: 'close' } }], {}, { log });
    await flow.close();
    expect(lines().find(({ msg }) => msg === 'An executor could not be closed')).toMatchObject({
      level: 'error',
      err: { message: expect.stringContaining('it does not want to') },
    });
  });

  it('reloads its changed module while requests run', async () => {
    const body = (mark: string) => `export class Mine extends Executor {
      static requests = { '/default': 'mark' };
      async mark({ docs }) { await new Promise((resolve) => setTimeout(resolve, 5)); for (const doc of docs) doc.text = '${mark}'; }
    }`;
    const mine = writeModule('mine.mjs', index, body('old'));
    try {
      const flow = await flowOf([{ name: 'mine', uses: 'Mine', modules: mine.file }]);
      expect(textsOf(await ask(flow))).toEqual(['old']);
      writeFileSync(mine.file, moduleText(index, body('new')));
      const before = Array.from({ length: 10 }, () => ask(flow));
      const reloading = flow.reload(['mi']);
      const during = Array.from({ length: 10 }, () => ask(flow));
      expect((await reloading).map(({ executor, status }) => [executor, status])).toEqual([['mine', undefined]]);
      for (const answer of await Promise.all([...before, ...during])) {
        expect(textsOf(answer)[0]).toMatch(/^(?:old|new)$/);
      }
      expect(textsOf(await ask(flow))).toEqual(['new']);
      rmSync(mine.file);
      const [kept] = await flow.reload(['mine']);
      expect(kept!.status!.code).toBe(1);
      expect(textsOf(await ask(flow))).toEqual(['new']);
    } finally {
      rmSync(mine.folder, { recursive: true, force: true });
    }
  });
});
