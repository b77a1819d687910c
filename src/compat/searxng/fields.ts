/** The parameters of a SearXNG search, and what they are in our search (docs/reference/wire/compat.md, SearXNG). */
import * as z from 'zod';
import { textList } from '../fields.ts';

const wholeNumber = (min: number, max: number) =>
  z
    .union([z.number(), z.string().regex(/^\d+$/)], { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

export const TIME_RANGES = { day: 1, week: 7, month: 31, year: 366 } as const;
export type TimeRange = keyof typeof TIME_RANGES;

const MAX_PAGE = 1_000;

export const SEARXNG_FIELDS = z.object({
  q: z.string().optional().meta({
    description:
      'The query; `q` of the search host. `!news` or `:de` at its beginning selects a category or a language.',
  }),
  format: z
    .string()
    .optional()
    .meta({ description: '`json` (default), or `html` for a small page of links. `csv` and `rss` are turned off.' }),
  pageno: wholeNumber(1, MAX_PAGE).optional().meta({ description: '`page`.' }),
  pageNumber: wholeNumber(1, MAX_PAGE).optional().meta({ description: 'What LangChain sends for `pageno`.' }),
  language: z
    .string()
    .regex(
      /^(?:all|auto|[a-z]{2,3}(?:[-_][A-Za-z]{2,4}){0,2})?$/,
      'must be `all`, `auto`, or a language such as `en` or `en-US`',
    )
    .optional()
    .meta({ description: '`hl`, with the region as `gl`. `all` and `auto` set neither.' }),
  time_range: z
    .enum(['day', 'week', 'month', 'year', '', 'None'], { error: 'must be day, week, month or year' })
    .optional()
    .meta({ description: '`since`, counted back from now.' }),
  categories: textList()
    .optional()
    .meta({ description: '`images` and `news` are `type`; all others are a web search.' }),
  engines: textList().optional().meta({
    description:
      'A provider of this server is `provider`; `reddit`, `youtube`, `arxiv` and `github` are `site`; others are ignored.',
  }),
  safesearch: wholeNumber(0, 2).optional().meta({ description: 'Ignored: filtering is left to the provider.' }),
});
export type SearxngQuery = z.output<typeof SEARXNG_FIELDS>;

/** Sites for names of engines that search a single site. */
export const ENGINE_SITES: ReadonlyMap<string, string> = new Map([
  ['reddit', 'reddit.com'],
  ['youtube', 'youtube.com'],
  ['arxiv', 'arxiv.org'],
  ['github', 'github.com'],
]);
