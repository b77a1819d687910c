/**
 * The contract of an engine: for a URL, it yields snapshots, each more complete than the one before. The last one is
 * the result; streams contain all of them.
 */
import type { CookieJar } from '#net/fetch/cookies.ts';
import type { CheckRedirect } from '#net/fetch/fetch.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { Options } from '../options/resolve.ts';
import type { ResponseFacts, Snapshot } from '../snapshot.ts';

export interface Visit {
  /** Absolute http(s) URL of the target. If `html` is set: the URL to show for it. */
  readonly url: string;
  readonly html?: string | undefined;
  /** URL of the page that led to this target, if any. Headers intended for that page are not sent to other sites. */
  readonly referringUrl?: string | undefined;
  /**
   * Set if `html` is the response that was just fetched from `url`. It replaces the first request to that URL; later
   * requests are fetched.
   */
  readonly fetchedResponse?: ResponseFacts | undefined;
  /** Cookie jar of the read, with the caller's cookies. Engines that run one after the other share the jar. */
  readonly jar?: CookieJar | undefined;
  readonly options: Options;
  /** Deadline for the result, in milliseconds of `performance.now()`. Partial results are better than none. */
  readonly deadline: number;
  /** Aborted when the caller disconnects: stop immediately and release all resources. */
  readonly signal: AbortSignal;
  /** Whether the caller has a key; callers without a key have stricter limits. */
  readonly keyed: boolean;
  /** The operator's proxy that was chosen for the `proxy` option. `options.proxyUrl` takes precedence. */
  readonly proxy?: URL | undefined;
  /** Returns a folder for a target that is a file; it is removed at the end of the read. */
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
