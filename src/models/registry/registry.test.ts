import { describe, expect, it } from 'vitest';
import { fakeRerankRow, fakeRow } from '../embed/embed.suite.ts';
import { createAvailability } from './availability.ts';
import type { ModelRow } from './catalogue.ts';
import { type Availability, createRegistry } from './registry.ts';

const rows = [
  fakeRow('dense', { hub: 'makers/Dense-EN', kind: 'text-v2' }),
  fakeRow('other', { hub: 'makers/other' }),
  fakeRerankRow('ranker'),
];

interface Setup {
  aliases?: Record<string, string>;
  away?: Set<string>;
  rows?: readonly ModelRow[];
  defaultReranker?: string;
  defaultEmbedder?: string;
}

function registry(options: Setup = {}) {
  let looks = 0;
  let clock = 0;
  const created = createRegistry({
    rows: options.rows ?? rows,
    aliases: options.aliases ?? {},
    defaultReranker: options.defaultReranker,
    defaultEmbedder: options.defaultEmbedder,
    now: () => clock,
    availabilityCheck: {
      availability: ({ id }): Availability => (options.away?.has(id) ? 'away' : 'here'),
      async look() {
        looks++;
      },
    },
  });
  return {
    ...created,
    looks: () => looks,
    wait(ms: number) {
      clock += ms;
    },
  };
}

describe('model names', () => {
  it('are ids, repositories, and ids with any organization', async () => {
    const { embedding } = registry();
    for (const name of ['dense', 'makers/Dense-EN', 'makers/dense', 'anybody/dense']) {
      expect((await embedding(name)).row.id, name).toBe('dense');
    }
    for (const name of ['Dense', 'makers/dense/x', 'dense/', '']) {
      await expect(embedding(name), name).rejects.toMatchObject({ name: 'ModelNotFoundError' });
    }
  });

  it('can be aliases, with the API features of the model that they imitate', async () => {
    const { embedding, reranker } = registry({
      aliases: { 'jina-embeddings-v3': 'makers/Dense-EN', 'my-model': 'dense', 'jina-reranker-v3': 'ranker' },
    });
    expect(await embedding('jina-embeddings-v3')).toMatchObject({ kind: 'text-v3', row: { id: 'dense' }, alias: true });
    expect(await embedding('jina-ai/jina-embeddings-v3')).toMatchObject({ kind: 'text-v3' });
    expect(await embedding('my-model')).toMatchObject({ kind: 'text-v2' });
    expect(await reranker('jina-reranker-v3')).toMatchObject({ row: { id: 'ranker' } });
    await expect(embedding('jina-reranker-v3')).rejects.toMatchObject({ name: 'ModelNotFoundError' });
  });

  it('of aliases take precedence over those of rows', async () => {
    const { embedding, list } = registry({ aliases: { other: 'dense' } });
    expect((await embedding('other')).row.id).toBe('dense');
    expect((await list()).map(({ name }) => name)).toEqual(['dense', 'ranker', 'other']);
  });

  it('of hosted rerankers mean the default reranker, unless they are served', async () => {
    const { reranker, embedding } = registry({ defaultReranker: 'ranker' });
    for (const name of ['rerank-v3.5', 'jina-reranker-v2-base-multilingual', 'jinaai/jina-reranker-m0', 'reranker']) {
      const short = name.replace('jinaai/', '');
      expect(await reranker(name)).toMatchObject({ name: short, row: { id: 'ranker' }, alias: true });
    }
    await expect(reranker('no-such-reranker')).rejects.toMatchObject({ name: 'ModelNotFoundError' });
    await expect(embedding('rerank-v3.5')).rejects.toMatchObject({ name: 'ModelNotFoundError' });
    const own = registry({
      defaultReranker: 'ranker',
      aliases: { 'rerank-v3.5': 'other-ranker' },
      rows: [...rows, fakeRerankRow('other-ranker')],
    });
    expect((await own.reranker('rerank-v3.5')).row.id).toBe('other-ranker');
    const without = registry({ defaultReranker: 'ranker', away: new Set(['ranker']) });
    await expect(without.reranker('rerank-v3.5')).rejects.toMatchObject({ name: 'ModelNotFoundError' });
    expect(() => registry({ defaultReranker: 'dense' })).toThrow('defaultReranker: dense is not a known reranker');
    expect(() => registry({ defaultEmbedder: 'ranker' })).toThrow(
      'defaultEmbedder: ranker is not a known embedding model',
    );
  });

  it('of unknown embedders are refused with the setting that replaces them', async () => {
    const { embedding } = registry();
    await expect(embedding('text-embedding-3-small')).rejects.toMatchObject({
      message:
        'Model text-embedding-3-small not found. Available for /v1/embeddings: dense, other. To use another model for this name, set LECTERN_MODEL_ALIASES={"text-embedding-3-small":"dense"}',
    });
  });

  it('of known embedders that are not on this machine are refused with both ways to serve them', async () => {
    const { embedding } = registry({ away: new Set(['dense']) });
    await expect(embedding('dense')).rejects.toMatchObject({
      message:
        'Model dense not found. It is not on this machine: `lectern models pull dense` downloads it. Available for /v1/embeddings: other. To use another model for this name, set LECTERN_MODEL_ALIASES={"dense":"other"}',
    });
  });

  it('of replaced models are refused with the new name, unless they are aliases', async () => {
    const { embedding, reranker } = registry();
    await expect(embedding('lectern-static-v1')).rejects.toMatchObject({
      message:
        'Model lectern-static-v1 was replaced by lectern-static-v2, and the vectors of the two cannot be compared: embed your texts anew',
    });
    await expect(reranker('lectern-static-rerank-v1')).rejects.toMatchObject({
      message: 'Model lectern-static-rerank-v1 was replaced by lectern-static-rerank-v2',
    });
    const aliased = registry({ aliases: { 'lectern-static-v1': 'dense' } });
    expect((await aliased.embedding('lectern-static-v1')).row.id).toBe('dense');
  });

  it('of aliases for unknown models are refused at the start', () => {
    expect(() => registry({ aliases: { mine: 'none' } })).toThrow('mine refers to the unknown model none');
  });

  it('of aliases for unsuitable models are refused at the start', () => {
    const builtIn = fakeRow('built-in', { runs: { on: 'static' } });
    for (const [name, target] of [
      ['jina-colbert-v2', 'built-in'],
      ['elser-v2', 'built-in'],
      ['elastic/elser-v2', 'dense'],
    ] as const) {
      const start = () => registry({ rows: [...rows, builtIn], aliases: { [name]: target } });
      expect(start, name).toThrow(new RegExp(`^modelAliases: ${name} requires .*, which ${target} does not support$`));
    }
    const sparse = fakeRow('sparse', { kind: 'sparse' });
    const aliases = { 'jina-colbert-v2': 'dense', 'elser-v2': 'sparse', 'jina-colbert-v1-en': 'ranker' };
    expect(() => registry({ rows: [...rows, sparse], aliases })).not.toThrow();
  });

  it("in the operator's rows replace the known ones", async () => {
    const { embedding } = registry({ rows: [...rows, fakeRow('dense', { dimensions: 4 })] });
    expect((await embedding('dense')).row.dimensions).toBe(4);
  });
});

