/**
 * The contract of an engine: given a URL, it yields snapshots, each more complete than the last. The last one is the
 * answer; streams show them all.
 */
import type { CookieJar } from '#net/fetch/cookies.ts';
import type { CheckRedirect } from '#net/fetch/fetch.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { Options } from '../options/resolve.ts';
import type { ResponseFacts, Snapshot } from '../snapshot.ts';

export interface Visit {
  /** Absolute http(s) URL of the target. With `html`: the URL to show for it. */
  readonly url: string;
  readonly html?: string | undefined;
  /** URL of the page that led to this target, if any. Headers meant for that page are not sent to other sites. */
  readonly referringUrl?: string | undefined;
  /**
   * Set if `html` is the response just fetched from `url`: it replaces the first request to that URL; later ones are
   * fetched.
   */
  readonly fetchedResponse?: ResponseFacts | undefined;
  /** Cookie jar of the read, with the caller's cookies. Engines that run one after the other share it. */
  readonly jar?: CookieJar | undefined;
  readonly options: Options;
  /** Deadline for the answer, in milliseconds of `performance.now()`. Partial answers are better than none. */
  readonly deadline: number;
  /** Aborted when the caller disconnects: stop at once and release all resources. */
  readonly signal: AbortSignal;
  /** Whether the caller has a key; callers without one have narrower limits. */
  readonly keyed: boolean;
  /** The operator's proxy chosen for the option `proxy`. `options.proxyUrl` takes precedence. */
  readonly proxy?: URL | undefined;
  /** Folder for a target that is a file; removed at the end of the read. */
  readonly folder: () => Promise<string>;
  readonly trace?: Trace | undefined;
  /** Called before a redirect is followed. The browser engine does not call it for navigations of its pages. */
  readonly checkRedirect?: CheckRedirect | undefined;
}

export interface Engine {
  readonly name: 'direct' | 'browser' | 'cf-browser-rendering';
  /**
   * Yields snapshots until the page has reached the requested state or the deadline. Throws AssertionFailureError if
   * nothing was captured, SecurityCompromiseError if a URL is refused.
   */
  visit(visit: Visit): AsyncIterable<Snapshot>;
  close(): Promise<void>;
}
