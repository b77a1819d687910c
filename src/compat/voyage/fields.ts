/** The fields of Voyage's requests (docs/reference/wire/compat.md, Voyage). */
import * as z from 'zod';
import { numberText } from '../fields.ts';

const anything = (description: string) =>
  z
    .any()
    .refine((value) => value !== undefined, 'is required')
    .meta({ description });
const side = () => z.enum(['query', 'document']).optional();
const truncation = () => z.boolean().default(true);
const encoding = { encoding_format: z.enum(['float', 'base64']).optional() };

export const EMBED_FIELDS = z.object({
  model: z.string(),
  input: anything('A text or a list of texts.'),
  input_type: side(),
  truncation: truncation().meta({ description: 'True by default, unlike at the model host.' }),
  output_dimension: z.number().optional(),
  output_dtype: z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary']).default('float'),
  ...encoding,
});
export type VoyageEmbed = z.output<typeof EMBED_FIELDS>;

export const MULTIMODAL_FIELDS = z.object({
  model: z.string(),
  inputs: z
    .array(z.object({ content: z.array(z.any()).min(1, 'must have at least one part') }))
    .min(1, 'must have at least one item'),
  input_type: side(),
  truncation: truncation(),
  output_encoding: z.enum(['base64']).optional(),
  ...encoding,
});

export const RERANK_FIELDS = z.object({
  model: z.string(),
  query: z.string(),
  documents: anything('Texts to rank.'),
  top_k: numberText().pipe(z.number().int().min(1)).optional(),
  return_documents: z.boolean().default(false),
  truncation: truncation(),
});
