/** The endpoints of jobs: their state with documents, their errors, cancellation, and lists of jobs. */

import * as z from 'zod';
import type { CrawlResult } from '#crawl/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import type { FirecrawlDocument } from './document.ts';
import { targetCode } from './errors.ts';
import type { Version } from './fields.ts';
import { dataOf, documentOf, findJob, isFinished, type Job, statusPath, uuidOf, writeState } from './jobs.ts';

const MAX_DOCUMENTS = 100;
const MAX_CHARACTERS = 10 * 2 ** 20;
const LISTED = 100;

const PAGING = z.object({
  skip: numberText().pipe(z.number().int().min(0)).default(0),
  limit: numberText().pipe(z.number().int().min(1)).optional(),
});

/** `GET /crawl/{id}` and `GET /batch/scrape/{id}`. */
export const showJob = (version: Version) => async (call: CompatCall) => {
  const { skip, limit } = readFields(PAGING, call.query);
  const found = await findJob(call);
  const page = await readDocuments(call, found, { skip, limit });
  const next = page.hasMore
    ? nextUrl(call, { ...found, version, skip: skip + page.documents.length, limit })
    : undefined;
  return sendJson(call.reply, { ...writeState(found), ...(next && { next }), data: page.documents });
};

interface DocumentsPage {
  readonly documents: readonly FirecrawlDocument[];
  /** Whether there are more documents already. */
  readonly hasMore: boolean;
}

interface Paging {
  readonly skip: number;
  readonly limit: number | undefined;
}

/** Whether a response with this many documents must not have another one, with which it had this many characters. */
export const isFull = (count: number, characters: number, limit = MAX_DOCUMENTS): boolean =>
  count >= Math.min(limit, MAX_DOCUMENTS) || (count > 0 && characters > MAX_CHARACTERS);

/** The documents of a job from a position on, up to the limits of a response. */
async function readDocuments({ native }: CompatCall, found: Job, { skip, limit }: Paging): Promise<DocumentsPage> {
  const documents: FirecrawlDocument[] = [];
  let characters = 0;
  for await (const result of native.crawls.results(found.job, { events: ['page'], skip })) {
    characters += result.body.length;
    if (isFull(documents.length, characters, limit)) return { documents, hasMore: true };
    documents.push(documentOf(found, result));
  }
  return { documents, hasMore: false };
}

function nextUrl(
  { origin }: CompatCall,
  { job, data, version, skip, limit }: Job & Paging & { readonly version: Version },
): string {
  const parameters = new URLSearchParams({ skip: String(skip), ...(limit !== undefined && { limit: String(limit) }) });
  return `${origin}${statusPath(data.kind, version, job.id)}?${parameters}`;
}

interface Failure {
  readonly url: string;
  readonly error?: { readonly message: string; readonly name: string };
  readonly reason?: string;
  readonly to?: string;
}

/** `GET /crawl/{id}/errors`: what could not be read, and what robots.txt forbids. */
export async function showErrors(call: CompatCall): Promise<unknown> {
  const { job } = await findJob(call);
  const errors: object[] = [];
  const robotsBlocked: string[] = [];
  for await (const result of call.native.crawls.results(job, { events: ['failed', 'skipped'] })) {
    const failure = JSON.parse(result.body) as Failure;
    if (failure.reason === 'robots') robotsBlocked.push(failure.url);
    if (failure.error) errors.push(writeFailure(job.id, result, failure));
  }
  return sendJson(call.reply, { errors, robotsBlocked });
}

const writeFailure = (jobId: string, { seq }: CrawlResult, { url, error }: Failure) => ({
  id: `${uuidOf(jobId)}-${seq}`,
  url,
  code: targetCode({ name: error!.name as never, message: error!.message }),
  error: error!.message,
});

/** `DELETE /crawl/{id}`. A job that has ended stays as it is. */
export async function cancelJob(call: CompatCall): Promise<unknown> {
  const { job } = await findJob(call);
  const { state } = await call.native.crawls.cancel(job);
  return sendJson(call.reply, { success: true, status: state });
}

/** `GET /crawl/active`: the crawls that have not ended. */
export async function listActive(call: CompatCall): Promise<unknown> {
  const jobs = await call.native.crawls.list(call, LISTED);
  const crawls = jobs.flatMap((job) => {
    const data = dataOf(job);
    if (data?.kind !== 'crawl' || isFinished(job)) return [];
    return {
      id: uuidOf(job.id),
      teamId: job.account ?? '',
      url: data.sources[job.plan.starts[0]!] ?? job.plan.starts[0],
      created_at: new Date(job.createdAt).toISOString(),
      options: data.options,
    };
  });
  return sendJson(call.reply, { success: true, crawls });
}
