import { afterEach, describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { defineFlow } from '../definition/define-flow.ts';
import { Document } from '../document.ts';
import { createFlow, type Flow } from '../flow.ts';
import { createRequest, type DataRequest, type RequestInit } from '../request.ts';
import type { JsonValue } from '../values.ts';
import { BUILT_IN_NAMES, createBuiltIns } from './built-in.ts';
import type { BuiltInTools, Collection, EmbedAsk, Entry, FoundPassage, ReadSource } from './tools.ts';

/** Stubs of the reader and models that record their calls. */
function createStubTools() {
  const recorded = {
    sources: [] as ReadSource[],
    options: [] as Readonly<Record<string, unknown>>[],
    embedded: [] as { texts: readonly string[]; ask: Omit<EmbedAsk, 'signal'> }[],
    opened: [] as string[],
    closed: [] as string[],
  };
  const collections = new Map<string, Map<string, Entry>>();

  function collectionOf(name: string): Collection {
    const entries = collections.get(name) ?? new Map<string, Entry>();
    collections.set(name, entries);
    return {
      add: async (added) =>
        added.map((entry) => {
          const isNew = entries.get(entry.id)?.content !== entry.content;
          entries.set(entry.id, entry);
          return isNew;
        }),
      remove: async ({ id }) => entries.delete(id),
      search: async (question, { limit }) =>
        [...entries.values()]
          .filter(({ content }) => content.includes(question))
          .map(
            ({ id, url, title, content }, at): FoundPassage => ({
              id,
              url,
              title,
              heading: 'Above',
              text: content,
              start: 0,
              end: content.length,
              score: 1 / (at + 1),
            }),
          )
          .slice(0, limit),
      close: async () => {
        recorded.closed.push(name);
      },
    };
  }

  const tools: BuiltInTools = {
    reading(options) {
      if ('nonsense' in options) throw problem('ParamValidationError', { path: 'nonsense', message: 'No such option' });
      recorded.options.push(options);
      return async (source) => {
        recorded.sources.push(source);
        if ('url' in source && source.url.endsWith('/gone')) {
          throw problem('AssertionFailureError', { message: 'There is nothing there' });
        }
        if ('url' in source) return { text: `# ${source.url}`, title: 'Found', url: `${source.url}/moved` };
        return { text: Buffer.from(source.bytes).toString('latin1'), title: '' };
      };
    },
    cut: (text) => [
      { start: 0, end: 4, heading: '' },
      { start: 5, end: text.length, heading: 'Below' },
    ],
    async embed(texts, { signal: _, ...ask }) {
      recorded.embedded.push({ texts, ask });
      return texts.map((text) => Float32Array.of(text.length, 1));
    },
    rerank: async (_, texts) => texts.map((text) => text.length),
    async openCollection(name) {
      recorded.opened.push(name);
      return collectionOf(name);
    },
    ocr: async (picture) => ({ text: `${picture.length} bytes`, confidence: 0.5 }),
  };
  return { tools, recorded, collections };
}

const open: Flow[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((flow) => flow.close(1000)));
});

async function flowOf(tools: BuiltInTools, ...uses: (string | Record<string, unknown>)[]): Promise<Flow> {
  const builder = defineFlow();
  for (const one of uses) builder.add(typeof one === 'string' ? { uses: one } : one);
  const flow = createFlow(builder.definition(), { executors: createBuiltIns(tools) });
  open.push(flow);
  await flow.start();
  return flow;
}

const send = (flow: Flow, endpoint: string, docs: Document[], rest: RequestInit = {}): Promise<DataRequest> =>
  flow.handle(createRequest({ endpoint, docs, ...rest }));

const failureOf = ({ header }: DataRequest) => header.status?.exception;

it('match the list of names', () => {
  expect(Object.keys(createBuiltIns(createStubTools().tools))).toEqual(BUILT_IN_NAMES);
});

