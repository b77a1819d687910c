/**
 * Detects requests of a page to this server or its machine, which stop the page (docs/reference/wire/reader.md, Abuse limits).
 */
import type { Guard } from '#net/guard/guard.ts';
import type { Visit } from '../engine.ts';
import { type DetectedAbuse, isLoopbackHost, localRequestAbuse } from './limits.ts';

export interface LocalRequestsConfig {
  readonly guard: Guard;
  /** Whether a host name belongs to this server. The guard refuses such hosts. */
  readonly isOwnHost?: ((hostname: string) => boolean) | undefined;
  /**
   * Whether requests come from the page itself. Before the page has loaded, a refused request is a redirect by its
   * server.
   */
  readonly hasPageLoaded: () => boolean;
  readonly stop: (abuse: DetectedAbuse) => void;
}

export interface LocalRequestWatch {
  /**
   * Call for each request before it is sent, because the browser may block a request itself, so that it never reaches
   * the proxy.
   */
  onRequest(url: string): void;
  /** Call for each refused host. Other private IP addresses are refused without stopping the page. */
  onRefused(host: string): void;
}

export function watchLocalRequests({ guard, isOwnHost, hasPageLoaded, stop }: LocalRequestsConfig): LocalRequestWatch {
  const isOwn = (host: string) => isLoopbackHost(host) || isOwnHost?.(host) === true;
  return {
    onRequest(text) {
      const url = new URL(text);
      if (!isOwn(url.hostname) || guard.blocks(url)) return;
      try {
        guard.checkUrl(url);
      } catch {
        stop(localRequestAbuse());
      }
    },
    onRefused(host) {
      if (hasPageLoaded() && isOwn(host)) stop(localRequestAbuse());
    },
  };
}

/**
 * Whether the page acted on its own, without influence by the caller's input. Otherwise a caller could cause other
 * people's hosts to be refused.
 */
export function actedWithoutCallerInput({ html, fetchedResponse, options }: Visit): boolean {
  const isSubmitted = html !== undefined && fetchedResponse === undefined;
  const { injectPageScript, injectFrameScript, setCookies, customHeader, storageState, preloadUrl, proxyUrl } = options;
  return (
    !isSubmitted &&
    !injectPageScript.length &&
    !injectFrameScript.length &&
    !setCookies.length &&
    [customHeader, storageState, preloadUrl, proxyUrl].every((given) => given === undefined)
  );
}
