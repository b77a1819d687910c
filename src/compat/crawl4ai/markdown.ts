/** crawl4ai's `/md`: the Markdown of one page, whole or reduced. */
import { problem } from '#errors.ts';
import { cutPassages } from '#search/index.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { orderByFit } from '../order-by-fit.ts';
import { MD_FIELDS } from './fields.ts';
import { targetOf } from './target.ts';

const FORMATS = { fit: 'content', raw: 'markdown', bm25: 'content', llm: 'readerlm-v2' } as const;
/** Maximum numbers of passages that are ranked, and that are returned. */
const MAX_PASSAGES = 200;
const BEST_PASSAGES = 8;

export async function markdown(call: CompatCall): Promise<unknown> {
  const { url, f: filter, q: query, c: cache = '0' } = readFields(MD_FIELDS, call.body);
  if (filter === 'bm25' && !query?.trim()) {
    throw problem('ParamValidationError', { path: 'q', message: 'q is required for f bm25' });
  }
  if (filter === 'llm' && !call.native.parts.hasLanguageModel) {
    throw problem('ParamValidationError', { path: 'f', message: 'f llm needs a language model: set LECTERN_CHAT_URL' });
  }
  const { page } = await call.native.read(call, {
    ...targetOf(url),
    respondWith: FORMATS[filter],
    ...(filter === 'llm' && query && { instruction: query }),
    ...(cache !== '0' && { noCache: true }),
  });
  if (page.blocked) throw problem('BlockedPageError', { message: blockedMessage(page.blocked) });
  const whole = page.content ?? '';
  const text = filter === 'bm25' ? await bestPassages(call, whole, query!) : whole;
  return sendJson(call.reply, { url, filter, query: query ?? null, cache, markdown: text, success: true });
}

/** The passages that fit the query best, in the order of the page. */
async function bestPassages(call: CompatCall, whole: string, query: string): Promise<string> {
  const passages = cutPassages(whole, MAX_PASSAGES).map(({ start, end }) => whole.slice(start, end).trim());
  const documents = passages.filter(Boolean);
  if (documents.length <= 1) return documents.join('');
  const best = await orderByFit(call, query, documents, BEST_PASSAGES);
  const kept = best.toSorted((a, b) => a - b);
  return kept.map((index) => documents[index]).join('\n\n');
}
