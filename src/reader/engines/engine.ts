/**
 * What an engine owes: given an address, snapshots of it, each better than the last. The read takes the snapshots as
 * they come (a stream shows each), and the last one is the answer.
 */
import type { CookieJar } from '#net/fetch/cookies.ts';
import type { CheckRedirect } from '#net/fetch/fetch.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { Options } from '../options/resolve.ts';
import type { AnswerFacts, Snapshot } from '../snapshot.ts';

export interface Visit {
  /** The cleaned, absolute http(s) address. For submitted HTML: the address to show, while `html` is what is loaded. */
  readonly url: string;
  readonly html?: string | undefined;
  /** The address that led to `url`, if one did: what was meant for it is told to no other site. */
  readonly cameFrom?: string | undefined;
  /** Set when `html` is what `url` has just answered: it stands for the first answer of that address, later ones are fetched. */
  readonly answer?: AnswerFacts | undefined;
  /** The cookies of the read, the caller's among them, and where those of answers go; engines that follow each other share it. */
  readonly jar?: CookieJar | undefined;
  readonly options: Options;
  /** When an answer is due at the latest, as `performance.now()` milliseconds. Partial answers beat none. */
  readonly deadline: number;
  /** Aborted when the caller has gone: stop at once and give everything back. */
  readonly signal: AbortSignal;
  /** Whether the caller gave a key; those who did not have narrower limits. */
  readonly keyed: boolean;
  /** The proxy of the operator for this read, chosen by the option `proxy`. `options.proxyUrl` wins over it. */
  readonly proxy?: URL | undefined;
  /** The folder for a file that the target turns out to be; removed when the read is over. */
  readonly folder: () => Promise<string>;
  readonly trace?: Trace | undefined;
  /** Asked before an address is that the target leads to. A browser follows its pages without asking. */
  readonly checkRedirect?: CheckRedirect | undefined;
}

export interface Engine {
  readonly name: 'direct' | 'browser' | 'cf-browser-rendering';
  /**
   * Yields snapshots until the page has reached the state that the options ask for, or time is up.
   * Nothing captured at all is a problem: AssertionFailureError; a refused address: SecurityCompromiseError.
   */
  visit(visit: Visit): AsyncIterable<Snapshot>;
  close(): Promise<void>;
}
