/** What went wrong with a main document, in the words of the error table. */
import { type Problem, problem } from '#errors.ts';
import type { CookieJar } from '#net/cookies.ts';
import type { StorageState } from '../../snapshot.ts';

/** Thrown when the target is a file, which another engine reads; not for callers. */
export class FileTarget extends Error {
  readonly url: string;
  readonly mediaType: string | undefined;
  /** What the browser had gathered on the way. */
  jar: CookieJar | undefined;
  /** Set when it was asked for. */
  storageState: StorageState | undefined;

  constructor(url: string, mediaType: string | undefined) {
    super('the target is a file');
    this.url = url;
    this.mediaType = mediaType;
  }
}

export const unreadable = (mediaType: string | undefined): Problem =>
  problem('AssertionFailureError', { message: `This type of target cannot be read yet: ${mediaType || 'unknown'}` });

/** What the browser does not let out whatever the proxy would say. */
const OWN_REFUSALS = new Set(['ERR_UNSAFE_PORT', 'ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS']);

/** Chromium's network errors (net/base/net_error_list.h); the rest of its message would tell of the inside. */
export function navigationProblem(error: unknown, refused: boolean): Problem {
  const code = /net::(ERR_[A-Z_]+)/.exec(error instanceof Error ? error.message : '')?.[1];
  const failed = (message: string) => problem('AssertionFailureError', { message }, error);
  // A tunnel that the proxy refuses looks to the browser like one that failed.
  if ((refused && code === 'ERR_TUNNEL_CONNECTION_FAILED') || OWN_REFUSALS.has(code ?? '')) {
    return problem('SecurityCompromiseError', { path: 'url' }, error);
  }
  if (code === 'ERR_TOO_MANY_REDIRECTS') return failed('The page redirects too often');
  if (code?.startsWith('ERR_CERT')) return failed('The certificate of the page is not valid');
  return failed(code ? `The page could not be loaded (${code})` : 'The page could not be loaded');
}

export const withoutContent = (status: number): Problem =>
  problem('AssertionFailureError', {
    targetStatus: status,
    message: `The target answered ${status} without any content`,
  });