describe('Read', () => {
  it('reads URLs and files but not texts and arrays', async () => {
    const { tools, recorded } = createStubTools();
    const flow = await flowOf(tools, 'Read');
    const { docs } = await send(flow, '/index', [
      new Document({ uri: 'https://a.example/x', tags: { title: 'Mine', collections: 1 } }),
      new Document({ blob: Buffer.from('file'), mimeType: 'text/html', uri: 'https://a.example/name.html?q' }),
      new Document({ text: 'as it is', uri: 'https://a.example/y' }),
      new Document({ tensor: [1, 2], uri: 'https://a.example/z' }),
      new Document(),
    ]);
    expect(docs.map(({ text }) => text)).toEqual(['# https://a.example/x', 'file', 'as it is', '', '']);
    expect(docs[0]).toMatchObject({ mimeType: 'text/markdown', uri: 'https://a.example/x' });
    expect(docs[0]!.tags).toEqual({ title: 'Mine', collections: 1, url: 'https://a.example/x/moved' });
    expect(docs[3]!.tensor?.toList()).toEqual([1, 2]);
    expect(recorded.sources).toEqual([
      { url: 'https://a.example/x' },
      { bytes: Buffer.from('file'), mediaType: 'text/html', name: 'https://a.example/name.html' },
    ]);
  });

  it.each([
    ['data:text/plain;base64,aGVsbG8=', 'hello', 'text/plain'],
    ['data:text/plain;charset=utf-8;base64,aGVsbG8%3D', 'hello', 'text/plain;charset=utf-8'],
    ['data:,a%20b%E9', 'a b\u00e9', 'text/plain;charset=US-ASCII'],
  ])('decodes %s', async (uri, text, mediaType) => {
    const { tools, recorded } = createStubTools();
    const { docs } = await send(await flowOf(tools, 'Read'), '/index', [new Document({ uri })]);
    expect(docs[0]!.text).toBe(text);
    expect(recorded.sources).toMatchObject([{ mediaType }]);
  });

  it('tags unreadable documents and fails when all are', async () => {
    const { tools } = createStubTools();
    const flow = await flowOf(tools, 'Read');
    const gone = () => new Document({ uri: 'https://a.example/gone' });
    const some = await send(flow, '/index', [gone(), new Document({ uri: 'https://a.example/x' })]);
    expect(some.header.status).toBeUndefined();
    expect(some.docs[0]!.tags).toEqual({
      error: { name: 'AssertionFailureError', message: 'There is nothing there' },
    });
    expect(some.docs[1]!.text).toBe('# https://a.example/x');
    const none = await send(flow, '/index', [gone(), new Document({ uri: 'file:///etc/passwd' })]);
    expect(failureOf(none)).toMatchObject({ name: 'AssertionFailureError', executor: 'Read', stacks: [] });
    expect(none.docs[1]!.tags).toMatchObject({ error: { name: 'ParamValidationError' } });
  });

  it('removes the error tag after a successful read', async () => {
    const { tools } = createStubTools();
    const doc = new Document({ uri: 'https://a.example/x', tags: { error: { name: 'Before' } } });
    const { docs } = await send(await flowOf(tools, 'Read'), '/index', [doc]);
    expect(docs[0]!.tags).not.toHaveProperty('error');
  });

  it('accepts reader options from the flow and harmless ones from requests', async () => {
    const { tools, recorded } = createStubTools();
    const flow = await flowOf(tools, { uses: 'Read', usesWith: { reader: { retainLinks: 'all' } } });
    const docs = () => [new Document({ uri: 'https://a.example/x' })];
    await send(flow, '/index', docs(), { parameters: { reader: { targetSelector: 'main' } } });
    expect(recorded.options).toEqual([{ retainLinks: 'all' }, { retainLinks: 'all', targetSelector: 'main' }]);
    const refusals: JsonValue[] = [{ proxyUrl: 'http://a.example' }, { engine: 'vlm' }, 'main'];
    for (const reader of refusals) {
      const refused = await send(flow, '/index', docs(), { parameters: { reader } });
      expect(failureOf(refused)?.name).toBe('ParamValidationError');
    }
  });

  it.each([[{ reader: { nonsense: 1 } }], [{ at_once: 0 }], [{ reeder: {} }]])(
    'does not start with %j',
    async (usesWith) => {
      const { tools } = createStubTools();
      await expect(flowOf(tools, { uses: 'Read', usesWith })).rejects.toThrow('could not start');
    },
  );
});

