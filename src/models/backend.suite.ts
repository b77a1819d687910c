/** Contract tests for every backend: the built-in one, ONNX files and remote servers. */
import { setMaxListeners } from 'node:events';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend, Embedder, Output, Prepared, Reranker } from './backend.ts';

interface Expected {
  /** Largest difference allowed between vectors or scores of the same input. */
  readonly tolerance?: number;
}

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
const TEXTS = [
  'A river crosses four districts of the town.',
  'Tap water is safe to drink.',
  'Der Fluss fließt durch vier Bezirke.',
  '川は四つの地区を流れている。',
  'مياه الصنبور صالحة للشرب',
  'one',
  'The quick brown fox jumps over the lazy dog, and then it does so again because nobody has seen it.',
];
/** Unusual input, whether accidental or malicious. */
const ODD_TEXTS = [
  '',
  ' ',
  '\n\t\r\n',
  '\u0000',
  '\ud800',
  'half \udc00 a pair',
  '\u200b\u200d\ufeff',
  '👩‍👩‍👧‍👦'.repeat(20),
  'e\u0301'.repeat(200),
  'a'.repeat(1_000),
  '[CLS] [SEP] [MASK] <s> </s> <|endoftext|>',
  '\uffff\ufffe',
];

/** Runs the suite for embeddings. `create` is called once, and its backend is closed at the end. */
export function describeEmbedder(
  name: string,
  create: () => Embedder | Promise<Embedder>,
  { tolerance = 1e-6 }: Expected = {},
): void {
  describe(name, () => {
    let model: Embedder;
    beforeAll(async () => {
      model = await create();
    });
    afterAll(() => model.close());

    const embedAll = (prepared: readonly Prepared[], signal = NEVER): Promise<Output[]> =>
      model.embed(prepared, { output: 'pooled', dimensions: model.dimensions, signal });
    const vectors = async (texts: readonly string[]): Promise<Float32Array[]> => {
      const outputs = await embedAll(await model.prepare(texts, { signal: NEVER }));
      expect(outputs).toHaveLength(texts.length);
      for (const { values, rows } of outputs) {
        expect(rows).toBe(1);
        expect(values).toHaveLength(model.dimensions);
        expect(values.every(Number.isFinite)).toBe(true);
      }
      return outputs.map(({ values }) => values);
    };

    describeLoading(
      () => model,
      async () => {
        const prepared = await model.prepare(TEXTS.slice(0, 2), { signal: NEVER });
        return async () => (await embedAll(prepared)).flatMap(({ values }) => [...values]);
      },
    );

    it('gives each text its own vector, equal alone, in a batch and in any order', async () => {
      const together = await vectors(TEXTS);
      const reversed = (await vectors([...TEXTS].reverse())).reverse();
      for (const [index, text] of TEXTS.entries()) {
        const [alone] = await vectors([text]);
        expect(maxDifference(together[index]!, alone!)).toBeLessThanOrEqual(tolerance);
        expect(maxDifference(together[index]!, reversed[index]!)).toBeLessThanOrEqual(tolerance);
        for (const other of together.slice(index + 1)) {
          expect(maxDifference(together[index]!, other)).toBeGreaterThan(tolerance * 10);
        }
      }
    });

    it('accepts any string', async () => {
      const odd = await vectors(ODD_TEXTS);
      const mixed = await vectors([...ODD_TEXTS, ...TEXTS]);
      for (const [index, vector] of odd.entries())
        expect(maxDifference(vector, mixed[index]!)).toBeLessThanOrEqual(tolerance);
    });

    it('accepts an empty list', async () => {
      expect(await model.prepare([], { signal: NEVER })).toEqual([]);
      expect(await embedAll([])).toEqual([]);
    });

    it('counts tokens before and after truncation', async () => {
      const long = TEXTS[0]!.repeat(30);
      const [short, whole] = await model.prepare([TEXTS[0]!, long], { signal: NEVER });
      expect(short!.tokens).toBeGreaterThan(1);
      expect(short!.fullTokens).toBe(short!.tokens);
      expect(whole!.tokens).toBeGreaterThan(short!.tokens * 15);
      const [kept, cut] = await model.prepare([TEXTS[0]!, long], { maxTokens: short!.tokens + 8, signal: NEVER });
      expect(kept).toMatchObject({ tokens: short!.tokens, fullTokens: short!.tokens });
      expect(cut!.tokens).toBeLessThanOrEqual(short!.tokens + 8);
      expect(cut!.tokens).toBeGreaterThan(short!.tokens / 2);
      expect(cut!.fullTokens).toBe(whole!.fullTokens);
      const [ofKept, ofCut] = await embedAll([kept!, cut!]);
      expect(ofCut!.values.every(Number.isFinite)).toBe(true);
      expect(maxDifference(ofKept!.values, (await vectors([TEXTS[0]!]))[0]!)).toBeLessThanOrEqual(tolerance);
    });

    it('serves concurrent callers', async () => {
      const expected = await vectors(TEXTS);
      const many = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          vectors(TEXTS.slice(index % 3)).then((found) => ({ found, from: index % 3 })),
        ),
      );
      for (const { found, from } of many) {
        for (const [index, vector] of found.entries()) {
          expect(maxDifference(vector, expected[from + index]!)).toBeLessThanOrEqual(tolerance);
        }
      }
    });

    it('accepts more inputs than fit into a batch', async () => {
      const many = Array.from({ length: 400 }, (_, index) => `${TEXTS[index % TEXTS.length]} ${index % 50}`);
      const found = await vectors(many);
      const expected = await vectors(many.slice(0, 350));
      for (const [index, vector] of expected.entries()) {
        expect(maxDifference(vector, found[index]!)).toBeLessThanOrEqual(tolerance);
      }
    });

    describeAbort(
      (signal) => model.prepare(TEXTS, { signal }),
      async (signal) => embedAll(await model.prepare(TEXTS, { signal: NEVER }), signal),
      () => vectors(TEXTS),
    );

    it('pools each item of a document separately, if supported', async () => {
      if (!model.prepareChunks) return;
      const items = TEXTS.slice(0, 3);
      const outputs = await embedAll(await model.prepareChunks('', items, { signal: NEVER }));
      expect(outputs.reduce((sum, { rows }) => sum + rows, 0)).toBe(items.length);
      for (const { values, rows } of outputs) {
        expect(values).toHaveLength(rows * model.dimensions);
        expect(values.every(Number.isFinite)).toBe(true);
      }
    });
  });
}

