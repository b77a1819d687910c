/** The fields of vLLM's requests (docs/reference/wire/compat.md, vLLM). */
import * as z from 'zod';
import { numberText } from '../fields.ts';

const anything = () => z.any().optional();

/** The two sides of a score have several names. */
export const SCORE_FIELDS = z.object({
  model: z.string().optional(),
  text_1: anything().meta({ description: 'A text or a list of texts; also `data_1`, `queries`.' }),
  text_2: anything().meta({ description: 'A text or a list of texts; also `data_2`, `documents`, `items`.' }),
  data_1: anything(),
  data_2: anything(),
  queries: anything(),
  documents: anything(),
  items: anything(),
});

export const RERANK_FIELDS = z.object({
  model: z.string().optional(),
  query: z.any(),
  documents: z.any(),
  top_n: numberText().pipe(z.number().int().min(0)).default(0).meta({ description: '0 returns all documents.' }),
  return_documents: z.boolean().default(true),
});

export const POOLING_FIELDS = z.object({
  model: z.string().optional(),
  input: z.any().refine((value) => value !== undefined, 'is required'),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  truncate_prompt_tokens: z.number().int().min(-1).optional(),
});

export const TOKENIZE_FIELDS = z.object({
  model: z.string().optional(),
  prompt: z.string(),
  add_special_tokens: z.boolean().default(true),
  return_token_strs: z.boolean().default(false),
});

export const DETOKENIZE_FIELDS = z.object({
  model: z.string().optional(),
  tokens: z.array(z.number().int().min(0)),
});
