/** Serper's scraper: the text of one page, its metadata, and its Markdown if asked. */
import { problem } from '#errors.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { SCRAPE_FIELDS } from './fields.ts';

/** Time limit of a page, in seconds. */
const PAGE_S = 30;

export async function scrape(call: CompatCall): Promise<unknown> {
  const { url, includeMarkdown } = readFields(SCRAPE_FIELDS, call.body);
  const given = { url, timeout: PAGE_S, respondWith: includeMarkdown ? 'text+content' : 'text' };
  const { page } = await call.native.read(call, given);
  if (page.blocked) throw problem('BlockedPageError', { message: blockedMessage(page.blocked) });
  return sendJson(call.reply, {
    text: page.text ?? '',
    ...(includeMarkdown && { markdown: page.content ?? '' }),
    metadata: { ...page.metadata, title: page.title, ...(page.description && { description: page.description }) },
    credits: 2,
  });
}
