/**
 * Creates model folders in the hub's layout for tests and measurements: a graph, a tokenizer and the tokenizer's
 * configuration.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EmbeddingRow, RerankRow } from '../registry/catalogue.ts';
import { type BertShape, bertFile, bertWeights } from './bert.suite.ts';

export const SMALL: BertShape = {
  vocabulary: 128,
  hidden: 32,
  layers: 2,
  heads: 4,
  inner: 64,
  positions: 64,
  seed: 7,
  head: 'encoder',
};

/** The shape of all-MiniLM-L6-v2. */
export const MINILM: BertShape = {
  vocabulary: 30_522,
  hidden: 384,
  layers: 6,
  heads: 12,
  inner: 1_536,
  positions: 512,
  seed: 7,
  head: 'encoder',
};

const LETTERS = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at));
const WORDS = [
  'the',
  'water',
  'river',
  'city',
  'tap',
  'safe',
  'drink',
  'berlin',
  'zoo',
  'large',
  'is',
  'in',
  'to',
  'has',
];

/** A vocabulary that can spell every word from letters and digits. */
export const VOCABULARY = [
  ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
  ...LETTERS,
  ...LETTERS.map((letter) => `##${letter}`),
  ...Array.from({ length: 10 }, (_, at) => String(at)),
  ...['.', ',', '?', '!', ':'],
  ...WORDS,
];

const SPECIALS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const idOf = (piece: string) => VOCABULARY.indexOf(piece);

export const TOKENIZER = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: SPECIALS.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [special('[CLS]', 0), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]', 0)],
    pair: [
      special('[CLS]', 0),
      { Sequence: { id: 'A', type_id: 0 } },
      special('[SEP]', 0),
      { Sequence: { id: 'B', type_id: 1 } },
      special('[SEP]', 1),
    ],
    special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [idOf(id)], tokens: [id] }])),
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(VOCABULARY.map((piece, id) => [piece, id])),
  },
};

function special(id: string, type: number) {
  return { SpecialToken: { id, type_id: type } };
}

export const TOKENIZER_CONFIG = {
  model_max_length: 64,
  tokenizer_class: 'BertTokenizer',
  do_lower_case: true,
  cls_token: '[CLS]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  unk_token: '[UNK]',
  mask_token: '[MASK]',
};

export interface TestFolder {
  readonly folder: string;
  readonly graph: string;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
}

/** Writes `onnx/model.onnx`, `tokenizer.json` and `tokenizer_config.json` to the folder. */
export async function writeTestModel(
  folder: string,
  graph: Uint8Array,
  tokenizer: string | object = TOKENIZER,
  config: string | object = TOKENIZER_CONFIG,
): Promise<TestFolder> {
  const files: TestFolder = {
    folder,
    graph: path.join(folder, 'onnx', 'model.onnx'),
    tokenizer: path.join(folder, 'tokenizer.json'),
    tokenizerConfig: path.join(folder, 'tokenizer_config.json'),
  };
  await mkdir(path.dirname(files.graph), { recursive: true });
  const json = (value: string | object) => (typeof value === 'string' ? value : JSON.stringify(value));
  await writeFile(files.graph, graph);
  await writeFile(files.tokenizer, json(tokenizer));
  await writeFile(files.tokenizerConfig, json(config));
  return files;
}

export function testEmbeddingRow(given: Partial<EmbeddingRow> = {}): EmbeddingRow {
  return {
    id: 'test-encoder',
    hub: 'tests/encoder',
    name: 'Test encoder',
    description: 'Random weights',
    created: 0,
    contextTokens: SMALL.positions,
    languages: ['en'],
    licence: 'Apache-2.0',
    runs: { on: 'onnx', file: 'onnx/model.onnx' },
    does: 'embed',
    kind: 'text-v2',
    dimensions: SMALL.hidden,
    matryoshka: [],
    pooling: 'mean',
    normalizes: false,
    prefixes: {},
    ...given,
  };
}

export function testRerankRow(given: Partial<RerankRow> = {}): RerankRow {
  const { does, kind, dimensions, matryoshka, pooling, normalizes, prefixes, ...common } = testEmbeddingRow();
  return { ...common, id: 'test-reranker', does: 'rerank', ...given };
}

/** The weights of a small test model. */
export const smallModel = (given: Partial<BertShape> = {}) => {
  const shape = { ...SMALL, ...given };
  const weights = bertWeights(shape);
  return { shape, weights, file: bertFile(shape, weights) };
};
