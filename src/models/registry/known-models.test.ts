import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import { neededFiles, onnxRuns } from '../hub/folder.ts';
import type { ModelRow } from './catalogue.ts';
import { inPrecision, isNonCommercial, KNOWN_MODELS } from './known-models.ts';
import { modelRowShape, readModelRows } from './operator-models.ts';

describe('the known models', () => {
  it('have distinct ids and repositories', () => {
    expect(KNOWN_MODELS.length).toBeGreaterThan(15);
    expect(new Set(KNOWN_MODELS.map(({ id }) => id)).size).toBe(KNOWN_MODELS.length);
    expect(new Set(KNOWN_MODELS.map(({ hub }) => hub)).size).toBe(KNOWN_MODELS.length);
  });

  it.each(KNOWN_MODELS.map((row) => [row.id, row] as const))('%s matches the schema of rows', (_, row) => {
    expect(modelRowShape.parse(structuredClone(row))).toEqual(row);
  });

  it('mark the models without a license for commercial use', () => {
    const marked = KNOWN_MODELS.filter(({ licence }) => isNonCommercial(licence)).map(({ id }) => id);
    expect(marked).toEqual([
      'jina-embeddings-v3',
      'jina-embeddings-v5-text-nano',
      'jina-embeddings-v5-text-small',
      'splade-v3',
      'jina-clip-v2',
      'jina-reranker-v2-base-multilingual',
    ]);
  });
});

it('selects the quantized graph of a model that has one', () => {
  const files = KNOWN_MODELS.map((row) => {
    const { runs } = inPrecision(row, 'quantized');
    return [row.id, runs.on === 'onnx' && runs.file];
  });
  expect(Object.fromEntries(files)).toMatchObject({
    'multilingual-e5-small': 'onnx/model_qint8_avx512_vnni.onnx',
    'embeddinggemma-300m': 'onnx/model_quantized.onnx',
    'bge-small-en-v1.5': 'onnx/model.onnx',
  });
  for (const row of KNOWN_MODELS) expect(inPrecision(row, 'full')).toBe(row);
});

describe("an operator's row", () => {
  const smallest = {
    id: 'mine',
    does: 'embed',
    contextTokens: 512,
    dimensions: 384,
    runs: { on: 'onnx', folder: '/models/mine' },
  };
  const faults = (row: object) =>
    modelRowShape.safeParse(row).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

  it('has defaults for most fields', () => {
    const row = modelRowShape.parse(smallest);
    expectTypeOf<z.output<typeof modelRowShape>>().toExtend<ModelRow>();
    expect(row).toMatchObject({ name: 'mine', kind: 'text-v3', pooling: 'mean', runs: { file: 'onnx/model.onnx' } });
  });

  it.each([
    [{ ...smallest, runs: { on: 'onnx' } }, 'hub: an ONNX model needs `hub`, `repository` or `folder` for its files'],
    [{ ...smallest, does: 'think' }, 'does: must have `does: embed` or `does: rerank`'],
    [{ ...smallest, runs: {} }, 'runs.on: must have `on: onnx` (with `hub` or `folder`) or `on: remote`'],
    [{ ...smallest, matryoshka: [512] }, 'matryoshka: must not exceed `dimensions`'],
    [{ ...smallest, hub: 'no repository' }, 'hub: must be a repository of the hub: `org/name`'],
    [
      { ...smallest, runs: { on: 'onnx', folder: '/m', file: '../secret' } },
      'runs.file: must be a path below the folder of the model',
    ],
    [
      { ...smallest, runs: { on: 'onnx', folder: '/m', file: '/secret' } },
      'runs.file: must be a path below the folder of the model',
    ],
  ])('reports what is wrong: %#', (row, fault) => expect(faults(row)).toEqual([fault]));

  it('reports an unknown field', () => expect(faults({ ...smallest, dimension: 3 })[0]).toContain('"dimension"'));
});

describe('models with several towers', () => {
  const filesOf = (id: string, precision: 'full' | 'quantized' = 'full') => {
    const { runs } = inPrecision(KNOWN_MODELS.find((row) => row.id === id)!, precision);
    return neededFiles(onnxRuns({ runs } as ModelRow)!).flatMap(({ name, optional }) => (optional ? [] : [name]));
  };

  it('need one file per graph, and a shared graph only once', () => {
    const two = ['tokenizer.json', 'onnx/text_model.onnx', 'onnx/vision_model.onnx'];
    expect(filesOf('jina-clip-v1')).toEqual(two);
    expect(filesOf('siglip-base-patch16-224')).toEqual(two);
    expect(filesOf('clap-htsat-unfused')).toEqual([...two.slice(0, 2), 'onnx/audio_model.onnx']);
    expect(filesOf('jina-clip-v2')).toEqual(['tokenizer.json', 'onnx/model.onnx', 'onnx/model.onnx_data']);
  });

  it('are quantized completely', () => {
    expect(filesOf('jina-clip-v2', 'quantized')).toEqual(['tokenizer.json', 'onnx/model_quantized.onnx']);
    expect(filesOf('clip-vit-base-patch32', 'quantized').slice(1)).toEqual([
      'onnx/text_model_quantized.onnx',
      'onnx/vision_model_quantized.onnx',
    ]);
  });

  it('read their picture preprocessing from the model folder if the row has none', () => {
    const towers = { image: { file: 'onnx/vision_model.onnx', tokens: 49 } };
    const [row] = readModelRows([
      {
        id: 'own',
        does: 'embed',
        dimensions: 8,
        contextTokens: 77,
        runs: { on: 'onnx', folder: '/models/own', towers },
      },
    ]);
    expect(neededFiles(onnxRuns(row!)!)).toContainEqual({ name: 'preprocessor_config.json', optional: false });
  });
});
