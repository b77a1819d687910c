/**
 * Headers of the caller (option `customHeader`), on requests to the target's own site alone: its main document, what it
 * loads from there, and redirects as long as they stay. No other site sees them.
 */
import type { CDPSession } from 'playwright-core';
import type { WayOut } from './way-out.ts';

export interface HeadersConfig {
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: WayOut['credentials'];
}

/**
 * Through the DevTools protocol, past Playwright, which sends the headers of a request along wherever it is redirected.
 * Here each hop is looked at by itself.
 */
export async function addHeaders(session: CDPSession, { target, headers, credentials }: HeadersConfig): Promise<void> {
  if (!Object.keys(headers).length) return;
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    // The browser tells the address without a fragment, and may have been more generous than asked with the pattern.
    const own = isOwnSite(target, request.url) ? { headers: merged(request.headers, headers) } : {};
    session.send('Fetch.continueRequest', { requestId, ...own }).catch(() => {});
  });
  // Who intercepts requests is asked for their credentials too, in Playwright's place.
  const answered = new Set<string>();
  session.on('Fetch.authRequired', ({ requestId, authChallenge }) => {
    const isFirst = authChallenge.source === 'Proxy' && !answered.has(requestId);
    answered.add(requestId);
    const authChallengeResponse = isFirst
      ? { response: 'ProvideCredentials' as const, ...credentials }
      : { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  const patterns = originsOf(target).map((origin) => ({ urlPattern: `${escaped(origin)}/*` }));
  await session.send('Fetch.enable', { patterns, handleAuthRequests: true });
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