/** Runs the suite for reranking. `create` is called once, and its backend is closed at the end. */
export function describeReranker(
  name: string,
  create: () => Reranker | Promise<Reranker>,
  { tolerance = 1e-6 }: Expected = {},
): void {
  describe(name, () => {
    let model: Reranker;
    beforeAll(async () => {
      model = await create();
    });
    afterAll(() => model.close());

    const QUERY = 'Is the water safe to drink?';
    const scores = async (documents: readonly string[], query = QUERY): Promise<number[]> => {
      const { pairs, documents: positions } = await model.prepare(query, documents, { signal: NEVER });
      expect(positions).toHaveLength(documents.length);
      expect(positions.flat().toSorted((a, b) => a - b)).toEqual(pairs.map((_, index) => index));
      const found = await model.score(pairs, NEVER);
      expect(found).toHaveLength(pairs.length);
      for (const score of found) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
      return positions.map((own) => Math.max(...own.map((at) => found[at]!)));
    };

    describeLoading(
      () => model,
      async () => {
        const { pairs } = await model.prepare(QUERY, TEXTS.slice(0, 3), { signal: NEVER });
        return async () => [...(await model.score(pairs, NEVER))];
      },
    );

    it('gives each document its own score, equal alone, in a batch and in any order', async () => {
      const together = await scores(TEXTS);
      const reversed = (await scores([...TEXTS].reverse())).reverse();
      expect(new Set(together).size).toBeGreaterThan(1);
      for (const [index, text] of TEXTS.entries()) {
        const [alone] = await scores([text]);
        expect(Math.abs(together[index]! - alone!)).toBeLessThanOrEqual(tolerance);
        expect(Math.abs(together[index]! - reversed[index]!)).toBeLessThanOrEqual(tolerance);
      }
    });

    it('scores the pairs of several queries in one batch', async () => {
      const other = 'Wie viele Bezirke hat die Stadt?';
      const [first, second] = await Promise.all([
        model.prepare(QUERY, TEXTS, { signal: NEVER }),
        model.prepare(other, TEXTS, { signal: NEVER }),
      ]);
      const mixed = [...first.pairs.flatMap((pair, index) => [pair, second.pairs[index]!])];
      const found = await model.score(mixed, NEVER);
      const alone = [await model.score(first.pairs, NEVER), await model.score(second.pairs, NEVER)];
      for (const [index, score] of found.entries()) {
        expect(Math.abs(score - alone[index % 2]![index >> 1]!)).toBeLessThanOrEqual(tolerance);
      }
    });

    it('accepts any string as document and query', async () => {
      await scores(ODD_TEXTS);
      for (const query of ODD_TEXTS.slice(3)) await scores(TEXTS.slice(0, 2), query);
    });

    it('accepts an empty list of documents', async () => {
      expect(await model.prepare(QUERY, [], { signal: NEVER })).toEqual({ pairs: [], documents: [] });
      expect(await model.score([], NEVER)).toHaveLength(0);
    });

    it('splits long documents and queries to the token limit', async () => {
      const options = { maxTokens: 64, signal: NEVER };
      const long = `${TEXTS[0]!.repeat(40)} ${TEXTS[1]} ${TEXTS[0]!.repeat(40)}`;
      for (const query of [QUERY, QUERY.repeat(40)]) {
        const { pairs, documents } = await model.prepare(query, [long, TEXTS[1]!, ''], options);
        expect(documents).toHaveLength(3);
        for (const own of documents) expect(own.length).toBeGreaterThan(0);
        for (const { tokens } of pairs) expect(tokens).toBeLessThanOrEqual(64);
        const found = await model.score(pairs, NEVER);
        expect(found.every((score) => score >= 0 && score <= 1)).toBe(true);
      }
    });

    it('serves concurrent callers', async () => {
      const expected = await scores(TEXTS);
      for (const found of await Promise.all(Array.from({ length: 12 }, () => scores(TEXTS)))) {
        for (const [index, score] of found.entries()) {
          expect(Math.abs(score - expected[index]!)).toBeLessThanOrEqual(tolerance);
        }
      }
    });

    describeAbort(
      (signal) => model.prepare(QUERY, TEXTS, { signal }),
      async (signal) => model.score((await model.prepare(QUERY, TEXTS, { signal: NEVER })).pairs, signal),
      () => scores(TEXTS),
    );
  });
}

