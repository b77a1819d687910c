import * as z from 'zod';
import type { CrawlJob } from '#client/index.ts';
import { countTokens, loadTokens } from '#reader/index.ts';
import { divideTokens, takeExcerpt } from '../budget.ts';
import { fenceTokens, formatPage, normalizeUrl } from '../reading.ts';
import { fitStructured, UNTRUSTED_RESULTS } from '../structured.ts';
import { defineTool, maxTokens, textResult } from '../tool.ts';
import { markUntrusted, withoutMarks } from '../untrusted-marks.ts';

const MAX_PAGES = 50;
const DEFAULT_PAGES = 10;
const DEFAULT_DEPTH = 2;
const MAX_DEPTH = 10;

export const crawlSite = defineTool({
  name: 'crawl_site',
  title: 'Crawl a site',
  description: `Follows the links of a site and returns the beginnings of its pages. May take minutes.`,
  input: z.strictObject({
    url: z.string().min(1),
    limit: z.int().min(1).max(MAX_PAGES).default(DEFAULT_PAGES).describe('Most pages to read.'),
    depth: z.int().min(0).max(MAX_DEPTH).default(DEFAULT_DEPTH).describe('Links from the start.'),
    scope: z.enum(['path', 'host', 'domain']).optional().describe('Default: path.'),
    include: z.array(z.string()).optional().describe('URL patterns such as /docs/**.'),
    exclude: z.array(z.string()).optional(),
    max_tokens: maxTokens(),
  }),
  output: z.looseObject({
    pages: z.array(z.looseObject({ url: z.string(), text: z.string() })),
    failed: z.array(z.looseObject({ url: z.string(), error: z.string() })),
    found: z.int(),
  }),
  openWorld: true,
  steps: ({ limit }) => limit,
  progressMessage: ({ url }) => `Crawling from ${url}`,
  async run({ url, max_tokens: tokens, ...given }, call) {
    const request = { ...given, url: normalizeUrl(url, 'url'), cancelOnClose: true };
    const pages: { readonly url: string; readonly text: string }[] = [];
    const failed: { readonly url: string; readonly error: string }[] = [];
    let job: CrawlJob | undefined;
    for await (const { event, data } of call.client.crawl.stream(request, { signal: call.signal })) {
      if (event === 'progress' || event === 'done') job = data;
      else if (event === 'page') pages.push({ url: data.page.url, text: formatPage(data.page) });
      else if (event === 'failed') failed.push({ url: data.url, error: withoutMarks(data.error.message) });
      if (event === 'page' || event === 'failed') call.progress.done(data.url);
    }
    const found = job?.stats.found ?? 0;
    const counts = `${pages.length} pages read, ${failed.length} failed, ${found} URLs found.`;
    if (pages.length + failed.length === 0)
      return { ...textResult(counts), structuredContent: { pages, failed, found } };
    await loadTokens();
    const source = `pages crawled from ${request.url}`;
    const budget = tokens - fenceTokens(source) - countTokens(counts);
    const failures = failed.map(({ url: failedUrl, error }) => withoutMarks(`Failed: ${failedUrl}: ${error}`));
    const all = [...pages.map(({ text }) => text), ...failures];
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
    const size = { tokens, bodyTokens: budget, count: all.length };
    return {
      ...textResult(`${counts}\n${markUntrusted(pieces.join('\n\n---\n\n'), source)}${cut}`),
      structuredContent: await fitStructured(size, async (count, bodyTokens) => ({
        untrusted: UNTRUSTED_RESULTS,
        pages: await beginningsOf(pages.slice(0, count), bodyTokens),
        failed: failed.slice(0, Math.max(0, count - pages.length)),
        found,
        ...(count < all.length && { omitted: all.length - count }),
      })),
    };
  },
});

/** The pages, each with the beginning of its text; together at most `tokens` of text. */
function beginningsOf(pages: readonly { readonly url: string; readonly text: string }[], tokens: number) {
  const shares = divideTokens(
    pages.map(({ text }) => ({ text, overheadTokens: 0 })),
    tokens,
  );
  return Promise.all(
    pages.map(async ({ url, text }, at) => {
      const piece = shares[at]! > 0 ? await takeExcerpt(text, 0, shares[at]!) : { text: '', end: 0 };
      return { url, text: piece.text.trimEnd(), ...(piece.end < text.length && { cut: true }) };
    }),
  );
}

/** Minimum number of tokens for which it is worthwhile to show a page. */
const MIN_TOKENS_PER_PAGE = 40;

/** Number of tokens in the separator between two pages. */
const SEPARATOR_TOKENS = 12;
