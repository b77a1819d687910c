/** The fields of Serper's requests, and what they are in ours (docs/reference/wire/compat.md, Serper). */
import * as z from 'zod';
import { booleanText, numberText } from '../fields.ts';

const MAX_SERPER_RESULTS = 100;
const MAX_PAGE = 1_000;

export const SEARCH_FIELDS = z.object({
  q: z.string().meta({ description: '`q` of the search host.' }),
  gl: z.string().optional().meta({ description: '`gl`.' }),
  hl: z.string().optional().meta({ description: '`hl`.' }),
  location: z.string().optional().meta({ description: '`location`.' }),
  num: numberText()
    .pipe(z.number().int().min(1).max(MAX_SERPER_RESULTS))
    .default(10)
    .meta({ description: '`num`, at most 20.' }),
  page: numberText().pipe(z.number().int().min(1).max(MAX_PAGE)).default(1).meta({ description: '`page`.' }),
  tbs: z
    .string()
    .optional()
    .meta({ description: '`qdr:h`, `d`, `w`, `m` or `y`, and `cdr:1` with dates, are `since` and `until`.' }),
  autocorrect: booleanText().default(true).meta({ description: 'Without it, `nfpr`.' }),
});
export type SerperSearch = z.output<typeof SEARCH_FIELDS>;

export const SCRAPE_FIELDS = z.object({
  url: z.string().meta({ description: 'URL to read.' }),
  includeMarkdown: booleanText().default(false).meta({ description: 'Adds the Markdown of the page.' }),
});
