/** The fields of crawl4ai's requests, and what they are in ours (docs/reference/wire/compat.md, crawl4ai). */
import * as z from 'zod';

const MAX_URLS = 100;

const url = () => z.string().meta({ description: 'URL to read. After `raw:`, HTML to convert.' });

export const MD_FIELDS = z.object({
  url: url(),
  f: z.enum(['fit', 'raw', 'bm25', 'llm']).default('fit').meta({
    description:
      '`fit` is `respondWith: content`, `raw` is `markdown`, `bm25` has the passages that fit `q`, `llm` needs a language model.',
  }),
  q: z.string().optional().meta({ description: 'The query of `bm25`, the instruction of `llm`.' }),
  c: z.string().optional().meta({ description: 'Any value except `0` is `noCache`.' }),
});

export const URL_FIELDS = z.object({ url: url() });

const config = () => z.looseObject({}).optional();

export const CRAWL_FIELDS = z.object({
  urls: z
    .array(z.string())
    .refine((list) => list.length > 0 && list.length <= MAX_URLS, `must have 1 to ${MAX_URLS} entries`)
    .meta({ description: 'The URLs to read. Their links are not followed.' }),
  browser_config: config().meta({ description: 'Ignored.' }),
  crawler_config: config().meta({
    description:
      '`css_selector`, `target_elements`, `excluded_tags`, `excluded_selector`, `wait_for` (`css:`), `js_code`, `cache_mode`, `page_timeout`, `screenshot`, `remove_overlay_elements` and `scan_full_page`. Others are ignored.',
  }),
});

const texts = () => z.union([z.string().transform((text) => [text]), z.array(z.string())]).optional();

export const CRAWLER_CONFIG = z.object({
  css_selector: z.string().optional(),
  target_elements: texts(),
  excluded_tags: texts(),
  excluded_selector: z.string().optional(),
  wait_for: z.string().optional(),
  js_code: texts(),
  cache_mode: z.union([z.string(), z.looseObject({ params: z.unknown() })]).optional(),
  page_timeout: z.number().min(1).optional(),
  screenshot: z.boolean().optional(),
  remove_overlay_elements: z.boolean().optional(),
  scan_full_page: z.boolean().optional(),
});
export type CrawlerConfig = z.output<typeof CRAWLER_CONFIG>;
