/** Exa's `/contents`: reads URLs. One that cannot be read has the status `error`; the answer is 200 all the same. */
import { asProblem, type Problem, problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { concernsRequest } from '../failed-url.ts';
import { readFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { readAll } from '../read-all.ts';
import { CONTENTS_FIELDS, type ExaContents } from './fields.ts';

/** Time limit of a page, in seconds. */
const PAGE_S = 30;

export const wants = (asked: unknown): boolean => asked !== undefined && asked !== false;

export function cutText(text: string, asked: ExaContents['text']): string {
  const length = typeof asked === 'object' ? asked.maxCharacters : undefined;
  return length === undefined ? text : text.slice(0, length);
}

export function cacheFields({ livecrawl, maxAgeHours }: ExaContents): Record<string, unknown> {
  if (livecrawl === 'always' || livecrawl === 'preferred') return { noCache: true };
  // A negative age means any age.
  return maxAgeHours !== undefined && maxAgeHours >= 0 ? { cacheTolerance: Math.round(maxAgeHours * 3_600) } : {};
}

export async function contents(call: CompatCall): Promise<unknown> {
  const asked = readFields(CONTENTS_FIELDS, call.body);
  const urls = asked.urls ?? asked.ids;
  if (!urls) throw problem('ParamValidationError', { path: 'urls', message: 'urls is required: the URLs to read' });
  const outcomes = await readAll(urls, (url) => readOne(call, url, asked));
  const ignored = (['highlights', 'summary'] as const).filter((name) => wants(asked[name]));
  showIgnored(call.reply, ignored);
  return sendJson(call.reply, {
    requestId: call.request.id,
    results: outcomes.flatMap(({ result }) => result ?? []),
    statuses: outcomes.map(({ status }) => status),
    costDollars: { total: 0 },
  });
}

interface Outcome {
  readonly status: object;
  readonly result?: object;
}

async function readOne(call: CompatCall, url: string, asked: ExaContents): Promise<Outcome> {
  try {
    const { page } = await call.native.read(call, { url, timeout: PAGE_S, ...cacheFields(asked) });
    if (page.blocked) throw problem('BlockedPageError');
    const published = Date.parse(page.publishedTime ?? '');
    return {
      status: { id: url, status: 'success' },
      result: {
        id: url,
        url,
        title: page.title,
        ...(page.metadata?.author !== undefined && { author: page.metadata.author }),
        ...(!Number.isNaN(published) && { publishedDate: new Date(published).toISOString() }),
        ...(wants(asked.text) && { text: cutText(page.content ?? '', asked.text) }),
      },
    };
  } catch (error) {
    const failure = asProblem(error);
    if (concernsRequest(failure)) throw failure;
    return { status: { id: url, status: 'error', error: { tag: tagOf(failure), httpStatusCode: failure.code } } };
  }
}

function tagOf({ name }: Problem): string {
  if (name === 'ServiceTimeoutError') return 'CRAWL_TIMEOUT';
  if (name === 'SecurityCompromiseError' || name === 'HarmfulContentError' || name === 'BlockedPageError')
    return 'SOURCE_NOT_AVAILABLE';
  return name === 'ParamValidationError' ? 'UNSUPPORTED_URL' : 'CRAWL_UNKNOWN_ERROR';
}
