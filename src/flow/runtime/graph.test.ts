import { afterEach, describe, expect, it } from 'vitest';
import { Document } from '../document.ts';
import { type Call, Executor, requests } from '../executor.ts';
import { ask, closeAll, Fail, flowOf, Mark, Run, routesOf, Tell, texts, textsOf } from '../flow.suite.ts';

afterEach(closeAll);

describe('routing', () => {
  it('runs executors in the order they were added', async () => {
    const flow = await flowOf([
      { name: 'a', uses: Mark },
      { name: 'b', uses: Mark },
      { name: 'c', uses: Mark },
    ]);
    const answer = await ask(flow);
    expect(textsOf(answer)).toEqual(['a b c']);
    expect(routesOf(answer)).toEqual(['gateway', 'a', 'b', 'c']);
    for (const { startTime, endTime, status } of answer.routes) {
      expect(startTime).toBeDefined();
      expect(endTime).toBeDefined();
      expect(status).toBeUndefined();
    }
  });

  it('returns the request without executors', async () => {
    const answer = await ask(await flowOf([]), { docs: texts('as it is') });
    expect(textsOf(answer)).toEqual(['as it is']);
    expect(routesOf(answer)).toEqual(['gateway']);
  });

  it('gives branches their own documents and joins them in the order of `needs`', async () => {
    const slow = async ({ docs }: Call) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      for (const doc of docs) doc.text = 'slow';
    };
    const fast = ({ docs }: Call) => {
      for (const doc of docs) doc.text = 'fast';
      return [...docs, new Document({ id: 'new', text: 'from fast' })];
    };
    const flow = await flowOf([
      { name: 'slow', uses: Run, usesWith: { run: slow }, needs: 'gateway' },
      { name: 'fast', uses: Run, usesWith: { run: fast }, needs: 'gateway' },
      { name: 'join', uses: Mark, needs: ['slow', 'fast'] },
    ]);
    const answer = await ask(flow, { docs: texts('one') });
    expect(textsOf(answer)).toEqual(['slow join', 'from fast join']);
    expect(routesOf(answer)).toEqual(['gateway', 'slow', 'join', 'fast']);
    const other = await flowOf([
      { name: 'slow', uses: Run, usesWith: { run: slow }, needs: 'gateway' },
      { name: 'fast', uses: Run, usesWith: { run: fast }, needs: 'gateway' },
      { name: 'join', needs: ['fast', 'slow'] },
    ]);
    expect(textsOf(await ask(other, { docs: texts('one') }))).toEqual(['fast', 'from fast']);
  });

  it('answers with the output of the last non-floating executor', async () => {
    const flow = await flowOf([
      { name: 'a', uses: Mark },
      { name: 'aside', uses: Mark, floating: true },
      { name: 'b', uses: Mark },
    ]);
    expect(flow.definition.deployments.map(({ needs }) => needs)).toEqual([['start-gateway'], ['a'], ['a']]);
    const answer = await ask(flow);
    expect(textsOf(answer)).toEqual(['a b']);
    expect(routesOf(answer)).toEqual(['gateway', 'a', 'aside', 'b']);
  });

  it('waits for floating executors only when closing and ignores their failures', async () => {
    let done = false;
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const flow = await flowOf([
      { name: 'a', uses: Mark },
      {
        name: 'late',
        uses: Run,
        floating: true,
        usesWith: {
          run: async () => {
            await gate;
            done = true;
          },
        },
      },
      { name: 'broken', uses: Fail, floating: true },
    ]);
    const answer = await ask(flow);
    expect(answer.header.status).toBeUndefined();
    expect(answer.routes.every(({ status }) => !status)).toBe(true);
    expect(done).toBe(false);
    release();
    await flow.close();
    expect(done).toBe(true);
  });
});

describe('dispatch by endpoint', () => {
  it('skips unbound executors and leaves their route without an end time', async () => {
    class Index extends Executor {
      static override readonly requests = requests<Index>({ '/index': 'clear' });
      clear = () => [];
    }
    const flow = await flowOf([
      { name: 'a', uses: Index },
      { name: 'b', uses: Mark },
    ]);
    const answer = await ask(flow, { endpoint: '/other' });
    expect(textsOf(answer)).toEqual(['b']);
    expect(answer.routes[1]!.endTime).toBeUndefined();
    expect(answer.routes[1]!.startTime).toBeDefined();
    expect((await ask(flow, { endpoint: '/index' })).docs).toEqual([]);
    // Endpoints match exactly: without the slash, it is a different endpoint.
    expect(textsOf(await ask(flow, { endpoint: 'index' }))).toEqual(['b']);
    expect(flow.endpoints()).toEqual(['/index']);
  });

  it('runs only catch-all handlers without an endpoint', async () => {
    class Named extends Executor {
      static override readonly requests = requests<Named>({ '/a': 'run' });
      run = () => ({ ran: true });
    }
    const flow = await flowOf([
      { name: 'a', uses: Named },
      { name: 'b', uses: Tell },
    ]);
    const { parameters } = await ask(flow, { endpoint: undefined });
    expect(Object.keys(parameters.__results__ as object)).toEqual(['b/rep-0']);
  });

  it('reaches every executor on the dry-run endpoint', async () => {
    const flow = await flowOf([
      { name: 'a', uses: Fail },
      { name: 'b', uses: Mark },
    ]);
    expect(await flow.dryRun()).toEqual({ code: 0, description: '' });
    const answer = await ask(flow, { endpoint: '_jina_dry_run_', docs: [] });
    expect(answer.routes.map(({ endTime }) => endTime !== undefined)).toEqual([true, true, true]);
  });
});

