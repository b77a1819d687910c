/** Maps failures to load a main document to problems. */
import type { Browser } from 'playwright-core';
import { type Problem, problem } from '#errors.ts';
import type { CookieJar } from '#net/fetch/cookies.ts';
import { tooManyRedirects } from '#net/fetch/redirect.ts';
import type { StorageState } from '../../snapshot.ts';

/**
 * Thrown if another engine must read the target: it is a file, or a response that browsers do not accept. Never
 * propagates to callers.
 */
export class FileTargetError extends Error {
  readonly url: string;
  readonly mediaType: string | undefined;
  /** The reason why another engine must read the target. */
  readonly reason: string;
  /** The cookies that the browser received during the redirects. */
  jar: CookieJar | undefined;
  /** Set only if the caller requested it. */
  storageState: StorageState | undefined;

  constructor(url: string, mediaType: string | undefined, reason = 'the target is a file') {
    super(reason);
    this.url = url;
    this.mediaType = mediaType;
    this.reason = reason;
  }
}

/** Thrown if the browser of a lease opens no context. Nothing was sent yet, so another browser may read the page. */
export class LostBrowserError extends Error {}

/** Thrown if a script of the page waits for a clock that stands still (page-clock.ts). It can be read in real time. */
export class StuckClockError extends Error {}

/** Whether a context could not be opened for a reason that has nothing to do with the read. */
export const isBrowserFault = (browser: Browser, error: unknown): boolean =>
  !browser.isConnected() || (error as Error).message.includes('Target.createBrowserContext');

export const unreadable = (mediaType: string | undefined): Problem =>
  problem('AssertionFailureError', { message: `Targets of the type ${mediaType || 'unknown'} cannot be read` });

/** Creates the error for a response that a browser refuses or misinterprets. */
export const unreadableByBrowser = (url: string, mediaType?: string) =>
  new FileTargetError(url, mediaType, 'the browser does not read this answer');

/** Errors for requests that the browser itself blocks. */
const OWN_REFUSALS = new Set(['ERR_UNSAFE_PORT', 'ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS']);

/**
 * Errors for responses that the browser cannot read completely, or cannot read as a page. The direct engine reads these
 * responses, or reports the fault.
 */
const UNREADABLE = new RegExp(
  `^ERR_(?:${[
    'ABORTED',
    'INVALID_HTTP_RESPONSE',
    'EMPTY_RESPONSE',
    'RESPONSE_HEADERS_\\w+',
    'HTTP_RESPONSE_CODE_FAILURE',
    'CONTENT_DECODING_\\w+',
    'CONTENT_LENGTH_MISMATCH',
    'INCOMPLETE_CHUNKED_ENCODING',
    'INVALID_CHUNKED_ENCODING',
    '(?:INCOMPLETE_)?HTTP2_\\w+',
    'UNSAFE_REDIRECT',
    'INVALID_REDIRECT',
    'INVALID_URL',
    'DISALLOWED_URL_SCHEME',
    'UNKNOWN_URL_SCHEME',
  ].join('|')})$`,
);

const UNREACHABLE = 'The target cannot be reached';
const NO_CONNECTION = 'No secure connection to the target could be established';
const CLOSED = 'The target closed the connection';

/** Chromium's network errors (net/base/net_error_list.h) with the direct engine's messages; the first match is used. */
const MESSAGES: readonly (readonly [code: RegExp, message: string])[] = [
  [/^ERR_TOO_MANY_REDIRECTS$/, tooManyRedirects().message],
  [/^ERR_CERT/, 'The certificate of the page is not valid'],
  [/^ERR_(?:SSL|BAD_SSL|ECH)_/, NO_CONNECTION],
  [/^ERR_CONNECTION_REFUSED$/, 'The target refused the connection'],
  [/^ERR_(?:CONNECTION_(?:RESET|CLOSED|ABORTED)|SOCKET_NOT_CONNECTED)$/, CLOSED],
  [/TIMED_OUT$/, 'The target did not respond in time'],
  [/^ERR_(?:TUNNEL|PROXY|CONNECTION|ADDRESS|NAME|INTERNET|NETWORK|SOCKS)_/, UNREACHABLE],
  [/^ERR_(?:INSUFFICIENT_RESOURCES|OUT_OF_MEMORY|FILE_TOO_BIG)$/, 'The page is too large for the browser'],
  [/^ERR_BLOCKED_BY_/, 'The browser was not allowed to show the page'],
  [UNREADABLE, 'The target answered in a way that the browser cannot read'],
];

/** The error name of a navigation, such as `ERR_ABORTED`. */
const codeOf = (error: unknown): string =>
  /net::(ERR_[A-Z0-9_]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? '';

/** Whether the browser got a response that it could not read completely. */
export const isUnreadableResponse = (error: unknown): boolean => UNREADABLE.test(codeOf(error));

/** The problem for a failed navigation. Chromium's own message is not repeated, because it contains internals. */
export function navigationProblem(error: unknown, refused: boolean): Problem {
  const code = codeOf(error);
  // To the browser, a tunnel that the proxy refused looks like a failed one.
  if ((refused && code === 'ERR_TUNNEL_CONNECTION_FAILED') || OWN_REFUSALS.has(code)) {
    return problem('SecurityCompromiseError', { path: 'url' }, error);
  }
  const message = MESSAGES.find(([pattern]) => pattern.test(code))?.[1] ?? 'The page could not be loaded';
  return problem('AssertionFailureError', { message }, error);
}

/** Responses that never have content (RFC 9110, section 15): the browser remains on its current page. */
export const isBodiless = (status: number): boolean => status < 200 || [204, 205, 304].includes(status);

export const emptyResponse = (status: number): Problem =>
  problem('AssertionFailureError', {
    targetStatus: status,
    message: `The target responded with status ${status} and no content`,
  });
