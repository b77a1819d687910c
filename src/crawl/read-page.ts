/** One address of a crawl, read: what came of it, and what that means for its host. */
import { createHash } from 'node:crypto';
import { asProblem, type Problem, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { Options, Page, PageLinks, Reader, Rendition } from '#reader/index.ts';
import { AGENT, CrawlStoppedError, type RedirectChain, type Stop } from './redirects.ts';

export type Reading =
  | {
      readonly kind: 'page';
      readonly rendition: Rendition & { readonly pageLinks: PageLinks };
      readonly content: string | undefined;
      readonly ms: number;
    }
  /** By robots.txt; `to` is where the address led. */
  | { readonly kind: 'forbidden'; readonly to?: string }
  | Exclude<Stop, { kind: 'untold' }>
  | {
      readonly kind: 'failed';
      readonly failure: Problem;
      /** What the page was answered with. */
      readonly status?: number | undefined;
      /** Whether it may pass. */
      readonly passing: boolean;
      /** The host has too much to do. */
      readonly busy?: { readonly waitMs: number | undefined } | undefined;
      /** This server has too much to do, which is no fault of the page. */
      readonly ours?: boolean | undefined;
      /** Whether the host could be reached. */
      readonly reached: boolean;
    };

export interface ReadTools {
  readonly reader: Reader;
  readonly robots: Robots;
}

export interface Asked {
  readonly url: string;
  readonly options: Options;
  readonly obeys: boolean;
  /** Whose crawl it is; undefined where nobody has an account. */
  readonly account: string | undefined;
  readonly way: Pick<RedirectChain, 'follow'>;
  readonly signal: AbortSignal;
}

/** Statuses that pass: time out, too early, too many requests, and failures of servers (RFC 9110; RFC 6585, section 4). */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Throws the reason of the signal when that ends it, and nothing else. */
export async function readPage(
  { url, options, obeys, account, way, signal }: Asked,
  { reader, robots }: ReadTools,
): Promise<Reading> {
  const startedAt = performance.now();
  try {
    if (obeys) {
      const rules = await robots.rules(url, { signal });
      if (rules.unknownFor !== undefined) return untold(rules.unknownFor);
      if (!rules.allows(new URL(url), AGENT)) return { kind: 'forbidden' };
    }
    const checkRedirect = way.follow;
    const asked = { target: { url }, options, signal, keyed: true, account, pageLinks: true, checkRedirect };
    const rendition = await reader.last(asked);
    const { status = 200 } = rendition;
    if (status >= 400) return answered(status, rendition.retryAfter);
    const pageLinks = rendition.pageLinks ?? { url, links: [], nofollow: false };
    if (obeys && pageLinks.url !== url) {
      // A browser goes without asking; what is forbidden is not given all the same.
      const rules = await robots.rules(pageLinks.url, { signal });
      if (rules.unknownFor !== undefined) return stopped({ kind: 'untold', by: rules.unknownFor });
      if (!rules.allows(new URL(pageLinks.url), AGENT)) return { kind: 'forbidden', to: pageLinks.url };
    }
    const ms = Math.round(performance.now() - startedAt);
    return { kind: 'page', rendition: { ...rendition, pageLinks }, content: contentOf(rendition.page), ms };
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof CrawlStoppedError ? stopped(error.stop) : failed(asProblem(error));
  }
}

function answered(status: number, retryAfter: string | undefined): Reading {
  const failure = problem('AssertionFailureError', { message: `The page was answered with ${status}` });
  const waitMs = retryAfter === undefined ? undefined : retryAfterSeconds(retryAfter, 1) * 1000;
  return {
    kind: 'failed',
    failure,
    status,
    passing: PASSING.has(status),
    busy: BUSY.has(status) ? { waitMs } : undefined,
    reached: true,
  };
}

/** What the site allows is not known for the moment, so nothing is (RFC 9309, section 2.3.1.4). */
function untold(by: number | Problem): Extract<Reading, { kind: 'failed' }> {
  if (typeof by !== 'number') return failed(by);
  const message = `The robots.txt of the site was answered with ${by}: what it allows is not known`;
  const failure = problem('AssertionFailureError', { message });
  const busy = BUSY.has(by) ? { waitMs: undefined } : undefined;
  return { kind: 'failed', failure, passing: true, busy, reached: true };
}

/** What another site cannot tell is no fault of the host that led there. */
const stopped = (stop: Stop): Reading =>
  stop.kind === 'untold' ? { ...untold(stop.by), busy: undefined, reached: true } : stop;

function failed(failure: Problem): Extract<Reading, { kind: 'failed' }> {
  const { name, facts } = failure;
  if (name === 'ServiceNodeResourceDrainError') {
    return { kind: 'failed', failure, passing: true, ours: true, reached: true };
  }
  const status = typeof facts.targetStatus === 'number' ? facts.targetStatus : undefined;
  if (status !== undefined) return { kind: 'failed', failure, status, passing: PASSING.has(status), reached: true };
  const isUnknownHost = name === 'ParamValidationError' && facts.path === 'url';
  const isUnreached = isUnknownHost || (name === 'AssertionFailureError' && !('mediaType' in facts) && !facts.path);
  return {
    kind: 'failed',
    failure,
    passing: isUnreached || failure.code >= 500,
    reached: !isUnreached,
  };
}

/** A hash of what the page says; front matter, which names the address, is no part of it. */
function contentOf({ content, text, html }: Page): string | undefined {
  const said = content === undefined ? (text ?? html ?? '') : withoutHead(content);
  const plain = said.trim();
  return plain ? createHash('sha256').update(plain).digest('base64url') : undefined;
}

function withoutHead(content: string): string {
  const end = content.startsWith('---\n') ? content.indexOf('\n---\n', 3) : -1;
  return end < 0 ? content : content.slice(end + 5);
}
