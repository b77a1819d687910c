// Full run only: embeds large inputs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStaticBackends } from './backends.ts';

const { embedder, reranker } = createStaticBackends();
const signal = new AbortController().signal;

async function vectors(texts: readonly string[], dimensions: number): Promise<Float32Array[]> {
  const outputs = await embedder.embed(await embedder.prepare(texts, { signal }), {
    output: 'pooled',
    dimensions,
    signal,
  });
  return outputs.map(({ values, rows }) => {
    expect(rows).toBe(1);
    return values;
  });
}

async function scores(query: string, documents: readonly string[], maxTokens?: number): Promise<number[]> {
  const { pairs, documents: windows } = await reranker.prepare(query, documents, { signal, maxTokens });
  const each = await reranker.score(pairs, signal);
  return windows.map((positions) => Math.max(...positions.map((at) => each[at]!)));
}

beforeAll(() => Promise.all([embedder.load(), reranker.load()]));
afterAll(() => Promise.all([embedder.close(), reranker.close()]));

const TEXTS = [
  'The quick brown fox jumps over the lazy dog.',
  '',
  'Как работает фотосинтез?',
  '光合作用は植物の葉で起こる。',
  'lone \ud800 surrogate \udc00',
  '\u200b\u200b',
  '😀😀 emoji',
  '!?… 😀',
  'the '.repeat(500),
  '\0',
];

describe('vectors', () => {
  test.each([1024, 256, 128, 3])('of %i numbers are unit vectors, or zero without words', async (dimensions) => {
    const found = await vectors(TEXTS, dimensions);
    expect(found.map((values) => values.length)).toEqual(TEXTS.map(() => dimensions));
    for (const [at, values] of found.entries()) {
      expect(Math.hypot(...values)).toBeCloseTo(/[\p{L}\p{N}]/u.test(TEXTS[at]!) ? 1 : 0, 5);
    }
  });

  test('are identical alone, in a batch and when repeated', async () => {
    for (const dimensions of [1024, 100]) {
      const together = await vectors(TEXTS, dimensions);
      const backwards = (await vectors([...TEXTS].reverse(), dimensions)).reverse();
      for (const [at, text] of TEXTS.entries()) {
        const [alone] = await vectors([text], dimensions);
        expect(alone).toEqual(together[at]);
        expect(backwards[at]).toEqual(together[at]);
      }
    }
  });

  test('of long texts do not depend on requests that run in between', async () => {
    const long = Array.from({ length: 60_000 }, (_, at) => `word${at % 977}`).join(' ');
    const [alone] = await vectors([long], 1024);
    const many = await Promise.all([vectors([long], 1024), vectors(TEXTS, 1024), vectors([long, 'tea'], 1024)]);
    expect(many[0][0]).toEqual(alone);
    expect(many[2][0]).toEqual(alone);
  });

  test('of fewer dimensions are truncated and normalized again', async () => {
    const [whole] = await vectors(['A pot of tea'], 256);
    const [short] = await vectors(['A pot of tea'], 64);
    const length = Math.hypot(...whole!.slice(0, 64));
    for (let at = 0; at < 64; at++) expect(short![at]).toBeCloseTo(whole![at]! / length, 6);
  });
});

test('a text is truncated to the requested tokens, with its full length', async () => {
  const text = 'one two three four five six seven';
  const [whole] = await embedder.prepare([text], { signal });
  const [cut] = await embedder.prepare([text], { signal, maxTokens: 3 });
  expect(whole!.tokens).toBe(whole!.fullTokens);
  expect(cut!.fullTokens).toBe(whole!.tokens);
  expect(cut!.tokens).toBe(3);
  const options = { output: 'pooled', dimensions: 1024, signal } as const;
  const [vector] = await embedder.embed([cut!], options);
  expect(vector!.values).toEqual((await vectors(['one two three'], 1024))[0]);
});

describe('bad input', () => {
  test.each([
    ['a very long word', 'x'.repeat(300_000)],
    ['very many ideographs', '光'.repeat(300_000)],
    ['very many marks', 'e\u0301\u0323'.repeat(100_000)],
    ['very many different words', Array.from({ length: 40_000 }, (_, at) => at.toString(36)).join(' ')],
    ['very many lone surrogates', '\udc00'.repeat(300_000)],
  ])('%s', async (_, text) => {
    const [vector] = await vectors([text], 1024);
    expect(vector).toHaveLength(1024);
    expect(vector!.every(Number.isFinite)).toBe(true);
  });

  test('other work runs while a long text is read', async () => {
    let turns = 0;
    let running = true;
    const count = () => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    await vectors([Array.from({ length: 40_000 }, (_, at) => `w${at}`).join(' ')], 1024);
    running = false;
    expect(turns).toBeGreaterThan(3);
  });

  test('an abandoned request ends early', async () => {
    const stop = new AbortController();
    const text = 'some words '.repeat(500_000);
    const work = embedder.prepare([text, text, text], { signal: stop.signal });
    setImmediate(() => stop.abort(new Error('gone')));
    await expect(work).rejects.toThrow('gone');
  });

  test('per-token output is refused', async () => {
    const prepared = await embedder.prepare(['tea'], { signal });
    await expect(embedder.embed(prepared, { output: 'tokens', dimensions: 256, signal })).rejects.toMatchObject({
      name: 'ParamValidationError',
    });
  });
});

