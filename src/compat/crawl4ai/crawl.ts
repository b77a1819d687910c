/** crawl4ai's `/crawl` and `/crawl/stream`: read several URLs, without following links. A failed URL is a result too. */
import { Readable } from 'node:stream';
import { asProblem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { Page } from '#reader/index.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { concernsRequest } from '../failed-url.ts';
import { readFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { readAll } from '../read-all.ts';
import { type ReadConfig, readConfig } from './config.ts';
import { CRAWL_FIELDS } from './fields.ts';
import { targetOf } from './target.ts';

export async function crawl(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const { urls, config } = prepare(call);
  const results = await readAll(urls, (url) => readOne(call, url, config));
  return sendJson(call.reply, {
    success: true,
    results,
    server_processing_time_s: (performance.now() - startedAt) / 1_000,
    server_memory_delta_mb: 0,
    server_peak_memory_mb: 0,
  });
}

/** One result a line, in the order of the URLs, and a last line with the status. */
export async function crawlStream(call: CompatCall): Promise<unknown> {
  const { urls, config } = prepare(call);
  async function* lines() {
    for (const url of urls) {
      // The status has been sent, so limits and missing keys can only be said in the lines.
      const result = await readOne(call, url, config).catch((error: unknown) => failed(url, asProblem(error).message));
      yield `${JSON.stringify(result)}\n`;
    }
    yield `${JSON.stringify({ status: 'completed' })}\n`;
  }
  return call.reply.type('application/x-ndjson').send(Readable.from(lines(), { objectMode: false }));
}

function prepare(call: CompatCall): { readonly urls: readonly string[]; readonly config: ReadConfig } {
  const { urls, crawler_config } = readFields(CRAWL_FIELDS, call.body);
  const config = readConfig(crawler_config);
  showIgnored(call.reply, config.ignored);
  return { urls, config };
}

async function readOne(call: CompatCall, url: string, { options, screenshot }: ReadConfig): Promise<object> {
  try {
    const { page, rendition } = await call.native.read(call, {
      ...targetOf(url),
      ...options,
      respondWith: screenshot ? 'markdown+html+screenshot' : 'markdown+html',
      withLinksSummary: 'all',
      withImagesSummary: true,
    });
    if (page.blocked) return failed(url, blockedMessage(page.blocked), page.targetStatus);
    return { ...written(url, page), ...(screenshot && { screenshot: base64(rendition.screenshot) }) };
  } catch (error) {
    const failure = asProblem(error);
    if (concernsRequest(failure)) throw failure;
    return failed(url, failure.message);
  }
}

const base64 = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString('base64') : null);

const failed = (url: string, message: string, status?: number) => ({
  url,
  html: '',
  success: false,
  status_code: status ?? null,
  error_message: message,
});

const written = (url: string, page: Page) => ({
  url,
  html: page.html ?? '',
  cleaned_html: null,
  success: true,
  status_code: page.targetStatus ?? null,
  markdown: {
    raw_markdown: page.content ?? '',
    markdown_with_citations: page.content ?? '',
    references_markdown: '',
    fit_markdown: '',
    fit_html: '',
  },
  links: linksOf(page),
  media: { images: Object.entries(page.images ?? {}).map(([alt, src]) => ({ src, alt })), videos: [], audios: [] },
  metadata: { ...page.metadata, title: page.title, description: page.description || null },
  error_message: '',
});

/** Links to the host of the page are internal. */
function linksOf({ links = [], url }: Page) {
  const pairs = Array.isArray(links) ? links : Object.entries(links);
  const host = isUrl(url) ? new URL(url).host : '';
  const all = pairs.map(([text, href]) => ({ href, text }));
  const isInternal = ({ href }: { href: string }) => isUrl(href) && new URL(href).host === host;
  return { internal: all.filter(isInternal), external: all.filter((link) => !isInternal(link)) };
}
