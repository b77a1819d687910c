/**
 * Whether what was kept of a URL may still be answered. The rules may have changed since it was read, and so may the
 * addresses of its name: the guard is asked again, as it is for a live read.
 */
import { Problem } from '#errors.ts';
import { type Guard, portOf } from './guard.ts';

/**
 * False when the guard refuses the URL now, by its spelling or by the addresses of its name. A name that is not there any
 * more, or that DNS does not tell in time, is not refused: copies are for when a page is away. Always true for URLs that
 * are not fetched, such as `blob:`. Throws the reason of the signal, and nothing else.
 */
export type MayServeCached = (url: string, signal?: AbortSignal) => Promise<boolean>;

/** An answer that is there already does not wait longer than this for DNS. */
const PATIENCE_MS = 2_000;

export const createMayServeCached =
  (guard: Pick<Guard, 'checkUrl' | 'resolve'>, patienceMs = PATIENCE_MS): MayServeCached =>
  async (text, signal) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return true;
    const given = AbortSignal.timeout(patienceMs);
    try {
      guard.checkUrl(url);
      await guard.resolve(url.hostname, portOf(url), signal ? AbortSignal.any([signal, given]) : given);
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      return !(error instanceof Problem && error.name === 'SecurityCompromiseError');
    }
  };