describe('reranking', () => {
  const DOCUMENTS = [
    'The stock market fell on Monday.',
    'Plants make their food by photosynthesis in their leaves.',
    '',
    'A plant is a factory.',
    'How to make dinner for everybody.',
  ];

  test('scores are in [0, 1], best for the document that answers', async () => {
    const found = await scores('How do plants make food?', DOCUMENTS);
    for (const score of found) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
    expect(found.indexOf(Math.max(...found))).toBe(1);
    expect(found[2]).toBe(0);
    expect(found[0]).toBeLessThan(found[3]!);
  });

  test('a score depends only on its pair', async () => {
    const together = await scores('How do plants make food?', DOCUMENTS);
    for (const [at, document] of DOCUMENTS.entries()) {
      expect(await scores('How do plants make food?', [document])).toEqual([together[at]]);
    }
  });

  test('a synonym counts, also in another language', async () => {
    const [near, far] = await scores('dog', ['Der Hund schläft.', 'Der Markt schläft.']);
    expect(near).toBeGreaterThan(far!);
  });

  test.each([
    ['ja', '光合作用', ['光合作用は植物の葉で起こる。', '株式市場は月曜日に下落した。']],
    ['ru', 'фотосинтез', ['Как работает фотосинтез в листьях', 'Рынок упал в понедельник']],
    ['th', 'แมว', ['แมวนอนหลับ', 'สุนัขวิ่งเล่น']],
    ['ko', '고양이', ['고양이가 잔다', '개가 달린다']],
  ])('works in scripts that the vocabulary does not know: %s', async (_, query, documents) => {
    const [near, far] = await scores(query, documents);
    expect(near).toBeGreaterThan(far!);
  });

  test('the score of a long document is that of its best window', async () => {
    const filler = 'The market fell on Monday and rose again. '.repeat(60);
    const document = `${filler}Photosynthesis makes sugar. ${filler}`;
    const { pairs, documents } = await reranker.prepare('photosynthesis', [document, filler], {
      signal,
      maxTokens: 64,
    });
    expect(documents[0]!.length).toBeGreaterThan(5);
    expect([...documents[0]!, ...documents[1]!]).toEqual(pairs.map((_, at) => at));
    for (const { tokens } of pairs) expect(tokens).toBeLessThanOrEqual(64);
    const [with_, without] = await scores('photosynthesis', [document, filler], 64);
    expect(with_).toBeGreaterThan(0.2);
    expect(without).toBeLessThan(with_!);
  });

  test('a query takes at most half of the context', async () => {
    const own = (await embedder.prepare(['a pot of tea'], { signal }))[0]!.tokens;
    const { pairs } = await reranker.prepare('tea '.repeat(1_000), ['a pot of tea'], { signal, maxTokens: 100 });
    expect(pairs[0]!.tokens).toBe(50 + own);
    expect(pairs[0]!.fullTokens).toBe(1_000 + own);
  });

  test('empty queries and documents', async () => {
    expect(await scores('!?', ['', 'tea', '!?'])).toHaveLength(3);
    expect(await scores('\u200b', ['tea'])).toEqual([0]);
    expect(await scores('tea', ['\u200b', ' '])).toEqual([0, 0]);
  });
});

test('the model is unloaded when it is unused, and loaded again', async () => {
  const own = createStaticBackends();
  expect(own.embedder.loaded).toBe(false);
  expect(own.embedder.memoryBytes).toBe(0);
  await Promise.all([own.embedder.load(), own.embedder.load(), own.reranker.load()]);
  expect(own.embedder.loaded).toBe(true);
  expect(own.embedder.memoryBytes).toBeGreaterThan(16_716_800);
  await own.embedder.unload();
  expect(own.embedder.loaded).toBe(false);
  expect(own.reranker.loaded).toBe(true);
  await own.reranker.unload();
  await own.embedder.load();
  expect(own.embedder.loaded).toBe(true);
});
