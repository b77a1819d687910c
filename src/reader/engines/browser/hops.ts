/**
 * Each hop of a request by itself, through the DevTools protocol: Playwright hands on only the first, and lets the browser
 * follow its redirects.
 *
 * - Documents, those of frames too, are redirected no more often than a fetch is.
 * - Headers of the caller (option `customHeader`) go with requests to the target's own site alone: its main document, what
 *   it loads from there, and redirects as long as they stay. No other site sees them.
 */
import type { CDPSession } from 'playwright-core';
import { MAX_REDIRECTS } from '#net/fetch/redirect.ts';
import type { EgressSession } from './egress-session.ts';

export interface HopsConfig {
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: EgressSession['credentials'];
  /** Whether the first document comes from here, and is not asked for. */
  readonly isBrought: boolean;
  /** Told when the document of the main frame was redirected too often, and is not asked for again. */
  readonly tooOften: () => void;
}

export async function watchHops(session: CDPSession, config: HopsConfig): Promise<void> {
  const { target, headers, credentials, isBrought, tooOften } = config;
  const { frameTree } = await session.send('Page.getFrameTree');
  const redirects = new Map<string, number>();
  session.on('Fetch.requestPaused', ({ requestId, request, redirectedRequestId, frameId, resourceType }) => {
    const before = redirectedRequestId === undefined ? undefined : (redirects.get(redirectedRequestId) ?? 0);
    if (redirectedRequestId !== undefined) redirects.delete(redirectedRequestId);
    const count = before === undefined ? 0 : before + 1;
    redirects.set(requestId, count);
    if (count > MAX_REDIRECTS && resourceType === 'Document') {
      if (frameId === frameTree.frame.id) tooOften();
      session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => {});
      return;
    }
    // The browser tells the address without a fragment, and may have been more generous than asked with the pattern.
    const hasOwn = Object.keys(headers).length > 0 && isOwnSite(target, request.url);
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
  // Who intercepts requests is asked for their credentials too, in Playwright's place, and only for those that fit a
  // pattern. The browser remembers them for all others, so whatever comes first has to fit.
  const answered = new Set<string>();
  session.on('Fetch.authRequired', ({ requestId, authChallenge }) => {
    const isFirst = authChallenge.source === 'Proxy' && !answered.has(requestId);
    if (isBrought && isFirst && !answered.size) enable(patterns).catch(() => {});
    answered.add(requestId);
    const authChallengeResponse = isFirst
      ? { response: 'ProvideCredentials' as const, ...credentials }
      : { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  await enable(isBrought ? [{ urlPattern: '*' }] : patterns);
}

/** The origin, and the same host over https when it went without a port: what a fetch takes for the same site too. */
const originsOf = ({ origin, protocol, port, hostname }: URL): string[] =>
  protocol === 'http:' && !port ? [origin, `https://${hostname}`] : [origin];

const isOwnSite = (target: URL, address: string) =>
  URL.canParse(address) && originsOf(target).includes(new URL(address).origin);

const escaped = (text: string) => text.replace(/[*?\\]/g, '\\$&');

function merged(sent: Record<string, string>, added: Readonly<Record<string, string>>) {
  const kept = Object.entries(sent).filter(([name]) => added[name.toLowerCase()] === undefined);
  return [...kept, ...Object.entries(added)].map(([name, value]) => ({ name, value }));
}
