/** Reads one URL of a crawl, and reports how the result affects its host. */
import { createHash } from 'node:crypto';
import { asProblem, type Problem, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { CrawlLinks, DetailLevel, Options, Page, Reader, Rendition } from '#reader/index.ts';
import { CrawlStoppedError, type RedirectChain, ROBOTS_AGENT, type StopReason } from './redirects.ts';

export interface FailedRead {
  readonly kind: 'failed';
  readonly failure: Problem;
  /** The HTTP status of the page, if there was a response. */
  readonly status?: number | undefined;
  /** Whether a later attempt may succeed. */
  readonly isTransient: boolean;
  /** Set if the host reported that it is busy; `waitMs` is its Retry-After. */
  readonly busy?: { readonly waitMs: number | undefined } | undefined;
  /** Whether this server is overloaded, so that the page did not cause the failure. */
  readonly isOverloaded?: boolean | undefined;
  /** Whether the host could be reached. */
  readonly isReached: boolean;
}

export type ReadResult =
  | {
      readonly kind: 'page';
      readonly rendition: Rendition & { readonly pageLinks: CrawlLinks };
      readonly content: string | undefined;
      readonly ms: number;
    }
  /** Forbidden by robots.txt; `to` is the redirect target that is forbidden. */
  | { readonly kind: 'forbidden'; readonly to?: string }
  | Exclude<StopReason, { kind: 'robots-unavailable' }>
  | FailedRead;

export interface ReadTools {
  readonly reader: Reader;
  readonly robots: Robots;
}

export interface PageRequest {
  readonly url: string;
  readonly options: Options;
  readonly obeysRobots: boolean;
  /** The account of the crawl; `undefined` on a server without keys. */
  readonly account: string | undefined;
  readonly details?: DetailLevel | undefined;
  readonly chain: Pick<RedirectChain, 'follow'>;
  readonly signal: AbortSignal;
}

/**
 * Status codes for temporary failures: timeout, too early, too many requests, and server errors (RFC 9110; RFC 6585,
 * section 4; RFC 8470).
 */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Throws only the signal's reason; every other failure is returned as a result. */
export async function readPage(
  { url, options, obeysRobots, account, details, chain, signal }: PageRequest,
  { reader, robots }: ReadTools,
): Promise<ReadResult> {
  const startedAt = performance.now();
  try {
    if (obeysRobots) {
      const rules = await robots.rules(url, { signal });
      if (rules.unknownFor !== undefined) return robotsUnavailable(rules.unknownFor);
      if (!rules.allows(new URL(url), ROBOTS_AGENT)) return { kind: 'forbidden' };
    }
    const checkRedirect = chain.follow;
    const request = { target: { url }, options, signal, keyed: true, account, pageLinks: true, details, checkRedirect };
    const rendition = await reader.last(request);
    const { status = 200 } = rendition;
    if (status >= 400) return errorStatus(status, rendition.retryAfter);
    const pageLinks = rendition.pageLinks ?? { url, links: [], nofollow: false };
    if (obeysRobots && pageLinks.url !== url) {
      // A browser follows redirects without `checkRedirect`, so the final URL is checked as well.
      const rules = await robots.rules(pageLinks.url, { signal });
      if (rules.unknownFor !== undefined) return stopped({ kind: 'robots-unavailable', by: rules.unknownFor });
      if (!rules.allows(new URL(pageLinks.url), ROBOTS_AGENT)) return { kind: 'forbidden', to: pageLinks.url };
    }
    const ms = Math.round(performance.now() - startedAt);
    return { kind: 'page', rendition: { ...rendition, pageLinks }, content: hashContent(rendition.page), ms };
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof CrawlStoppedError ? stopped(error.reason) : failed(asProblem(error));
  }
}

function errorStatus(status: number, retryAfter: string | undefined): FailedRead {
  const failure = problem('AssertionFailureError', { message: `The page answered with status ${status}` });
  const waitMs = retryAfter === undefined ? undefined : retryAfterSeconds(retryAfter, 1) * 1000;
  return {
    kind: 'failed',
    failure,
    status,
    isTransient: TRANSIENT.has(status),
    busy: BUSY.has(status) ? { waitMs } : undefined,
    isReached: true,
  };
}

/** While robots.txt cannot be fetched, no page of the site may be read (RFC 9309, section 2.3.1.4). */
function robotsUnavailable(by: number | Problem): FailedRead {
  if (typeof by !== 'number') return failed(by);
  const message = `The robots.txt of the site answered with status ${by}, so no page of the site may be read`;
  const failure = problem('AssertionFailureError', { message });
  const busy = BUSY.has(by) ? { waitMs: undefined } : undefined;
  return { kind: 'failed', failure, isTransient: true, busy, isReached: true };
}

/** A failure of a redirect's target does not count against the redirecting host. */
const stopped = (reason: StopReason): ReadResult =>
  reason.kind === 'robots-unavailable' ? { ...robotsUnavailable(reason.by), busy: undefined, isReached: true } : reason;

function failed(failure: Problem): FailedRead {
  const { name, facts } = failure;
  if (name === 'ServiceNodeResourceDrainError') {
    return { kind: 'failed', failure, isTransient: true, isOverloaded: true, isReached: true };
  }
  const status = typeof facts.targetStatus === 'number' ? facts.targetStatus : undefined;
  if (status !== undefined) {
    return { kind: 'failed', failure, status, isTransient: TRANSIENT.has(status), isReached: true };
  }
  const isUnknownHost = name === 'ParamValidationError' && facts.path === 'url';
  const isUnreached = isUnknownHost || (name === 'AssertionFailureError' && !('mediaType' in facts) && !facts.path);
  return { kind: 'failed', failure, isTransient: isUnreached || failure.code >= 500, isReached: !isUnreached };
}

/** Hashes the text of a page, without the front matter, which contains the URL; `undefined` if it is no content. */
function hashContent({ blocked, content, text, html }: Page): string | undefined {
  // Every page of a blocked site has the same text. The others would count as duplicates of the first.
  if (blocked) return undefined;
  const body = content === undefined ? (text ?? html ?? '') : withoutFrontMatter(content);
  const plain = body.trim();
  return plain ? createHash('sha256').update(plain).digest('base64url') : undefined;
}

function withoutFrontMatter(content: string): string {
  const end = content.startsWith('---\n') ? content.indexOf('\n---\n', 3) : -1;
  return end < 0 ? content : content.slice(end + 5);
}
