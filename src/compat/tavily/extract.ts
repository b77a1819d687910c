/** Tavily's `/extract`. A URL that cannot be read is in `failed_results`; the answer is 200 all the same. */
import { asProblem } from '#errors.ts';
import { blockedMessage } from '../blocked.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { concernsRequest } from '../failed-url.ts';
import { readFields } from '../fields.ts';
import { readAll } from '../read-all.ts';
import { EXTRACT_FIELDS, type TavilyExtract } from './fields.ts';
import { secondsSince } from './search.ts';

export async function extract(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const asked = readFields(EXTRACT_FIELDS, call.body);
  const outcomes = await readAll(asked.urls, (url) => readOne(call, url, asked));
  const isFailure = (outcome: Outcome) => 'error' in outcome;
  return sendJson(call.reply, {
    results: outcomes.filter((outcome) => !isFailure(outcome)),
    failed_results: outcomes.filter(isFailure),
    response_time: secondsSince(startedAt),
    request_id: call.request.id,
    ...(asked.include_usage && { usage: { credits: asked.urls.length } }),
  });
}

type Outcome =
  | { readonly url: string; readonly error: string }
  | { readonly url: string; readonly raw_content: string };

/** `url` stays as it was sent, because clients find the results by it. */
async function readOne(call: CompatCall, url: string, asked: TavilyExtract): Promise<Outcome> {
  const given = {
    url,
    timeout: asked.timeout,
    respondWith: asked.format === 'text' ? 'text' : 'content',
    ...(asked.include_images && { withImagesSummary: true }),
  };
  try {
    const { page } = await call.native.read(call, given);
    if (page.blocked) return { url, error: blockedMessage(page.blocked) };
    return {
      url,
      ...{ title: page.title },
      raw_content: (asked.format === 'text' ? page.text : page.content) ?? '',
      ...{ images: Object.values(page.images ?? {}) },
    };
  } catch (error) {
    const failure = asProblem(error);
    if (concernsRequest(failure)) throw failure;
    return { url, error: failure.message };
  }
}
