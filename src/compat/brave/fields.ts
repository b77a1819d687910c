/** The parameters of Brave's requests, and what they are in ours (docs/reference/wire/compat.md, Brave). */
import * as z from 'zod';
import { booleanText, numberText } from '../fields.ts';

const MAX_BRAVE_RESULTS = 200;

export const BRAVE_FIELDS = z.object({
  q: z.string().min(1).meta({ description: '`q` of the search host.' }),
  count: numberText()
    .pipe(z.number().int().min(1).max(MAX_BRAVE_RESULTS))
    .default(20)
    .meta({ description: '`num`, at most 20.' }),
  offset: numberText().pipe(z.number().int().min(0).max(9)).default(0).meta({ description: '`page`, counted from 0.' }),
  country: z.string().optional().meta({ description: '`gl`. `ALL` sets none.' }),
  search_lang: z.string().optional().meta({ description: '`hl`.' }),
  freshness: z
    .string()
    .regex(/^(?:p[dwmy]|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d)?$/, 'must be pd, pw, pm, py, or a range of dates with `to`')
    .optional()
    .meta({ description: '`since` and `until`.' }),
  spellcheck: booleanText().default(true).meta({ description: 'Without it, `nfpr`.' }),
});
export type BraveQuery = z.output<typeof BRAVE_FIELDS>;

/** Parameters that have no effect. */
export const IGNORED_FIELDS = ['extra_snippets', 'summary', 'goggles', 'goggles_id', 'result_filter', 'ui_lang'];
