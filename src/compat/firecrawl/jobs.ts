/** Crawls and batches as jobs: their ids, what is stored with them, and their state. */
import { createHash } from 'node:crypto';
import type { CrawlJob, CrawlResult } from '#crawl/index.ts';
import { problem } from '#errors.ts';
import type { Page, ReadDetails } from '#reader/index.ts';
import type { CompatCall } from '../dialect.ts';
import { type FirecrawlDocument, writeDocument } from './document.ts';
import type { Version } from './fields.ts';
import type { Formats } from './formats.ts';
import { writtenBy } from './model-formats.ts';
import type { DocumentParsing } from './to-read.ts';

/** What is stored with a job, so that its documents can be written at any later time. */
export interface JobData {
  readonly api: 'firecrawl';
  readonly kind: 'crawl' | 'batch' | 'extract';
  readonly formats: Formats;
  readonly documents: DocumentParsing;
  readonly warnings: readonly string[];
  /** The URLs as the caller sent them, by the URL that is read; only those that differ. */
  readonly sources: Readonly<Record<string, string>>;
  /** What the caller sent, for lists of jobs. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

const JOB_ID = /^crawl_([0-9a-z]{10})([0-9a-z]{16})$/;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TIME_DIGITS = 12;
const HEX_DIGITS = 32;

/** Our ids have 48 bits of time and 80 random bits, as many as a UUID has. */
export function uuidOf(id: string): string {
  const [, time = '', random = ''] = JOB_ID.exec(id) ?? [];
  const hex = toHex(time, TIME_DIGITS) + toHex(random, HEX_DIGITS - TIME_DIGITS);
  return asUuid(hex);
}

/** The id of the crawl that has this UUID; `undefined` if the text is not a UUID. */
export function jobIdOf(uuid: string): string | undefined {
  if (!UUID.test(uuid)) return undefined;
  const hex = uuid.replaceAll('-', '').toLowerCase();
  return `crawl_${toWords(hex.slice(0, TIME_DIGITS), 10)}${toWords(hex.slice(TIME_DIGITS), 16)}`;
}

const asUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

function toHex(text: string, digits: number): string {
  let value = 0n;
  for (const sign of text) value = value * 32n + BigInt(ALPHABET.indexOf(sign));
  return value.toString(16).padStart(digits, '0');
}

function toWords(hex: string, length: number): string {
  let text = '';
  for (let value = BigInt(`0x${hex}`), at = 0; at < length; at++, value /= 32n)
    text = ALPHABET[Number(value % 32n)] + text;
  return text;
}

/** An id that is the same whenever the document is written. */
const scrapeIdOf = (jobId: string, seq: number): string =>
  asUuid(createHash('sha256').update(`${jobId}.${seq}`).digest('hex').slice(0, HEX_DIGITS));

export interface Job {
  readonly job: CrawlJob;
  readonly data: JobData;
}

export const dataOf = (job: CrawlJob): JobData | undefined => {
  const data = job.data as JobData | undefined;
  return data?.api === 'firecrawl' ? data : undefined;
};

/**
 * The job with the UUID in the path. Old clients ask for batches under the path of crawls. Throws ResourceNotFoundError
 * for a job of another key, of another API, or that has expired.
 */
export async function findJob(call: CompatCall): Promise<Job> {
  const id = jobIdOf(call.params.id ?? '');
  const job = id === undefined ? undefined : await call.native.crawls.find(call, id);
  const data = job && dataOf(job);
  if (!job || !data) throw problem('ResourceNotFoundError', { message: 'Job not found' });
  if (job.state === 'expired') throw problem('ResourceNotFoundError', { message: 'Job expired' });
  return { job, data };
}

const STATUSES = {
  pending: 'scraping',
  processing: 'scraping',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'failed',
} as const satisfies Record<CrawlJob['state'], string>;

export const isFinished = ({ state }: CrawlJob): boolean => STATUSES[state] !== 'scraping';

/** The state of a job without its documents. */
export function writeState({ job, data }: Job): Record<string, unknown> {
  const { state, found, done, failed, skipped, plan, error } = job;
  const ended = done + failed;
  const total = isFinished(job) ? ended : Math.max(ended, Math.min(plan.limit, found - skipped));
  return {
    success: true,
    status: STATUSES[state],
    total,
    completed: done,
    creditsUsed: done,
    expiresAt: new Date(job.expiresAt).toISOString(),
    ...(state === 'failed' && { error: error ?? 'No page could be read' }),
    ...(data.warnings.length > 0 && { warning: data.warnings.join('\n') }),
  };
}

interface StoredPage {
  readonly url: string;
  readonly page: Page;
  readonly details?: ReadDetails;
}

/** Writes the document of a page of a job. */
export function documentOf({ job, data }: Job, { seq, body }: CrawlResult): FirecrawlDocument {
  const { url, page, details } = JSON.parse(body) as StoredPage;
  const { formats, documents, sources } = data;
  return writeDocument({
    ...{ page, details, formats, documents },
    sourceUrl: sources[url] ?? url,
    scrapeId: scrapeIdOf(job.id, seq),
    warnings: [],
    written: writtenBy(formats, page),
  });
}

const PATHS = { crawl: 'crawl', batch: 'batch/scrape', extract: 'extract' } as const;

/** The path at which a job is polled. */
export const statusPath = (kind: JobData['kind'], version: Version, id: string): string =>
  `/${version}/${PATHS[kind]}/${uuidOf(id)}`;
