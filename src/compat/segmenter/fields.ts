/** The fields of a segmenter request. */
import * as z from 'zod';
import { booleanText, numberText } from '../fields.ts';

export const TOKENIZERS = ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base', 'p50k_edit', 'gpt2'] as const;
export type Tokenizer = (typeof TOKENIZERS)[number];

const MAX_CHARACTERS = 64_000;
const whole = (max: number) => numberText().pipe(z.number().int().min(1).max(max));

export const SEGMENT_FIELDS = z.object({
  content: z
    .string()
    .max(MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters`)
    .meta({ description: 'The text.' }),
  tokenizer: z.enum(TOKENIZERS).default('cl100k_base').meta({ description: 'The vocabulary.' }),
  return_tokens: booleanText().default(false).meta({ description: 'Returns the tokens with their ids.' }),
  return_chunks: booleanText().default(false).meta({ description: 'Returns the text in chunks.' }),
  max_chunk_length: whole(MAX_CHARACTERS).default(1_000).meta({ description: 'Maximum characters of a chunk.' }),
  head: whole(MAX_CHARACTERS).optional().meta({ description: 'Returns only the first tokens. Not with `tail`.' }),
  tail: whole(MAX_CHARACTERS).optional().meta({ description: 'Returns only the last tokens.' }),
});
