/** Calls of a page to this server or its machine, which stop it (contract, section 15). */
import type { Guard } from '#net/guard/guard.ts';
import type { Visit } from '../engine.ts';
import { type Abuse, isThisMachine, localCall } from './limits.ts';

export interface CallsConfig {
  readonly guard: Guard;
  /** Whether a host name is one that this server answers to; the guard refuses those. */
  readonly isOwnHost?: ((hostname: string) => boolean) | undefined;
  /** Whether it is the page that calls: until there is one, it is its server that redirects, to a refused target. */
  readonly isPageThere: () => boolean;
  readonly stop: (abuse: Abuse) => void;
}

export interface Calls {
  /** To be told of each request before it goes: the browser may hold one back, so that it never comes to the proxy. */
  called(url: string): void;
  /** To be told of each host that was refused. Other addresses that are not public are refused and no more. */
  refused(host: string): void;
}

export function watchCalls({ guard, isOwnHost, isPageThere, stop }: CallsConfig): Calls {
  const isOwn = (host: string) => isThisMachine(host) || isOwnHost?.(host) === true;
  return {
    called(address) {
      const url = new URL(address);
      if (!isOwn(url.hostname)) return;
      try {
        guard.checkUrl(url);
      } catch {
        stop(localCall());
      }
    },
    refused(host) {
      if (isPageThere() && isOwn(host)) stop(localCall());
    },
  };
}

/**
 * Whether nothing that a caller brought along could have made the page do what it did. Otherwise anybody could have the
 * host of another refused.
 */
export function isOwnDoing({ html, answer, options }: Visit): boolean {
  const isBrought = html !== undefined && answer === undefined;
  const { injectPageScript, injectFrameScript, setCookies, customHeader, storageState, preloadUrl, proxyUrl } = options;
  return (
    !isBrought &&
    !injectPageScript.length &&
    !injectFrameScript.length &&
    !setCookies.length &&
    [customHeader, storageState, preloadUrl, proxyUrl].every((given) => given === undefined)
  );
}
