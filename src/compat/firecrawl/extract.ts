/** `POST /extract` and `GET /extract/{id}`: structured data from several pages, as a job. A model reads each page. */
import { problem } from '#errors.ts';
import { ownValue, setOwnValue } from '#own-value.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { EXTRACT_FIELDS, type Version } from './fields.ts';
import { documentOf, findJob, isFinished, type Job, uuidOf } from './jobs.ts';
import { readUrls } from './start-batch.ts';
import { refuseForJobs, startJob } from './start-job.ts';
import { toRead } from './to-read.ts';

const refused = (path: string, message: string) => problem('ParamValidationError', { path, message });

export const startExtract = (version: Version) => async (call: CompatCall) => {
  const asked = readFields(EXTRACT_FIELDS, call.body);
  const { urls, prompt, systemPrompt, schema, enableWebSearch, webhook, agent, scrapeOptions = {} } = asked;
  if (enableWebSearch) throw refused('enableWebSearch', 'enableWebSearch: send the URLs of the pages instead');
  if (webhook !== undefined) throw refused('webhook', 'Lectern does not have webhook: poll the job');
  if (agent !== undefined) throw refused('agent', 'Lectern does not have agent');
  const wild = urls.findIndex((url) => url.includes('*'));
  if (wild >= 0) throw refused(`urls.${wild}`, `urls.${wild}: send the URLs of the pages, without *`);
  const json = { type: 'json', schema, prompt: [systemPrompt, prompt].filter(Boolean).join('\n\n') };
  const plan = toRead({ ...scrapeOptions, formats: [json] }, version, 'scrapeOptions.');
  refuseForJobs(call, plan.formats, { path: schema ? 'schema' : 'prompt', followsLinks: false });
  const { valid, invalid } = readUrls(call, urls, asked.ignoreInvalidURLs ?? false);
  const warnings = [...plan.warnings];
  if (asked.allowExternalLinks) warnings.push('allowExternalLinks is ignored: only the URLs are read.');
  const job = await startJob(call, {
    kind: 'extract',
    plan,
    fields: { limit: valid.length, depth: 0, sitemap: false, robots: false, options: plan.given },
    urls: valid,
    extras: { keepsDuplicates: true },
    warnings,
    sources: valid,
    prefix: 'scrapeOptions.',
  });
  return sendJson(call.reply, {
    success: true,
    id: uuidOf(job.id),
    urlTrace: [],
    ...(invalid.length > 0 && { invalidURLs: invalid }),
    ...(warnings.length > 0 && { warning: warnings.join('\n') }),
  });
};

export async function showExtract(call: CompatCall): Promise<unknown> {
  const found = await findJob(call);
  const { job, data: stored } = found;
  if (stored.kind !== 'extract') throw problem('ResourceNotFoundError', { message: 'Job not found' });
  const isDone = isFinished(job);
  const { data, sources } = isDone ? await mergeDocuments(call, found) : { data: [], sources: undefined };
  return sendJson(call.reply, {
    success: true,
    status: isDone ? job.state : 'processing',
    data,
    ...(job.state === 'failed' && { error: job.error ?? 'No page could be read' }),
    ...(sources && { sources }),
    ...(stored.warnings.length > 0 && { warning: stored.warnings.join('\n') }),
    expiresAt: new Date(job.expiresAt).toISOString(),
    tokensUsed: job.tokens,
    creditsUsed: job.done,
  });
}

interface Merged {
  readonly data: unknown;
  /** The URLs that have each field. */
  readonly sources: Readonly<Record<string, readonly string[]>>;
}

async function mergeDocuments({ native }: CompatCall, found: Job): Promise<Merged> {
  let data: unknown = {};
  const sources: Record<string, string[]> = {};
  for await (const result of native.crawls.results(found.job, { events: ['page'] })) {
    const { json, metadata } = documentOf(found, result) as { json: unknown; metadata: { sourceURL: string } };
    if (isObject(json)) {
      for (const name of Object.keys(json))
        setOwnValue(sources, name, [...(ownValue(sources, name) ?? []), metadata.sourceURL]);
    }
    data = merge(data, json);
  }
  return { data, sources };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Joins what several pages say: lists are concatenated, and of other values the first one counts. */
export function merge(first: unknown, second: unknown): unknown {
  if (isObject(first) && isObject(second)) {
    const merged = { ...first };
    for (const [name, value] of Object.entries(second)) {
      setOwnValue(merged, name, Object.hasOwn(first, name) ? merge(first[name], value) : value);
    }
    return merged;
  }
  if (Array.isArray(first) && Array.isArray(second)) {
    const known = new Set(first.map((value) => JSON.stringify(value)));
    return [...first, ...second.filter((value) => !known.has(JSON.stringify(value)))];
  }
  return isEmpty(first) ? second : first;
}