describe('targetExecutor', () => {
  it('matches the start of names', async () => {
    const flow = await flowOf([
      { name: 'execA', uses: Mark },
      { name: 'execB', uses: Mark },
      { name: 'other', uses: Mark },
    ]);
    const asked = async (targetExecutor: string) => textsOf(await ask(flow, { targetExecutor }));
    expect(await asked('exec')).toEqual(['execA execB']);
    expect(await asked('execB')).toEqual(['execB']);
    expect(await asked('B')).toEqual(['']);
    expect(await asked('.*r$')).toEqual(['other']);
    expect(await asked('exec[B-Z]|oth')).toEqual(['execB other']);
    expect(await asked('nobody')).toEqual(['']);
  });

  it('is removed from forwarded requests and the answer', async () => {
    const flow = await flowOf([{ name: 'a', uses: Mark }]);
    expect((await ask(flow, { targetExecutor: 'a' })).header.targetExecutor).toBeUndefined();
  });

  it('refuses invalid patterns and matches pathological ones quickly', async () => {
    const flow = await flowOf([{ name: 'a'.repeat(60), uses: Mark }]);
    await expect(ask(flow, { targetExecutor: '(' })).rejects.toMatchObject({ name: 'SubmittedDataMalformedError' });
    await expect(ask(flow, { targetExecutor: `[${'a'.repeat(2000)}]` })).rejects.toThrow('longer than 256');
    expect(textsOf(await ask(flow, { targetExecutor: '(a+)+$b' }))).toEqual(['']);
  });
});

describe('parameters', () => {
  it('apply to all executors, or to one by NAME__key or an object', async () => {
    const flow = await flowOf([
      { name: 'a', uses: Tell },
      { name: 'b', uses: Tell },
    ]);
    const parameters = { x: 1, y: 1, a__x: 2, b: { y: 3 }, __z: 4, end__: 5, no__body__k: 6 };
    const answer = await ask(flow, { parameters });
    const results = answer.parameters.__results__ as Record<string, { parameters: unknown }>;
    expect(results['a/rep-0']!.parameters).toEqual({ x: 2, y: 1, b: { y: 3 }, __z: 4, end__: 5 });
    expect(results['b/rep-0']!.parameters).toEqual({ x: 1, y: 3, b: { y: 3 }, __z: 4, end__: 5 });
    const { __results__: _, ...rest } = answer.parameters;
    expect(rest).toEqual(parameters);
  });

  it('are not shared between executors', async () => {
    const change = ({ parameters }: Call) => {
      (parameters.inner as Record<string, unknown>).x = 'changed';
      parameters.more = true;
    };
    const flow = await flowOf([
      { name: 'a', uses: Run, usesWith: { run: change } },
      { name: 'b', uses: Tell },
    ]);
    const answer = await ask(flow, { parameters: { inner: { x: 1 } } });
    expect(answer.parameters.__results__).toMatchObject({ 'b/rep-0': { parameters: { inner: { x: 1 } } } });
    expect(answer.parameters.more).toBeUndefined();
  });

  it('forward an empty __results__ and merge those of branches', async () => {
    const flow = await flowOf([
      { name: 'a', uses: Tell, needs: 'gateway' },
      { name: 'b', uses: Tell, needs: 'gateway' },
      { name: 'c', needs: ['a', 'b'] },
    ]);
    const answer = await ask(flow);
    expect(Object.keys(answer.parameters.__results__ as object)).toEqual(['a/rep-0', 'b/rep-0']);
    const quiet = await flowOf([{ name: 'a', uses: Mark }]);
    expect((await ask(quiet, { parameters: { __results__: {} } })).parameters).toEqual({ __results__: {} });
    expect((await ask(quiet)).parameters).toEqual({});
  });
});