describe('Chunk', () => {
  it('cuts texts into passages with locations', async () => {
    const { tools } = createStubTools();
    const doc = new Document({ id: 'd', text: 'head tail', uri: 'https://a.example/', chunks: [new Document()] });
    const { docs } = await send(await flowOf(tools, 'Chunk'), '/index', [doc, new Document({ blob: Buffer.of(1) })]);
    expect(docs[0]!.text).toBe('head tail');
    expect(docs[0]!.chunks).toMatchObject([
      { text: 'head', location: [0, 4], parentId: 'd', granularity: 1, tags: {} },
      { text: 'tail', location: [5, 9], parentId: 'd', granularity: 1, tags: { heading: 'Below' } },
    ]);
    expect(docs[1]!.chunks).toEqual([]);
  });
});

describe('Embed', () => {
  it('embeds queries as queries, chunks instead of their documents, and only texts', async () => {
    const { tools, recorded } = createStubTools();
    const flow = await flowOf(tools, { uses: 'Embed', usesWith: { dimensions: 64 } });
    const chunked = new Document({ text: 'whole', chunks: [new Document({ text: 'part' })] });
    const { docs } = await send(flow, '/index', [chunked, new Document({ text: 'x' }), new Document()]);
    expect(docs.map(({ embedding }) => embedding?.toList())).toEqual([undefined, [1, 1], undefined]);
    expect(docs[0]!.chunks[0]!.embedding?.dtype).toBe('<f4');
    await send(flow, '/search', [new Document({ text: 'why' })], { parameters: { dimensions: 32 } });
    await send(flow, '/search', [new Document()]);
    expect(recorded.embedded).toEqual([
      { texts: ['part', 'x'], ask: { side: 'passage', dimensions: 64 } },
      { texts: ['why'], ask: { side: 'query', dimensions: 32 } },
    ]);
  });

  it('can be configured with `of` and `side`', async () => {
    const { tools, recorded } = createStubTools();
    const flow = await flowOf(tools, { uses: 'Embed', usesWith: { of: 'documents', side: 'query', model: 'm' } });
    await send(flow, '/x', [new Document({ text: 'whole', chunks: [new Document({ text: 'part' })] })]);
    expect(recorded.embedded).toEqual([{ texts: ['whole'], ask: { model: 'm', side: 'query' } }]);
  });
});

describe('Rerank', () => {
  it('sorts matches by score, stable for ties, and keeps the best', async () => {
    const { tools } = createStubTools();
    const flow = await flowOf(tools, { uses: 'Rerank', usesWith: { limit: 3 } });
    const question = () =>
      new Document({ id: 'q', text: 'q', matches: ['a', 'bbb', 'b', 'cc'].map((text) => new Document({ text })) });
    const { docs } = await send(flow, '/search', [question(), new Document({ text: 'alone' })]);
    expect(docs[0]!.matches.map(({ text }) => text)).toEqual(['bbb', 'cc', 'a']);
    expect(docs[0]!.matches[0]!.scores.relevance).toEqual({ value: 3, opName: 'rerank', refId: 'q' });
    const fewer = await send(flow, '/search', [question()], { parameters: { top_k: 1 } });
    expect(fewer.docs[0]!.matches).toHaveLength(1);
  });
});

