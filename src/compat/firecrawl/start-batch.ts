/** `POST /batch/scrape`: reads many pages as a job. */
import { startUrlOf } from '#crawl/index.ts';
import { Problem, problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields } from '../fields.ts';
import { BATCH_FIELDS, type Version } from './fields.ts';
import { refuseForJobs, sendStarted, startJob } from './start-job.ts';
import { toRead } from './to-read.ts';

export const startBatch = (version: Version) => async (call: CompatCall) => {
  const {
    urls,
    ignoreInvalidURLs = true,
    maxConcurrency,
    appendToId,
    webhook,
    ...options
  } = readFields(BATCH_FIELDS, call.body);
  const refused = (path: string, message: string) => problem('ParamValidationError', { path, message });
  if (webhook !== undefined) throw refused('webhook', 'Lectern does not have webhook: poll the job or watch it');
  if (appendToId !== undefined) throw refused('appendToId', 'Lectern does not have appendToId: start another batch');
  if (options.zeroDataRetention) {
    throw refused('zeroDataRetention', 'zeroDataRetention: a batch stores pages until they are fetched');
  }
  const plan = toRead(options, version);
  refuseForJobs(call, plan.formats, { path: 'formats', followsLinks: false });
  const { valid, invalid: invalidURLs } = readUrls(call, urls, ignoreInvalidURLs);
  const most = call.native.crawls.maxConcurrency;
  const warnings = [...plan.warnings];
  if (maxConcurrency !== undefined && maxConcurrency > most) {
    warnings.push(`maxConcurrency is ${most}, the maximum of this server.`);
  }
  const job = await startJob(call, {
    kind: 'batch',
    plan,
    // robots.txt is for crawlers; these URLs were named by the caller, as in a scrape.
    fields: {
      ...{ limit: valid.length, depth: 0, sitemap: false, robots: false, options: plan.given },
      ...(maxConcurrency !== undefined && { concurrency: Math.min(maxConcurrency, most) }),
    },
    urls: valid,
    extras: { keepsDuplicates: true },
    warnings,
    sources: valid,
    prefix: '',
  });
  return sendStarted(call, { job, version, kind: 'batch', warnings, invalidURLs });
};

interface Urls {
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

/** Throws ParamValidationError for an invalid URL, unless they are ignored and others are valid. */
export function readUrls(call: CompatCall, urls: readonly string[], ignoresInvalid: boolean): Urls {
  const invalid = urls.filter((url) => !isAllowed(call, url));
  const valid = urls.filter((url) => !invalid.includes(url));
  const [first] = invalid;
  if (first === undefined || (ignoresInvalid && valid.length > 0)) return { valid, invalid };
  const path = `urls.${urls.indexOf(first)}`;
  throw problem('ParamValidationError', { path, message: `${path} is not a URL that can be read`, value: first });
}

/** Whether text is a URL that the guard allows. The IP addresses of host names are checked when they are read. */
function isAllowed(call: CompatCall, url: string): boolean {
  if (startUrlOf(url) === undefined) return false;
  try {
    call.native.crawls.refuseUrl(call, url);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
