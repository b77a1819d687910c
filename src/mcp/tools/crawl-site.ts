import * as z from 'zod';
import type { CrawlJob } from '#client/index.ts';
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { describe } from '#http/openapi.ts';
import { countTokens, loadTokens } from '#reader/index.ts';
import { divideTokens, takeExcerpt } from '../budget.ts';
import { fenceTokens, formatPage, normalizeUrl } from '../reading.ts';
import { defineTool, maxTokens, textResult } from '../tool.ts';
import { markUntrusted, withoutMarks } from '../untrusted-marks.ts';

const MAX_PAGES = 50;
const DEFAULT_PAGES = 10;
const DEFAULT_DEPTH = 2;

const option = <Schema extends z.ZodType>(name: keyof typeof CRAWL_OPTIONS, schema: Schema) =>
  schema.optional().describe(describe(CRAWL_OPTIONS[name]));

export const crawlSite = defineTool({
  name: 'crawl_site',
  title: 'Crawl a site',
  description: `Follows the links of a site from a start URL, with pauses between requests, and returns the beginnings of up to ${MAX_PAGES} pages with their URLs. May take minutes. Read a whole page with read_url.`,
  input: z.strictObject({
    url: z.string().min(1).describe('Start URL, http or https.'),
    limit: z
      .int()
      .min(1)
      .max(MAX_PAGES)
      .default(DEFAULT_PAGES)
      .describe(`Maximum number of URLs to read, 1 to ${MAX_PAGES}.`),
    depth: z.int().min(0).max(10).default(DEFAULT_DEPTH).describe('Maximum distance from the start, in links.'),
    scope: option('scope', z.enum(['path', 'host', 'domain'])),
    include: option('include', z.array(z.string())),
    exclude: option('exclude', z.array(z.string())),
    max_tokens: maxTokens(),
  }),
  openWorld: true,
  steps: ({ limit }) => limit,
  progressMessage: ({ url }) => `Crawling from ${url}`,
  async run({ url, max_tokens: tokens, ...given }, call) {
    const request = { ...given, url: normalizeUrl(url, 'url'), cancelOnClose: true };
    const texts: string[] = [];
    const failures: string[] = [];
    let job: CrawlJob | undefined;
    for await (const { event, data } of call.client.crawl.stream(request, { signal: call.signal })) {
      if (event === 'progress' || event === 'done') job = data;
      else if (event === 'page') texts.push(formatPage(data.page));
      else if (event === 'failed') failures.push(withoutMarks(`Failed: ${data.url}: ${data.error.message}`));
      if (event === 'page' || event === 'failed') call.progress.done(data.url);
    }
    const counts = `${texts.length} pages read, ${failures.length} failed, ${job?.stats.found ?? 0} URLs found.`;
    if (texts.length + failures.length === 0) return textResult(counts);
    await loadTokens();
    const source = `pages crawled from ${request.url}`;
    const budget = tokens - fenceTokens(source) - countTokens(counts);
    const all = [...texts, ...failures];
    const fitting = all.slice(0, Math.max(1, Math.floor(budget / MIN_TOKENS_PER_PAGE)));
    const shares = divideTokens(
      fitting.map((text) => ({ text, overheadTokens: SEPARATOR_TOKENS })),
      budget,
    );
    const pieces = await Promise.all(
      fitting.map(async (text, at) => {
        const piece = await takeExcerpt(text, 0, Math.max(1, shares[at]! - SEPARATOR_TOKENS));
        return `${piece.text.trimEnd()}${piece.end < text.length ? '\n[cut here]' : ''}`;
      }),
    );
    const omitted = all.length - fitting.length;
    const cut = omitted ? `\n${omitted} pages did not fit: raise \`max_tokens\` or lower \`limit\`.` : '';
    return textResult(`${counts}\n${markUntrusted(pieces.join('\n\n---\n\n'), source)}${cut}`);
  },
});

/** Minimum number of tokens for which it is worthwhile to show a page. */
const MIN_TOKENS_PER_PAGE = 40;

/** Number of tokens in the separator between two pages. */
const SEPARATOR_TOKENS = 12;
