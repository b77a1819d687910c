/** Starts, finds and cancels crawls for dialects, as the endpoints of crawls do. */
import { accountOf } from '#accounts/index.ts';
import { ownerOf } from '#api/crawl/crawl.ts';
import { readCrawl, readPageOptions, refuseStartUrl } from '#api/crawl/request.ts';
import { orUnavailable } from '#api/unavailable.ts';
import type {
  CrawlExtras,
  CrawlJob,
  CrawlResult,
  FollowEvent,
  MapRequest,
  ResultSelection,
  SiteMap,
} from '#crawl/index.ts';
import { problem } from '#errors.ts';
import { disconnectSignal } from '#http/disconnect.ts';
import { addCost } from './cost.ts';
import type { GivenFields, NativeCall, NativeParts } from './native.ts';

export interface CrawlRequest {
  /** The fields of `POST /crawl`. */
  readonly fields: GivenFields;
  /** Start URLs, if there may be more than `fields` can have. */
  readonly urls?: readonly string[];
  readonly extras: CrawlExtras;
  /** JSON to store with the job. */
  readonly data?: unknown;
  /** A key by which a repeated request gets the same job. */
  readonly requestKey?: string | undefined;
}

export interface MapFields
  extends Pick<MapRequest, 'url' | 'scope' | 'sitemap' | 'dropsQueries' | 'limit' | 'timeoutMs'> {
  /** Options of the reader by their names in JSON bodies. */
  readonly options: GivenFields;
}

export interface NativeCrawls {
  /** Throws the problems of `POST /crawl`. */
  start(call: NativeCall, request: CrawlRequest): Promise<CrawlJob>;
  /** Finds a crawl of the caller. Throws ResourceNotFoundError. */
  find(call: NativeCall, id: string): Promise<CrawlJob>;
  /** Lists the crawls of the caller, newest first. */
  list(call: NativeCall, limit: number): Promise<CrawlJob[]>;
  cancel(job: CrawlJob): Promise<CrawlJob>;
  results(job: CrawlJob, selection: ResultSelection): AsyncIterable<CrawlResult>;
  follow(job: CrawlJob, after: number, signal: AbortSignal): AsyncIterable<FollowEvent>;
  /** Cancels a crawl that nobody waits for any more. */
  abandon(job: CrawlJob): Promise<unknown>;
  /** Throws if the guard does not allow a URL. The IP addresses of host names are checked later. */
  refuseUrl(call: NativeCall, url: string): void;
  map(call: NativeCall, fields: MapFields): Promise<SiteMap>;
  readonly maxPages: number;
  readonly maxConcurrency: number;
}

/** How long a request with the same key gets the same job. */
const REPEAT_MS = 86_400_000;

export function nativeCrawls(parts: NativeParts): NativeCrawls {
  const { crawls } = parts;
  return {
    async start({ request, admission }, { fields, urls, extras, data, requestKey }) {
      const { owner, account } = ownerOf(admission.caller);
      const { asked, options } = readCrawl(request, admission, parts, fields);
      const given = urls ? { ...asked, urls: [...urls] } : asked;
      return orUnavailable(
        crawls.submit({ owner, account, given, options, extras, data, requestKey, repeatMs: REPEAT_MS }),
      );
    },
    async find({ admission }, id) {
      const job = await orUnavailable(crawls.find(id));
      if (job?.owner === ownerOf(admission.caller).owner) return job;
      throw problem('ResourceNotFoundError', { message: 'Job not found' });
    },
    list: ({ admission }, limit) => orUnavailable(crawls.list(ownerOf(admission.caller).owner, limit)),
    cancel: (job) => orUnavailable(crawls.cancel(job)),
    results: (job, selection) => crawls.results(job, selection),
    follow: (job, after, signal) => crawls.follow(job, after, signal),
    abandon: (job) => crawls.abandon(job),
    refuseUrl: ({ request }, url) => refuseStartUrl(url, request, parts),
    async map(call, { options, ...fields }) {
      const { request, reply, admission } = call;
      refuseStartUrl(fields.url, request, parts);
      const map = await crawls.map({
        ...fields,
        options: readPageOptions(request, admission, parts, { ...options }),
        account: accountOf(admission.caller),
        signal: disconnectSignal(reply),
      });
      addCost(call, map.tokens);
      return map;
    },
    maxPages: crawls.limits.maxPages,
    maxConcurrency: crawls.limits.hostPages,
  };
}