describe('Index and Search', () => {
  it('share a collection, report counts and close it', async () => {
    const { tools, recorded } = createStubTools();
    const flow = await flowOf(tools, 'Index', 'Search');
    const docs = () => [
      new Document({ id: 'a', text: 'one two', uri: 'https://a.example/', tags: { title: 'A' } }),
      new Document({ id: 'b', text: 'two three', uri: 'file:///b' }),
      new Document({ id: 'c' }),
    ];
    const first = await send(flow, '/index', docs());
    expect(first.parameters.__results__).toEqual({ 'executor0/rep-0': { indexed: 2, unchanged: 0, skipped: 1 } });
    const again = await send(flow, '/update', docs());
    expect(again.parameters.__results__).toEqual({ 'executor0/rep-0': { indexed: 0, unchanged: 2, skipped: 1 } });

    const ask = async (parameters = {}) => {
      const questions = [new Document({ id: 'q', text: 'two' }), new Document()];
      return (await send(flow, '/search', questions, { parameters })).docs;
    };
    const [answered, silent] = await ask();
    expect(answered!.matches).toMatchObject([
      {
        text: 'one two',
        uri: 'https://a.example/',
        parentId: 'a',
        adjacency: 1,
        location: [0, 7],
        tags: { title: 'A', heading: 'Above' },
        scores: { relevance: { value: 1, opName: 'search', refId: 'q' } },
      },
      { text: 'two three', uri: '', parentId: 'b' },
    ]);
    expect(silent!.matches).toEqual([]);
    expect((await ask({ limit: 1 }))[0]!.matches.map(({ id }) => id)).toEqual([answered!.matches[0]!.id]);

    const removed = await send(flow, '/delete', [new Document('a'), new Document('nobody')]);
    expect(removed.parameters.__results__).toEqual({ 'executor0/rep-0': { removed: 1, unknown: 1 } });
    expect((await ask())[0]!.matches.map(({ parentId }) => parentId)).toEqual(['b']);
    expect(recorded.opened).toEqual(['documents', 'documents']);
    await flow.close();
    expect(recorded.closed).toEqual(['documents', 'documents']);
  });

  it('find more candidates for a later executor', async () => {
    const { tools } = createStubTools();
    const flow = await flowOf(tools, 'Index', { uses: 'Search', usesWith: { candidates: 3 } }, 'Rerank');
    await send(
      flow,
      '/index',
      ['two', 'two.', 'two..'].map((text, at) => new Document({ id: `d${at}`, text })),
    );
    const { docs } = await send(flow, '/search', [new Document({ text: 'two' })], { parameters: { limit: 1 } });
    expect(docs[0]!.matches.map(({ text }) => text)).toEqual(['two..']);
  });

  it('use one collection for each shard', async () => {
    const { tools, recorded, collections } = createStubTools();
    const flow = await flowOf(tools, { uses: 'Index', shards: 2 }, { uses: 'Search', shards: 2 });
    await send(flow, '/index', [new Document({ id: 'a', text: 'two' })]);
    await send(flow, '/index', [new Document({ id: 'b', text: 'two' })]);
    expect([...new Set(recorded.opened)].sort()).toEqual(['documents-0', 'documents-1']);
    expect([...collections.values()].map(({ size }) => size)).toEqual([1, 1]);
    const { docs } = await send(flow, '/search', [new Document({ text: 'two' })]);
    expect(docs[0]!.matches.map(({ parentId }) => parentId).sort()).toEqual(['a', 'b']);
  });

  it.each([['../up'], [''], ['a'.repeat(65)]])('refuse the collection name %j', async (collection) => {
    const { tools } = createStubTools();
    await expect(flowOf(tools, { uses: 'Index', usesWith: { collection } })).rejects.toThrow('could not start');
  });

  it('refuse an invalid limit', async () => {
    const { tools } = createStubTools();
    const flow = await flowOf(tools, 'Search');
    const answer = await send(flow, '/search', [new Document({ text: 'x' })], { parameters: { limit: -1 } });
    expect(failureOf(answer)?.name).toBe('ParamValidationError');
  });
});

describe('Ocr', () => {
  it('converts images to text', async () => {
    const { tools } = createStubTools();
    const { docs } = await send(await flowOf(tools, 'Ocr'), '/index', [
      new Document({ blob: Buffer.of(1, 2, 3), mimeType: 'image/png' }),
      new Document({ blob: Buffer.of(1), mimeType: 'application/pdf' }),
      new Document({ text: 'text' }),
    ]);
    expect(docs.map(({ text }) => text)).toEqual(['3 bytes', '', 'text']);
    expect(docs[0]).toMatchObject({ mimeType: 'text/plain', tags: { confidence: 0.5 } });
    expect(docs[1]!.blob).toHaveLength(1);
  });

  it('does not start without text recognition', async () => {
    const { tools } = createStubTools();
    await expect(flowOf({ ...tools, ocr: undefined }, 'Ocr')).rejects.toThrow('turned off');
  });
});