describe('unavailable models', () => {
  it('are not served or listed until they become available', async () => {
    const away = new Set(['dense']);
    const { embedding, list, listAll, looks, wait } = registry({ away, aliases: { mine: 'dense' } });
    await expect(embedding('mine')).rejects.toMatchObject({
      message:
        'Model mine not found. It is not on this machine: `lectern models pull dense` downloads it. Available for /v1/embeddings: other',
    });
    expect((await list()).map(({ name }) => name)).toEqual(['other', 'ranker']);
    expect((await listAll()).map(({ name }) => name)).toEqual(['other', 'ranker', 'dense', 'mine']);
    expect(looks()).toBe(1);
    away.clear();
    wait(1_001);
    expect((await embedding('mine')).row.id).toBe('dense');
    expect((await list()).map(({ name }) => name)).toEqual(['dense', 'other', 'ranker', 'mine']);
    expect(looks()).toBe(2);
  });

  it('are those without files if downloads are off or the license forbids downloading', async () => {
    const here = new Set<string>();
    const hub = {
      onDisk: async ({ id }: ModelRow) => (here.has(id) ? { folder: '', bytes: 1, commit: '' } : undefined),
    };
    const [free, own] = [fakeRow('free'), fakeRow('own', { licence: 'CC-BY-NC-4.0' })];
    const builtIn = fakeRow('built-in', { runs: { on: 'static' } });
    const states = async (download: 'on' | 'off') => {
      const availability = createAvailability({ hub, download });
      await availability.look([free, own, builtIn]);
      return [free, own, builtIn].map((row) => availability.availability(row));
    };
    expect(await states('on')).toEqual(['download', 'away', 'here']);
    expect(await states('off')).toEqual(['away', 'away', 'here']);
    here.add('free').add('own');
    expect(await states('off')).toEqual(['here', 'here', 'here']);
    const unpublished = fakeRow('unpublished', { runs: { on: 'onnx', file: 'model.onnx', unpublished: true } });
    expect(createAvailability({ hub, download: 'on' }).availability(unpublished)).toBe('away');
  });
});