/** The largest difference between two vectors in any dimension. */
function maxDifference(a: Float32Array, b: Float32Array): number {
  expect(a).toHaveLength(b.length);
  return a.reduce((most, value, index) => Math.max(most, Math.abs(value - b[index]!)), 0);
}

function expectSame(found: readonly number[], expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) expect(found[index]).toBeCloseTo(value, 5);
}

/** Must be the first test of each backend, because it expects an unloaded model. */
function describeLoading(model: () => Backend, prepareUse: () => Promise<() => Promise<readonly number[]>>): void {
  const use = async () => await (await prepareUse())();

  it('loads once, unloads after running work, and loads again', async () => {
    expect(model().loaded).toBe(false);
    await Promise.all([model().load(), model().load()]);
    expect(model().loaded).toBe(true);
    await model().load();
    const before = await use();

    let done = false;
    const work = (await prepareUse())().then((found) => {
      done = true;
      return found;
    });
    await model().unload();
    await nextLoop();
    expect(done).toBe(true);
    expectSame(await work, before);
    expect(model().loaded).toBe(false);
    await model().unload();
    await model().load();
    expect(model().loaded).toBe(true);
    expectSame(await use(), before);
  });

  it('reports its capacity', () => {
    const { parallel, batch, memoryBytes } = model();
    expect(Number.isInteger(parallel) && parallel > 0).toBe(true);
    expect(batch.tokens).toBeGreaterThan(0);
    expect(batch.inputs).toBeGreaterThan(0);
    expect(memoryBytes).toBeGreaterThanOrEqual(0);
  });
}

function describeAbort(
  prepare: (signal: AbortSignal) => Promise<unknown>,
  run: (signal: AbortSignal) => Promise<unknown>,
  use: () => Promise<unknown>,
): void {
  it('stops for a caller who aborts, and continues for the others', async () => {
    const aborted = AbortSignal.abort(new Error('aborted'));
    await expect(prepare(aborted)).rejects.toThrow('aborted');
    await expect(run(aborted)).rejects.toThrow('aborted');

    const aborting = new AbortController();
    const running = run(aborting.signal);
    const others = use();
    aborting.abort(new Error('aborting'));
    // The call may have finished before it was aborted.
    const outcome = await running.then(
      () => 'done',
      (error: unknown) => (error as Error).message,
    );
    expect(['done', 'aborting']).toContain(outcome);
    await others;
    await use();
  });
}
