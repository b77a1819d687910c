/** The fields of Exa's requests, and what they are in ours (docs/reference/wire/compat.md, Exa). */
import * as z from 'zod';
import { booleanText, numberText, textList } from '../fields.ts';

const MAX_EXA_RESULTS = 100;
const MAX_URLS = 100;

const TEXT = z.union([
  booleanText(),
  z.object({
    maxCharacters: numberText().pipe(z.number().int().min(1)).optional(),
    includeHtmlTags: z.boolean().optional(),
  }),
]);
const HIGHLIGHTS = z.union([booleanText(), z.looseObject({})]);

const CONTENTS = {
  text: TEXT.optional().meta({ description: 'The Markdown of the page, cut at `maxCharacters`.' }),
  highlights: HIGHLIGHTS.optional().meta({ description: 'The best passages of the page. Only in a search.' }),
  summary: z
    .union([booleanText(), z.looseObject({})])
    .optional()
    .meta({ description: 'Ignored.' }),
  livecrawl: z
    .enum(['never', 'fallback', 'always', 'auto', 'preferred'])
    .optional()
    .meta({ description: '`always` and `preferred` are `noCache`.' }),
  maxAgeHours: numberText().optional().meta({ description: '`cacheTolerance`, in hours.' }),
};

export const SEARCH_FIELDS = z.object({
  query: z.string().meta({ description: '`q` of the search host.' }),
  type: z.string().optional().meta({ description: 'Ignored: there is one kind of search.' }),
  numResults: numberText()
    .pipe(z.number().int().min(1).max(MAX_EXA_RESULTS))
    .default(10)
    .meta({ description: '`num`, at most 20.' }),
  includeDomains: textList().optional().meta({ description: '`site`.' }),
  excludeDomains: textList().optional().meta({ description: 'Excluded sites.' }),
  startPublishedDate: z.string().optional().meta({ description: '`since`.' }),
  endPublishedDate: z.string().optional().meta({ description: '`until`.' }),
  category: z.string().optional().meta({
    description: '`news` is `type`, `research paper` is `type: papers`, `pdf` is `filetype`. Others are ignored.',
  }),
  userLocation: z.string().optional().meta({ description: '`gl`.' }),
  contents: z.object(CONTENTS).optional().meta({ description: 'What to read of each page. Without it, none is read.' }),
});
export type ExaSearch = z.output<typeof SEARCH_FIELDS>;
export type ExaContents = NonNullable<ExaSearch['contents']>;

const urls = () =>
  z
    .array(z.string())
    .refine((list) => list.length > 0 && list.length <= MAX_URLS, `must have 1 to ${MAX_URLS} entries`)
    .optional();

export const CONTENTS_FIELDS = z.object({
  urls: urls().meta({ description: 'The URLs to read.' }),
  ids: urls().meta({ description: 'What older clients send for `urls`. An id is a URL.' }),
  ...CONTENTS,
});
