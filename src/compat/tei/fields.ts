/** The fields of TEI's requests (docs/reference/wire/compat.md, Text Embeddings Inference). */
import * as z from 'zod';
import { booleanText } from '../fields.ts';

/** Checked with the model, because that names the input that is wrong. */
const inputs = (description: string) =>
  z
    .any()
    .refine((value) => value !== undefined, 'is required')
    .meta({ description });
const flag = () => booleanText();
const direction = () =>
  z
    .string()
    .transform((word) => word.toLowerCase())
    .pipe(z.enum(['left', 'right']))
    .default('right');
const text = () => z.string();

const truncation = { truncate: flag().optional(), truncation_direction: direction() };
const prompt = { prompt_name: text().optional().meta({ description: '`query` or `document`: the side of a search.' }) };

export const EMBED_FIELDS = z.object({
  inputs: inputs('A text or token ids, or a list of them.'),
  ...truncation,
  ...prompt,
  normalize: flag().default(true),
  dimensions: z.number().optional(),
});

export const TOKEN_EMBED_FIELDS = EMBED_FIELDS.omit({ normalize: true, dimensions: true });

export const RERANK_FIELDS = z.object({
  query: text(),
  texts: inputs('The texts to rank.'),
  ...truncation,
  raw_scores: flag().default(false).meta({ description: 'The log odds of the scores.' }),
  return_text: flag().default(false),
});

export const PREDICT_FIELDS = z.object({
  inputs: inputs('A pair of texts, or a list of pairs.'),
  ...truncation,
  raw_scores: flag().default(false),
});

export const SIMILARITY_FIELDS = z.object({
  inputs: z.object({ source_sentence: text(), sentences: z.array(text()).min(1, 'must have at least one item') }),
  parameters: z.object({ ...truncation, ...prompt }).prefault({}),
});

export const TOKENIZE_FIELDS = z.object({
  inputs: z.union([text().transform((one) => [one]), z.array(text())]),
  add_special_tokens: flag().default(true),
});

const ids = z.array(z.number().int().min(0));

export const DECODE_FIELDS = z.object({
  ids: z.union([ids.transform((list) => [list]), z.array(ids)]),
  skip_special_tokens: flag().default(true),
});
