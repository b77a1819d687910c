import { describe, expect, it } from 'vitest';
import type { OutputKind } from '../backend.ts';
import { vectorFor, weightsFor, wordTokens } from './model-server.suite.ts';
import {
  closeFetchAfterAll,
  embedderAt,
  embedTexts,
  NEVER,
  type ProtocolName,
  problemOf,
  runsAt,
  startEmbedder,
} from './remote.suite.ts';

closeFetchAfterAll();

const PROTOCOLS: ProtocolName[] = ['openai', 'tei', 'vllm', 'infinity', 'ollama', 'cohere', 'lectern'];
const expected = (text: string, size = 16) => new Float32Array(vectorFor(text, 16).slice(0, size));
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text number ${index}`);

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('returns the vectors of the server', async () => {
    const { model } = await startEmbedder(protocol);
    const outputs = await embedTexts(model, ['one', 'two words', 'été']);
    expect(outputs.map(({ values }) => values)).toEqual(['one', 'two words', 'été'].map((text) => expected(text)));
  });

  it('uses the token counts of the server if they are plausible', async () => {
    const { model } = await startEmbedder(protocol);
    const [alone] = await embedTexts(model, ['three words here']);
    expect(alone!.tokens).toBe(protocol === 'infinity' ? undefined : 5);
    const outputs = await embedTexts(model, ['one', 'three words here', 'a word']);
    const sum = outputs.reduce((total, { tokens }) => total + (tokens ?? 0), 0);
    expect(sum).toBe(protocol === 'infinity' ? 0 : 12);
  });

  it('requests only vector sizes that the model was trained for', async () => {
    const { model, server } = await startEmbedder(protocol, {}, { matryoshka: [8] });
    const prepared = await model.prepare(['a'], { signal: NEVER });
    const [cut] = await model.embed(prepared, { output: 'pooled', dimensions: 8, signal: NEVER });
    expect(cut!.values).toEqual(expected('a', 8));
    const [whole] = await model.embed(prepared, { output: 'pooled', dimensions: 4, signal: NEVER });
    expect(whole!.values).toEqual(expected('a'));
    const asked = server.requests.filter(({ body }) => JSON.stringify(body).includes('dimension'));
    expect(asked).toHaveLength(1);
  });

  it('rejects inconsistent answers', async () => {
    const drop = (list: unknown[]) => list.splice(1, 1);
    const lists = (answer: unknown): unknown[] => {
      const { data, embeddings } = answer as { data?: unknown[]; embeddings?: unknown[] & { float?: unknown[] } };
      return (Array.isArray(answer) ? answer : (data ?? embeddings?.float ?? embeddings)) as unknown[];
    };
    const lies: ((list: unknown[]) => void)[] = [
      (list) => void drop(list),
      (list) => void list.push(list[0]),
      (list) => {
        list[0] = withVector(list[0], [1, 2, 3]);
      },
      (list) => {
        list[0] = withVector(list[0], Array(16).fill('1'));
      },
      (list) => {
        list[0] = withVector(list[0], Array(16).fill(1e300));
      },
      (list) => {
        list[0] = withVector(list[0], 'AAAA');
      },
      (list) => list.fill(null),
    ];
    for (const lie of lies) {
      const change = (answer: never) => {
        lie(lists(answer));
        return answer as unknown;
      };
      const { model, server } = await startEmbedder(protocol, { trouble: () => ({ change }) });
      const failure = await problemOf(embedTexts(model, ['one', 'two', 'three']));
      expect(failure).toMatchObject({ name: 'DownstreamServiceFailureError' });
      expect(server.requests).toHaveLength(1);
    }
  });

  it('splits batches by the limits of the server', async () => {
    const { model, server } = await startEmbedder(protocol, { maxInputs: 20 });
    await model.load();
    const many = texts(150);
    const outputs = await embedTexts(model, many);
    expect(outputs.map(({ values }) => values)).toEqual(many.map((text) => expected(text)));
    // Once the server has reported its limit, no request may be rejected.
    const embeds = server.requests.filter(({ path }) => path !== '/info');
    if (protocol === 'tei') expect(embeds).toHaveLength(8);
    else expect(embeds.length).toBeGreaterThan(8);
  });

  it('truncates long texts if allowed', async () => {
    const { model } = await startEmbedder(protocol, { maxTokens: 60 }, { contextTokens: 60 });
    const long = Array.from({ length: 400 }, (_, index) => `word${index % 10}`).join(' ');
    const outputs = await embedTexts(model, ['short', long, 'brief'], 60);
    expect(outputs[0]!.values).toEqual(expected('short'));
    expect(outputs[2]!.values).toEqual(expected('brief'));
    const begins = Array.from({ length: 60 }, (_, count) => expected(long.split(' ').slice(0, count).join(' ')));
    expect(begins).toContainEqual(outputs[1]!.values);
  });

  it('reports texts that are too long if it may not truncate them', async () => {
    const { model } = await startEmbedder(protocol, { maxTokens: 60 }, { contextTokens: 60 });
    const long = 'word '.repeat(400).trim();
    const [short, tooLong] = await model.prepare(['short', long], { signal: NEVER });
    expect(short!.fullTokens).toBeLessThan(60);
    expect(tooLong!.fullTokens).toBeGreaterThan(60);
    expect(tooLong!.tokens).toBe(tooLong!.fullTokens);
    const work = model.embed([short!, tooLong!], { output: 'pooled', dimensions: 16, signal: NEVER });
    expect(await problemOf(work)).toMatchObject({
      name: 'TokenLimitExceededError',
      message: 'Input text exceeds the model maximum of 60 tokens',
    });
  });
});

/** Copies an entry of a response with its vector replaced. */
const withVector = (entry: unknown, vector: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'embedding' in entry ? { ...entry, embedding: vector } : vector;

describe('order', () => {
  it('is by index where the protocol has one', async () => {
    const change = (answer: { data: unknown[] }) => ({ ...answer, data: answer.data.toReversed() });
    const { model } = await startEmbedder('openai', { trouble: () => ({ change }) });
    const outputs = await embedTexts(model, texts(5));
    expect(outputs.map(({ values }) => values)).toEqual(texts(5).map((text) => expected(text)));
  });

  it('is the order of the answer if rows have no index', async () => {
    const change = (answer: { data: { embedding: unknown }[] }) => ({
      data: answer.data.map(({ embedding }) => ({ embedding })),
    });
    const { model } = await startEmbedder('openai', { trouble: () => ({ change }) });
    expect((await embedTexts(model, texts(3)))[2]!.values).toEqual(expected('text number 2'));
  });
});

describe('size', () => {
  it('of an answer is limited', async () => {
    const { model, server } = await startEmbedder('openai', { dimensions: 16_384 }, { dimensions: 16_384 });
    const outputs = await embedTexts(model, texts(40));
    expect(outputs[39]!.values[0]).toBe(expected('text number 39')[0]);
    expect(server.requests.map(({ body }) => (body.input as string[]).length)).toEqual([16, 16, 8]);
  });

  it('of a request is limited: text beyond the truncation is not sent', async () => {
    const { model, server } = await startEmbedder('tei', { maxTokens: 60 }, { contextTokens: 60 });
    await embedTexts(model, ['word '.repeat(100_000)], 60);
    const [sent] = server.requests.at(-1)!.body.inputs as string[];
    expect(sent!.length).toBeGreaterThan(60 * 5);
    expect(sent!.length).toBeLessThan(60 * 50);
  });
});

describe('base64', () => {
  it('is not requested again from a server that rejected it', async () => {
    const { model, server } = await startEmbedder('openai', { base64: false });
    expect((await embedTexts(model, ['a']))[0]!.values).toEqual(expected('a'));
    await embedTexts(model, ['b']);
    expect(server.requests.map(({ body }) => body.encoding_format)).toEqual(['base64', 'float', 'float']);
  });

  it('is still requested after other rejections', async () => {
    const { model, server } = await startEmbedder('openai', {
      trouble: (_, index) => (index === 1 ? { status: 400 } : undefined),
    });
    await embedTexts(model, ['a']);
    expect(await problemOf(embedTexts(model, ['b']))).toMatchObject({ name: 'DownstreamServiceFailureError' });
    await embedTexts(model, ['c']);
    expect(server.requests.map(({ body }) => body.encoding_format)).toEqual(['base64', 'base64', 'base64']);
  });
});

describe('counting', () => {
  it('is exact near the limit if the server can count', async () => {
    // The server counts twice, and then half, as many tokens as the estimate.
    const dense = 'a b c d e f g h i j '.repeat(5).trim();
    const long = 'internationalization '.repeat(20).trim();
    for (const protocol of ['tei', 'vllm'] as const) {
      const { model } = await startEmbedder(protocol, { maxTokens: 60 }, { contextTokens: 60 });
      const prepared = await model.prepare([dense, long, 'short'], { signal: NEVER });
      expect(prepared.slice(0, 2).map(({ fullTokens }) => fullTokens)).toEqual([wordTokens(dense), wordTokens(long)]);
    }
  });

  it('is requested in lists of a size that the server accepts', async () => {
    const { model, server } = await startEmbedder('tei', { maxInputs: 5 }, { contextTokens: 20 });
    await model.load();
    const prepared = await model.prepare(Array(12).fill('internationalization '.repeat(6)), { signal: NEVER });
    expect(prepared.map(({ fullTokens }) => fullTokens)).toEqual(Array(12).fill(8));
    expect(server.requests.map(({ path }) => path)).toEqual(['/info', '/tokenize', '/tokenize', '/tokenize']);
  });

  it('falls back to the estimate if a gateway blocks it', async () => {
    const { model, server } = await startEmbedder(
      'tei',
      { trouble: ({ path }) => (path === '/embed' ? undefined : { status: 404 }) },
      { contextTokens: 20 },
    );
    await model.load();
    const text = 'word '.repeat(12);
    await model.prepare([text], { signal: NEVER });
    await model.prepare([text], { signal: NEVER });
    expect(server.requests.map(({ path }) => path)).toEqual(['/info', '/tokenize']);
    expect(await embedTexts(model, [text])).toHaveLength(1);
  });

  it('fails with the server', async () => {
    const { model } = await startEmbedder('tei', { trouble: () => ({ status: 500 }) }, { contextTokens: 20 });
    const work = model.prepare(['word '.repeat(12)], { signal: NEVER });
    expect(await problemOf(work)).toMatchObject({ name: 'DownstreamServiceFailureError' });
  });
});

describe('another Lectern', () => {
  const prepare = { task: 'retrieval.query', signal: NEVER };
  const run = (output: OutputKind) => ({ output, dimensions: 16, signal: NEVER });

  it('gets the task, unless the row defines prefixes', async () => {
    const { model, server } = await startEmbedder('lectern');
    const [output] = await model.embed(await model.prepare(['a'], prepare), run('pooled'));
    expect(output!.values).toEqual(expected('retrieval.query: a'));
    expect(server.requests[0]!.body).toMatchObject({
      model: 'there/model',
      task: 'retrieval.query',
      normalized: false,
    });

    const { model: prefixed } = await startEmbedder('lectern', {}, { prefixes: { query: 'query: ' } });
    const [plain] = await prefixed.embed(await prefixed.prepare(['query: a'], prepare), run('pooled'));
    expect(plain!.values).toEqual(expected('query: a'));
  });

  it('embeds texts of several tasks in one batch', async () => {
    const { model, server } = await startEmbedder('lectern');
    const batch = [
      ...(await model.prepare(['a', 'b'], prepare)),
      ...(await model.prepare(['c'], { signal: NEVER })),
      ...(await model.prepare(['d'], prepare)),
    ];
    const outputs = await model.embed(batch, run('pooled'));
    const said = ['retrieval.query: a', 'retrieval.query: b', 'c', 'retrieval.query: d'];
    expect(outputs.map(({ values }) => values)).toEqual(said.map((text) => expected(text)));
    expect(server.requests).toHaveLength(2);
  });

  it('pools the items of a document in the context of the whole', async () => {
    const { model, server } = await startEmbedder('lectern');
    const spans = await model.prepareChunks!('', ['a b', 'c'], { maxTokens: 512, signal: NEVER });
    const other = await model.prepare(['d'], { signal: NEVER });
    const outputs = await model.embed([...spans, ...other], run('pooled'));
    expect(outputs[0]).toMatchObject({ rows: 2, tokens: 7 });
    expect(outputs[0]!.values).toEqual(new Float32Array([...expected('a b c: a b'), ...expected('a b c: c')]));
    expect(outputs[1]!.values).toEqual(expected('d'));
    const late = server.requests.find(({ body }) => body.late_chunking);
    expect(late!.body).toMatchObject({ input: ['a b', 'c'], truncate: true });
  });

  it('returns a vector for each token, with its text', async () => {
    const { model } = await startEmbedder('lectern', {}, { kind: 'omni-v4' });
    const [output] = await model.embed(await model.prepare(['a b'], { signal: NEVER }), run('tokens'));
    expect(output).toMatchObject({ rows: 2, pieces: ['a', 'b'] });
    expect(output!.values).toEqual(new Float32Array([...expected('a'), ...expected('b')]));
  });

  it('returns weights by token', async () => {
    const { model } = await startEmbedder('lectern', {
      trouble: () => ({
        change: (answer: { data: object[] }) => ({
          ...answer,
          data: answer.data.map((entry) => ({ ...entry, embedding: weightsFor('learn machines') })),
        }),
      }),
    });
    const [output] = await model.embed(await model.prepare(['x'], { signal: NEVER }), run('sparse'));
    expect(output!.weights).toEqual({ learn: 2.5, machines: 4 });
  });
});

describe('other outputs', () => {
  it('are a vector for each token at a TEI server', async () => {
    const { model } = await startEmbedder('tei');
    const prepared = await model.prepare(['a b'], { signal: NEVER });
    const [output] = await model.embed(prepared, { output: 'tokens', dimensions: 16, signal: NEVER });
    expect(output!.rows).toBe(3);
    expect(output!.values).toEqual(new Float32Array(['[CLS]', 'a', 'b'].flatMap((word) => [...expected(word)])));
  });

  it('are rejected if the server has none', async () => {
    const { model } = await startEmbedder('openai');
    const prepared = await model.prepare(['a'], { signal: NEVER });
    for (const output of ['tokens', 'sparse'] as const) {
      const work = model.embed(prepared, { output, dimensions: 16, signal: NEVER });
      expect(await problemOf(work)).toMatchObject({ name: 'DownstreamServiceFailureError' });
    }
  });
});

it('sends Cohere the purpose of the texts', async () => {
  const { model, server } = await startEmbedder('cohere');
  for (const task of ['retrieval.query', 'retrieval.passage', 'separation', 'classification', undefined]) {
    const prepared = await model.prepare(['a'], { task, signal: NEVER });
    await model.embed(prepared, { output: 'pooled', dimensions: 16, signal: NEVER });
  }
  expect(server.requests.map(({ body }) => body.input_type)).toEqual([
    'search_query',
    'search_document',
    'clustering',
    'classification',
    'search_document',
  ]);
});

it('throws for an invalid URL', () => {
  for (const url of ['host:8080', 'ftp://host', '', 'http://']) {
    expect(() => embedderAt(runsAt('openai', url))).toThrow('the URL of its server is not valid');
  }
});