describe('joins', () => {
  it('fill empty fields by document id, recursively', async () => {
    const one = () => [new Document({ id: 'd', tags: { a: 1 }, matches: [new Document({ id: 'm1', text: 'one' })] })];
    const other = () => [
      new Document({
        id: 'd',
        text: 'text',
        tags: { b: 2 },
        embedding: [1],
        matches: [new Document({ id: 'm2' }), new Document({ id: 'm1', text: 'other', uri: 'u' })],
      }),
    ];
    const flow = await flowOf([
      { name: 'a', uses: Run, usesWith: { run: one }, needs: 'gateway' },
      { name: 'b', uses: Run, usesWith: { run: other }, needs: 'gateway' },
      { name: 'c', needs: ['a', 'b'] },
    ]);
    const [doc, ...rest] = (await ask(flow)).docs;
    expect(rest).toEqual([]);
    expect(doc).toMatchObject({ id: 'd', text: 'text', tags: { a: 1 } });
    expect(doc!.embedding!.toList()).toEqual([1]);
    expect(doc!.matches.map(({ id, text, uri }) => ({ id, text, uri }))).toEqual([
      { id: 'm1', text: 'one', uri: 'u' },
      { id: 'm2', text: '', uri: '' },
    ]);
  });

  it('pass the parts unmerged with `no_reduce`', async () => {
    let seen: unknown;
    const look = ({ docs, docsMatrix, docsMap }: Call) => {
      seen = {
        docs: docs.map(({ id }) => id),
        matrix: docsMatrix?.map((part) => part.map(({ id }) => id)),
        map: Object.fromEntries(Object.entries(docsMap ?? {}).map(([name, part]) => [name, part.map(({ id }) => id)])),
      };
    };
    const flow = await flowOf([
      { name: 'a', uses: Mark, needs: 'gateway' },
      { name: 'b', uses: Run, needs: 'gateway', usesWith: { run: () => [new Document({ id: 'fresh' })] } },
      { name: 'c', uses: Run, needs: ['a', 'b'], noReduce: true, usesWith: { run: look } },
    ]);
    const answer = await ask(flow);
    expect(seen).toEqual({
      docs: ['d0', 'fresh'],
      matrix: [['d0'], ['fresh']],
      map: { a: ['d0'], b: ['fresh'] },
    });
    expect(answer.docs.map(({ id }) => id)).toEqual(['d0', 'fresh']);
  });

  it('are skipped after a failed branch, while other branches run', async () => {
    const ran: string[] = [];
    const flow = await flowOf([
      { name: 'bad', uses: Fail, needs: 'gateway' },
      { name: 'after_bad', uses: Mark, needs: 'bad' },
      { name: 'good', uses: Run, needs: 'gateway', usesWith: { run: () => void ran.push('good') } },
      { name: 'join', uses: Run, needs: ['after_bad', 'good'], usesWith: { run: () => void ran.push('join') } },
    ]);
    const answer = await ask(flow, { docs: texts('as it was') });
    expect(ran).toEqual(['good']);
    expect(textsOf(answer)).toEqual(['as it was']);
    expect(answer.header.status).toMatchObject({ code: 1, exception: { name: 'RangeError', executor: 'Fail' } });
    expect(routesOf(answer)).toEqual(['gateway', 'bad', 'good']);
    expect(answer.routes[1]!.status).toEqual(answer.header.status);
    expect(answer.routes[2]!.status).toBeUndefined();
  });
});

describe('when', () => {
  it('filters documents by branch and restores their order, new ones last', async () => {
    const add = ({ docs }: Call) => [new Document({ id: 'new' }), ...docs];
    const flow = await flowOf([
      { name: 'cats', uses: Mark, needs: 'gateway', when: { tags__kind: { $eq: 'cat' } } },
      { name: 'dogs', uses: Run, usesWith: { run: add }, needs: 'gateway', when: { tags__kind: { $eq: 'dog' } } },
      { name: 'join', needs: ['dogs', 'cats'] },
    ]);
    const kinds = ['cat', 'dog', 'cat', 'cow', 'dog'];
    const docs = kinds.map((kind, at) => new Document({ id: `${kind}${at}`, tags: { kind } }));
    const answer = await ask(flow, { docs });
    expect(answer.docs.map(({ id }) => id)).toEqual(['cat0', 'dog1', 'cat2', 'dog4', 'new']);
  });

  it('sends an empty list if no document matches', async () => {
    const flow = await flowOf([{ name: 'a', uses: Tell, when: { text: { $eq: 'no' } } }]);
    const answer = await ask(flow);
    expect(answer.docs).toEqual([]);
    expect(answer.parameters.__results__).toMatchObject({ 'a/rep-0': { docs: 0 } });
  });
});
