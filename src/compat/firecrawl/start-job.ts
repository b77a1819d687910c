/** Starts a crawl of ours for a crawl or a batch, and answers with its id. */
import { type CrawlExtras, type CrawlJob, startUrlOf } from '#crawl/index.ts';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import type { Version } from './fields.ts';
import { type Formats, isWrittenWhole, needsModel } from './formats.ts';
import { type JobData, statusPath, uuidOf } from './jobs.ts';
import { optionsOfModel, requireModel } from './model-formats.ts';
import { renameProblem } from './names.ts';
import type { ReadPlan } from './to-read.ts';

export interface NewJob {
  readonly kind: JobData['kind'];
  readonly plan: ReadPlan;
  /** The fields of our own crawl request. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly urls?: readonly string[];
  readonly extras: CrawlExtras;
  readonly warnings: readonly string[];
  /** The start URLs as the caller sent them. */
  readonly sources: readonly string[];
  /** The path of the scrape options in errors, with a dot at its end. */
  readonly prefix: string;
}

/** Starts the job, or finds the one that the same request has started before. */
export async function startJob(call: CompatCall, { plan, kind, warnings, prefix, ...rest }: NewJob): Promise<CrawlJob> {
  const { formats, documents } = plan;
  const data: JobData = {
    ...{ api: 'firecrawl', kind, formats, documents, warnings },
    sources: sourcesOf(rest.sources),
    ...(kind === 'crawl' && { options: withoutSecrets(call.body as Readonly<Record<string, unknown>>) }),
  };
  const { fields, urls, extras } = rest;
  try {
    return await call.native.crawls.start(call, {
      fields: { ...fields, options: { ...plan.given, ...optionsOfModel(formats) } },
      ...(urls && { urls }),
      extras: { ...extras, details: formats.html ? 'html' : 'facts' },
      data,
      requestKey: requestKeyOf(call, kind),
    });
  } catch (error) {
    throw renameProblem(error, prefix);
  }
}

/** The request without the headers for targets, which may be secret and must not outlive the job. */
function withoutSecrets({ scrapeOptions, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { headers: _, ...shown } = (scrapeOptions ?? {}) as Record<string, unknown>;
  return { ...rest, scrapeOptions: shown };
}

const MAX_KEY = 200;

/** The key with which clients repeat a request without starting a second job. */
function requestKeyOf({ request }: CompatCall, kind: JobData['kind']): string | undefined {
  const given = request.headers['x-idempotency-key'] ?? request.headers['idempotency-key'];
  return typeof given === 'string' && given !== '' ? `${kind} ${given.slice(0, MAX_KEY)}` : undefined;
}

function sourcesOf(urls: readonly string[]): Record<string, string> {
  const sources: Record<string, string> = {};
  for (const url of urls) {
    const read = startUrlOf(url);
    if (read !== undefined && read !== url) sources[read] ??= url;
  }
  return sources;
}

/** Throws for formats that our crawls do not have. */
export function refuseForJobs(
  call: CompatCall,
  formats: Formats,
  { path, followsLinks }: { readonly path: string; readonly followsLinks: boolean },
): void {
  requireModel(call, formats, path);
  const refused = (message: string) => problem('ParamValidationError', { path, message: `${path}: ${message}` });
  if (formats.screenshot) throw refused('screenshot is only possible in a scrape');
  if (!needsModel(formats)) return;
  if (followsLinks) throw refused('a crawl cannot have json or summary; send its URLs to /batch/scrape');
  if (!isWrittenWhole(formats)) {
    throw refused('a batch can have json or summary only as its single format');
  }
}

export interface StartedJob {
  readonly job: CrawlJob;
  readonly version: Version;
  readonly kind: JobData['kind'];
  readonly warnings: readonly string[];
  readonly invalidURLs?: readonly string[];
}

export const sendStarted = (call: CompatCall, { job, version, kind, warnings, invalidURLs }: StartedJob) =>
  sendJson(call.reply, {
    success: true,
    id: uuidOf(job.id),
    url: call.origin + statusPath(kind, version, job.id),
    ...(invalidURLs?.length && { invalidURLs }),
    ...(warnings.length > 0 && { warning: warnings.join('\n') }),
  });
