// Full run only: changes state of the whole process.
import { describe, expect, it } from 'vitest';
import { scoreFor } from './model-server.suite.ts';
import {
  closeFetchAfterAll,
  NEVER,
  type ProtocolName,
  problemOf,
  rerankerAt,
  runsAt,
  startReranker,
} from './remote.suite.ts';

closeFetchAfterAll();

const PROTOCOLS: ProtocolName[] = ['tei', 'vllm', 'infinity', 'cohere', 'lectern'];
const QUERY = 'which river';
const documents = (count: number) => Array.from({ length: count }, (_, index) => `document number ${index}`);

describe.each(PROTOCOLS)('%s', (protocol) => {
  it('returns the scores in the order of the pairs, whatever the order of the server', async () => {
    const { model, server } = await startReranker(protocol, { maxInputs: 20 });
    const many = documents(90);
    const { pairs, documents: positions } = await model.prepare(QUERY, many, { signal: NEVER });
    expect(positions).toEqual(many.map((_, index) => [index]));
    const scores = await model.score(pairs, NEVER);
    expect([...scores]).toEqual(many.map((text) => Math.fround(scoreFor(QUERY, text))));
    expect(server.requests.length).toBeGreaterThan(0);
  });

  it('sends one request for each query', async () => {
    const { model, server } = await startReranker(protocol);
    const [first, second] = await Promise.all([
      model.prepare('one', documents(3), { signal: NEVER }),
      model.prepare('two', documents(3), { signal: NEVER }),
    ]);
    await model.score([...first.pairs, ...second.pairs, ...first.pairs], NEVER);
    expect(server.requests.map(({ body }) => body.query)).toEqual(['one', 'two']);
  });

  it('rejects inconsistent answers', async () => {
    const lies: ((list: Record<string, unknown>[]) => void)[] = [
      (list) => void list.pop(),
      (list) => void list.push({ ...list[0] }),
      (list) => void Object.assign(list[0]!, { index: list[1]!.index }),
      (list) => void Object.assign(list[0]!, { index: 77 }),
      (list) => void Object.assign(list[0]!, { score: 4.2, relevance_score: 4.2 }),
      (list) => void Object.assign(list[0]!, { score: '1', relevance_score: null }),
    ];
    for (const lie of lies) {
      const change = (answer: unknown) => {
        lie((Array.isArray(answer) ? answer : (answer as { results: unknown }).results) as Record<string, unknown>[]);
        return answer;
      };
      const { model } = await startReranker(protocol, { trouble: () => ({ change }) });
      const { pairs } = await model.prepare(QUERY, documents(3), { signal: NEVER });
      expect(await problemOf(model.score(pairs, NEVER))).toMatchObject({ name: 'DownstreamServiceFailureError' });
    }
  });

  it('splits long documents into windows, unless the server does', async () => {
    const { model } = await startReranker(protocol, {}, { contextTokens: 64 });
    const long = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ');
    const { pairs, documents: positions } = await model.prepare(QUERY, ['short', long], {
      maxTokens: 64,
      signal: NEVER,
    });
    expect(positions[0]).toEqual([0]);
    if (protocol === 'lectern') expect(positions[1]).toEqual([1]);
    else expect(positions[1]!.length).toBeGreaterThan(5);
    const scores = await model.score(pairs, NEVER);
    const pieces = pairs.map(({ payload }) => (payload as { document: string }).document);
    expect(pieces.slice(1).join('')).toBe(long);
    expect([...scores]).toEqual(pieces.map((piece) => Math.fround(scoreFor(QUERY, piece))));
  });
});

it('reports a pair that is too long if it may not truncate', async () => {
  for (const protocol of PROTOCOLS) {
    const { model } = await startReranker(protocol, { maxTokens: 20 }, { contextTokens: 20 });
    const { pairs } = await model.prepare(QUERY, ['short', 'word '.repeat(50)], { signal: NEVER });
    expect(pairs[1]!.fullTokens).toBeGreaterThan(20);
    expect(await problemOf(model.score(pairs, NEVER))).toMatchObject({ name: 'TokenLimitExceededError' });
  }
});

it('maps a negative cosine of another Lectern to 0', async () => {
  const change = (answer: { results: object[] }) => ({
    results: answer.results.map((result) => ({ ...result, relevance_score: -0.05 })),
  });
  const { model } = await startReranker('lectern', { trouble: () => ({ change }) });
  const { pairs } = await model.prepare(QUERY, documents(2), { signal: NEVER });
  expect([...(await model.score(pairs, NEVER))]).toEqual([0, 0]);
});

it('throws if the protocol has no reranking', () => {
  for (const protocol of ['openai', 'ollama'] as const) {
    expect(() => rerankerAt(runsAt(protocol, 'http://127.0.0.1:1'))).toThrow('does not support reranking');
  }
});
