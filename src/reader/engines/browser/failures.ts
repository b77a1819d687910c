/** What went wrong with a main document, in the words of the error table. */
import { type Problem, problem } from '#errors.ts';
import type { CookieJar } from '#net/fetch/cookies.ts';
import { tooManyRedirects } from '#net/fetch/redirect.ts';
import type { StorageState } from '../../snapshot.ts';

/** Thrown when another engine reads the target: it is a file, or its answer is one that browsers do not take. Not for callers. */
export class FileTargetError extends Error {
  readonly url: string;
  readonly mediaType: string | undefined;
  /** Why it is read elsewhere. */
  readonly reason: string;
  /** What the browser had gathered on the way. */
  jar: CookieJar | undefined;
  /** Set when it was asked for. */
  storageState: StorageState | undefined;

  constructor(url: string, mediaType: string | undefined, reason = 'the target is a file') {
    super(reason);
    this.url = url;
    this.mediaType = mediaType;
    this.reason = reason;
  }
}

export const unreadable = (mediaType: string | undefined): Problem =>
  problem('AssertionFailureError', { message: `This type of target cannot be read yet: ${mediaType || 'unknown'}` });

/** A target whose answer a browser does not take, or takes for something else. */
export const unlikeBrowsers = (url: string, mediaType?: string) =>
  new FileTargetError(url, mediaType, 'the browser does not read this answer');

/** What the browser does not let out whatever the proxy would say. */
const OWN_REFUSALS = new Set(['ERR_UNSAFE_PORT', 'ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS']);

/** An answer came that the browser takes for none, not for all, or not for a page: the fetch reads it, or says what is wrong. */
const UNREAD = new RegExp(
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

const NO_REACH = 'The target cannot be reached';
const NO_CONNECTION = 'No secure connection to the target could be established';
const CLOSED = 'The target closed the connection';

/** Chromium's network errors (net/base/net_error_list.h) in the words of the fetch; the first that fits counts. */
const MESSAGES: readonly (readonly [code: RegExp, message: string])[] = [
  [/^ERR_TOO_MANY_REDIRECTS$/, tooManyRedirects().message],
  [/^ERR_CERT/, 'The certificate of the page is not valid'],
  [/^ERR_(?:SSL|BAD_SSL|ECH)_/, NO_CONNECTION],
  [/^ERR_CONNECTION_REFUSED$/, 'The target refused the connection'],
  [/^ERR_(?:CONNECTION_(?:RESET|CLOSED|ABORTED)|SOCKET_NOT_CONNECTED)$/, CLOSED],
  [/TIMED_OUT$/, 'The target did not answer in time'],
  [/^ERR_(?:TUNNEL|PROXY|CONNECTION|ADDRESS|NAME|INTERNET|NETWORK|SOCKS)_/, NO_REACH],
  [/^ERR_(?:INSUFFICIENT_RESOURCES|OUT_OF_MEMORY|FILE_TOO_BIG)$/, 'The page is too large for the browser'],
  [/^ERR_BLOCKED_BY_/, 'The browser was not let show the page'],
  [UNREAD, 'The target answered in a way that the browser cannot read'],
];

/** The error of a navigation by its name, such as `ERR_ABORTED`. */
const codeOf = (error: unknown): string =>
  /net::(ERR_[A-Z0-9_]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? '';

/** Whether the browser had an answer that it could not read to its end. */
export const isUnread = (error: unknown): boolean => UNREAD.test(codeOf(error));

/** Chromium's own message would tell of the inside. */
export function navigationProblem(error: unknown, refused: boolean): Problem {
  const code = codeOf(error);
  // A tunnel that the proxy refuses looks to the browser like one that failed.
  if ((refused && code === 'ERR_TUNNEL_CONNECTION_FAILED') || OWN_REFUSALS.has(code)) {
    return problem('SecurityCompromiseError', { path: 'url' }, error);
  }
  const message = MESSAGES.find(([pattern]) => pattern.test(code))?.[1] ?? 'The page could not be loaded';
  return problem('AssertionFailureError', { message }, error);
}

/** Answers that never have content (RFC 9110, section 15): a browser stays where it is. */
export const isBodiless = (status: number): boolean => status < 200 || [204, 205, 304].includes(status);

export const withoutContent = (status: number): Problem =>
  problem('AssertionFailureError', {
    targetStatus: status,
    message: `The target answered ${status} without any content`,
  });
