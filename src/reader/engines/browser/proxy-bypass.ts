/**
 * Loads images, fonts and style sheets without the proxy (option `proxyResources` unset), so that a proxy of the
 * operator carries only the content of the page. They are fetched through the guarded fetch without cookies and
 * credentials, which are only sent through the proxy.
 */
import type { Request, Route } from 'playwright-core';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { isGuardRefusal } from '#net/guard/guard.ts';

const TYPES = new Set(['image', 'font', 'stylesheet']);
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Response headers that no longer match the body, or must not reach the browser. */
const DROPPED = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'set-cookie', 'connection']);
const SENT = new Set(['accept', 'accept-language', 'origin', 'referer', 'user-agent']);

export const mayBypass = (request: Request): boolean => TYPES.has(request.resourceType()) && request.method() === 'GET';

export interface ProxyBypass {
  readonly fetch: GuardedFetch;
  readonly acceptInvalidCertificates: boolean;
  readonly signal: AbortSignal;
  /** Called with the number of bytes transferred. */
  readonly moved: (bytes: number) => void;
  /** Called with a host that was refused. */
  readonly onRefused: (host: string) => void;
}

export async function loadBypassingProxy(
  route: Route,
  request: Request,
  { fetch, moved, onRefused, ...rest }: ProxyBypass,
): Promise<void> {
  try {
    const headers = Object.fromEntries(Object.entries(request.headers()).filter(([name]) => SENT.has(name)));
    const answer = await fetch(request.url(), { ...rest, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    const { bytes } = await answer.collect();
    moved(bytes.length);
    await route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !DROPPED.has(name))),
      body: Buffer.from(bytes),
    });
  } catch (error) {
    if (isGuardRefusal(error)) onRefused(new URL(request.url()).hostname);
    await route.abort('failed');
  }
}
