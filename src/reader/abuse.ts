/**
 * Hosts whose pages were stopped as abuse: callers without a key cannot read them for a while (contract, section 15), so
 * that a page which costs a browser much is not asked for again and again by anybody.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';

export interface Abuse {
  /** SecurityCompromiseError while the host of an address is refused; never for callers with a key. */
  check(url: string, keyed: boolean): void;
  /** Refuses the host of an address from now on. `reason` is shown to callers: a sentence without a full stop. */
  add(url: string, reason: string): void;
}

export interface AbuseOptions {
  /** How long a host is refused; 0 refuses none. */
  readonly refusalMs: number;
  readonly clock?: () => number;
}

const MAX_HOSTS = 10_000;

/** What is kept of an address: enough to know its host again, and no list of hosts. Undefined for what has none. */
function keyOf(url: string): string | undefined {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return hostname ? createHash('sha256').update(hostname).digest('base64') : undefined;
}

export function createAbuse({ refusalMs, clock = Date.now }: AbuseOptions): Abuse {
  const refused = new Map<string, { readonly until: number; readonly reason: string }>();
  return {
    check(url, keyed) {
      const key = keyed ? undefined : keyOf(url);
      const entry = key && refused.get(key);
      if (!entry) return;
      const leftMs = entry.until - clock();
      if (leftMs <= 0) {
        refused.delete(key);
        return;
      }
      throw problem('SecurityCompromiseError', {
        path: 'url',
        message: `This host cannot be read without a key until ${new Date(entry.until).toISOString()}: ${entry.reason}`,
        retryAfter: Math.ceil(leftMs / 1_000),
      });
    },
    add(url, reason) {
      const key = keyOf(url);
      if (!key || refusalMs <= 0) return;
      refused.delete(key);
      refused.set(key, { until: clock() + refusalMs, reason });
      if (refused.size > MAX_HOSTS) refused.delete(refused.keys().next().value!);
    },
  };
}
