/** Parses the operator's own models from the rows of the `models` setting. */
import * as z from 'zod';
import { ConfigError } from '#config.ts';
import { CLIP_DEVIATION, CLIP_MEAN } from '../media/picture-rule.ts';
import { CLAP_RULE } from '../media/sound.ts';
import { EMBEDDING_KINDS, type ModelRow } from './catalogue.ts';

const REPOSITORY = /^[\w.-]+\/[\w.-]+$/;
const word = z
  .string()
  .regex(/^[\w][\w.-]*$/, 'must consist of letters, digits, `_`, `.` and `-`, and start with a letter, a digit or `_`');
const repository = z.string().regex(REPOSITORY, 'must be a repository of the hub: `org/name`');
/** A relative path that stays below its folder. */
const file = z
  .string()
  .regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/, 'must be a path below the folder of the model');
const revision = z.string().regex(/^[\w.-]+$/, 'must be a commit, a tag or a branch');

const side = z.number().int().min(1).max(4_096);
const triple = z.tuple([z.number(), z.number(), z.number()]);
const pictureRule = z.strictObject({
  width: side,
  height: side,
  resize: z.enum(['shortest', 'longest', 'squash']),
  resizeTo: side,
  kernel: z.enum(['bilinear', 'bicubic', 'lanczos']).default('bicubic'),
  middle: z.enum(['floor', 'even']).default('floor'),
  fill: z.number().int().min(0).max(255).default(0),
  rescale: z.number().default(1 / 255),
  mean: triple.default([...CLIP_MEAN]),
  deviation: triple.default([...CLIP_DEVIATION]),
});
const soundRule = z.strictObject({
  samplesPerSecond: z.number().int().min(1_000).max(192_000),
  seconds: z.number().int().min(1).max(30),
  window: z
    .number()
    .int()
    .min(16)
    .max(16_384)
    .refine((size) => Number.isInteger(Math.log2(size)), 'must be a power of two'),
  hop: z.number().int().min(1),
  bands: z.number().int().min(1).max(512),
  lowestHz: z.number().min(0),
  highestHz: z.number().positive(),
});
const imagePrompt = z.strictObject({
  patch: z.string().min(1),
  patches: z.number().int().min(1).max(65_536),
  text: z.string(),
});
const tower = { file, quantized: file.optional(), tokens: z.number().int().min(1).max(65_536) };
const towers = z.strictObject({
  image: z.strictObject({ ...tower, rule: pictureRule.optional(), prompt: imagePrompt.optional() }).optional(),
  audio: z.strictObject({ ...tower, rule: soundRule.default(CLAP_RULE) }).optional(),
});

const onnxShape = z.strictObject({
  on: z.literal('onnx'),
  repository: repository.optional(),
  file: file.default('onnx/model.onnx'),
  quantized: file.optional(),
  revision: revision.optional(),
  unpublished: z.literal(true).optional(),
  folder: z.string().min(1).optional(),
  bytes: z.number().int().positive().optional(),
  sha256: z.record(file, z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')).optional(),
  data: z.record(file, z.array(file)).optional(),
  towers: towers.optional(),
  textTokens: z.number().int().min(1).optional(),
  taskIds: z.record(z.string(), z.number().int().min(0)).optional(),
  marks: z
    .strictObject({
      query: z.string().min(1),
      document: z.string().min(1),
      mask: z.string().min(1),
      queryTokens: z.number().int().min(1),
      attendsToMasks: z.boolean().optional(),
      dropsPunctuation: z.boolean().optional(),
    })
    .optional(),
  judge: z
    .strictObject({
      before: z.string(),
      query: z.string(),
      between: z.string(),
      document: z.string(),
      after: z.string(),
      yes: z.string().min(1),
      no: z.string().min(1),
      midpoint: z.number().optional(),
    })
    .optional(),
  querySuffix: z.string().optional(),
});

const remoteShape = z.strictObject({
  on: z.literal('remote'),
  protocol: z.enum(['openai', 'tei', 'infinity', 'vllm', 'ollama', 'cohere', 'lectern']),
  url: z.url(),
  model: z.string().min(1),
  key: z.string().min(1).optional(),
});

const runs = z.discriminatedUnion('on', [onnxShape, remoteShape], {
  error: 'must have `on: onnx` (with `hub` or `folder`) or `on: remote`',
});

const common = {
  id: word,
  hub: repository.or(z.literal('')).default(''),
  name: z.string().optional(),
  description: z.string().default(''),
  created: z.number().int().min(0).default(0),
  contextTokens: z.number().int().min(8),
  languages: z.array(z.string()).default(['multi']),
  licence: z.string().default('unknown'),
  documentedIn: z.string().optional(),
  runs,
};

const embeddingShape = z.strictObject({
  ...common,
  does: z.literal('embed'),
  kind: z.enum(EMBEDDING_KINDS).default('text-v3'),
  dimensions: z.number().int().positive(),
  matryoshka: z.array(z.number().int().positive()).default([]),
  pooling: z.enum(['mean', 'cls', 'last', 'none']).default('mean'),
  normalizes: z.boolean().default(true),
  prefixes: z.record(z.string(), z.string()).default({}),
  pdf: z.enum(['pictures', 'text']).optional(),
  spaces: z.strictObject({ text: z.string(), image: z.string(), audio: z.string() }).partial().optional(),
});

const rerankShape = z.strictObject({ ...common, does: z.literal('rerank') });

/** Parses a row into a ModelRow. `name` defaults to the id. */
export const modelRowShape = z
  .discriminatedUnion('does', [embeddingShape, rerankShape], { error: 'must have `does: embed` or `does: rerank`' })
  .refine(({ runs, hub }) => runs.on !== 'onnx' || hub !== '' || runs.folder !== undefined || runs.repository, {
    error: 'an ONNX model needs `hub`, `repository` or `folder` for its files',
    path: ['hub'],
  })
  .refine((row) => row.does !== 'embed' || row.matryoshka.every((size) => size <= row.dimensions), {
    error: 'must not exceed `dimensions`',
    path: ['matryoshka'],
  })
  .transform((row) => ({ ...row, name: row.name ?? row.id }));

/** Parses the rows of the `models` setting. Throws ConfigError with the row number and the problem. */
export function readModelRows(given: readonly unknown[]): ModelRow[] {
  return given.map((row, index) => {
    const read = modelRowShape.safeParse(row);
    if (read.success) return read.data;
    throw new ConfigError(`models, row ${index + 1}: ${z.prettifyError(read.error).replace(/\s*\n\s*/g, ' ')}`);
  });
}
