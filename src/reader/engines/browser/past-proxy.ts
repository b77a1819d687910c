/**
 * Looks of a page that go past its proxy (option `proxyResources` unset): pictures, fonts and style sheets are fetched
 * by the guarded way out directly, so that a proxy of the operator carries only what a page is made by. They are fetched
 * without cookies and without our credentials: what knows the caller stays on the way that was asked for.
 */
import type { Request, Route } from 'playwright-core';
import { Problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';

const TYPES = new Set(['image', 'font', 'stylesheet']);
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Of the answer, what describes the body as it is handed on. */
const DROPPED = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'set-cookie', 'connection']);
const SENT = new Set(['accept', 'accept-language', 'origin', 'referer', 'user-agent']);

export const mayGoPast = (request: Request): boolean => TYPES.has(request.resourceType()) && request.method() === 'GET';

export interface PastProxy {
  readonly fetch: GuardedFetch;
  readonly acceptInvalidCertificates: boolean;
  readonly signal: AbortSignal;
  /** Told how many bytes were moved. */
  readonly moved: (bytes: number) => void;
  /** Told of a host that may not be reached. */
  readonly refused: (host: string) => void;
}

export async function loadPastProxy(
  route: Route,
  request: Request,
  { fetch, moved, refused, ...rest }: PastProxy,
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
    if (error instanceof Problem && error.name === 'SecurityCompromiseError') refused(new URL(request.url()).hostname);
    await route.abort('failed');
  }
}
