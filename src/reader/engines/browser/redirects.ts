/**
 * Handles each hop of a redirect chain, through the DevTools protocol: Playwright reports only the first request, and
 * lets the browser follow its redirects.
 * - Documents, including those of frames, follow as many redirects as a fetch does.
 * - The caller's headers (the `customHeader` option) are sent only to the target's own site: with its main document,
 *   resources from that site, and redirects within it.
 */
import type { CDPSession } from 'playwright-core';
import { isUrl } from '#is-url.ts';
import { MAX_REDIRECTS } from '#net/fetch/redirect.ts';
import type { EgressSession } from './egress-session.ts';

export interface RedirectsConfig {
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: EgressSession['credentials'];
  /** Whether the first document is supplied instead of requested. */
  readonly isSupplied: boolean;
  /** Called when the document of the main frame exceeds the redirect limit. */
  readonly onTooManyRedirects: () => void;
}

export async function watchRedirects(session: CDPSession, config: RedirectsConfig): Promise<void> {
  const { target, headers, credentials, isSupplied, onTooManyRedirects } = config;
  const { frameTree } = await session.send('Page.getFrameTree');
  const redirects = new Map<string, number>();
  session.on('Fetch.requestPaused', ({ requestId, request, redirectedRequestId, frameId, resourceType }) => {
    const before = redirectedRequestId === undefined ? undefined : (redirects.get(redirectedRequestId) ?? 0);
    if (redirectedRequestId !== undefined) redirects.delete(redirectedRequestId);
    const count = before === undefined ? 0 : before + 1;
    redirects.set(requestId, count);
    if (count > MAX_REDIRECTS && resourceType === 'Document') {
      if (frameId === frameTree.frame.id) onTooManyRedirects();
      session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => {});
      return;
    }
    // The URL has no fragment, and the pattern may match more URLs than intended.
    const hasOwn = Object.keys(headers).length > 0 && isTargetSite(target, request.url);
    const own = hasOwn ? { headers: merged(request.headers, headers) } : {};
    session.send('Fetch.continueRequest', { requestId, ...own }).catch(() => {});
  });
  const own = Object.keys(headers).length ? originsOf(target) : [];
  const patterns = [
    { urlPattern: '*', resourceType: 'Document' as const },
    ...own.map((origin) => ({ urlPattern: `${escaped(origin)}/*` })),
  ];
  const enable = (some: { urlPattern: string }[]) =>
    session.send('Fetch.enable', { patterns: some, handleAuthRequests: true });
  // Code that intercepts requests must also answer their authentication challenges, in place of Playwright, and only
  // for requests that match a pattern. The browser remembers the credentials, so the first request must match.
  const answered = new Set<string>();
  session.on('Fetch.authRequired', ({ requestId, authChallenge }) => {
    const isFirst = authChallenge.source === 'Proxy' && !answered.has(requestId);
    if (isSupplied && isFirst && !answered.size) enable(patterns).catch(() => {});
    answered.add(requestId);
    const authChallengeResponse = isFirst
      ? { response: 'ProvideCredentials' as const, ...credentials }
      : { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  await enable(isSupplied ? [{ urlPattern: '*' }] : patterns);
}

/**
 * The origin and, for http without a port, the same host over https. The fetch uses the same rule to decide what counts
 * as one site.
 */
const originsOf = ({ origin, protocol, port, hostname }: URL): string[] =>
  protocol === 'http:' && !port ? [origin, `https://${hostname}`] : [origin];

const isTargetSite = (target: URL, address: string) =>
  isUrl(address) && originsOf(target).includes(new URL(address).origin);

const escaped = (text: string) => text.replace(/[*?\\]/g, '\\$&');

function merged(sent: Record<string, string>, added: Readonly<Record<string, string>>) {
  const kept = Object.entries(sent).filter(([name]) => added[name.toLowerCase()] === undefined);
  return [...kept, ...Object.entries(added)].map(([name, value]) => ({ name, value }));
}
