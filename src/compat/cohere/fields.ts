/** The fields of Cohere's requests (docs/reference/wire/compat.md, Cohere). */
import * as z from 'zod';
import { VECTOR_TYPES } from '../native/encode.ts';

const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering', 'image'] as const;

const list = () => z.array(z.any()).min(1, 'must have at least one item');

export const EMBED_FIELDS = z.object({
  model: z.string(),
  texts: list().optional().meta({ description: 'Texts to embed.' }),
  images: list().optional().meta({ description: 'Images to embed, as data URLs.' }),
  inputs: z
    .array(z.object({ content: list() }))
    .min(1, 'must have at least one item')
    .optional()
    .meta({ description: 'Inputs of several parts, each with one vector.' }),
  input_type: z.enum(INPUT_TYPES).optional(),
  embedding_types: z.array(z.enum(VECTOR_TYPES)).min(1, 'must have at least one item').optional(),
  output_dimension: z.number().optional(),
  truncate: z.enum(['END', 'START', 'NONE']).default('END'),
});
export type CohereEmbed = z.output<typeof EMBED_FIELDS>;

export const RERANK_FIELDS = z.object({
  model: z.string(),
  query: z.string(),
  documents: z.any().meta({ description: 'Texts, or objects whose `rank_fields` are joined.' }),
  top_n: z.number().optional(),
  rank_fields: z.array(z.string()).min(1, 'must have at least one item').optional(),
  return_documents: z.boolean().default(false),
});
export type CohereRerank = z.output<typeof RERANK_FIELDS>;

export const TOKENIZE_FIELDS = z.object({ model: z.string(), text: z.string().min(1, 'must not be empty') });
export const DETOKENIZE_FIELDS = z.object({ model: z.string(), tokens: z.array(z.number().int().min(0)) });
