/**
 * Checks whether a cached copy of a URL may still be served. The rules or the host's IP addresses may have changed
 * since the copy was stored, so the guard checks the URL again.
 */
import { isUrl } from '#is-url.ts';
import { type Guard, isGuardRefusal, portOf } from './guard.ts';

/**
 * False if the guard refuses the URL or an IP address of its host. A host that no longer resolves is not refused,
 * because stale copies are intended for that case. True for URLs that are never fetched, such as `blob:`. Throws only
 * the signal's reason.
 */
export type CachedUrlCheck = (url: string, signal?: AbortSignal) => Promise<boolean>;

/** Maximum time to wait for DNS before a cached copy is served. */
const DNS_TIMEOUT_MS = 2_000;

export const createCachedUrlCheck =
  (guard: Pick<Guard, 'checkUrl' | 'resolve'>, timeoutMs = DNS_TIMEOUT_MS): CachedUrlCheck =>
  async (text, signal) => {
    const url = isUrl(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return true;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      guard.checkUrl(url);
      await guard.resolve(url.hostname, portOf(url), signal ? AbortSignal.any([signal, timeout]) : timeout);
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      return !isGuardRefusal(error);
    }
  };
