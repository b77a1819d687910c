/**
 * Proves, when a remote browser is connected, that its pages use the egress proxy of this server. Its command line is
 * not ours, so what the command line decides is observed: whether the proxy is reached, whether requests to the
 * browser's own machine and to link-local addresses pass through it, WebSockets too, and whether WebRTC sends UDP past
 * it. The proxy answers all of them itself; no target is contacted.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import type { RemoteEgress } from '#net/proxy/egress-proxy.ts';
import { RemoteBrowserError } from './connect.ts';

const STEP_MS = 10_000;
/** Time limit of the WebRTC check. A browser takes a few ms for it. */
const WEBRTC_MS = 5_000;

const WEBRTC_FLAGS =
  '--webrtc-ip-handling-policy=disable_non_proxied_udp --force-webrtc-ip-handling-policy=disable_non_proxied_udp';

/** Throws RemoteBrowserError with the first thing that is not confined. */
export async function proveConfinement(browser: Browser, egress: Pick<RemoteEgress, 'url' | 'grant'>): Promise<void> {
  const username = `proof-${randomBytes(12).toString('hex')}`;
  const token = randomBytes(24).toString('hex');
  const seen = new Set<string>();
  const { password, revoke } = egress.grant(username, {
    answer: `<!doctype html><title>${token}</title>`,
    onRequest: ({ host, port }) => seen.add(`${host}:${port}`),
  });
  const proxy = { server: egress.url, username, password, bypass: '<-loopback>' };
  const context = await browser.newContext({ proxy }).catch((error: unknown) => {
    revoke();
    throw new RemoteBrowserError(`it opens no context: ${firstLine(error)}`);
  });
  try {
    const page = await context.newPage();
    const port = randomInt(20_000, 30_000);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254']) {
      await loadThroughProxy(page, { host: `${host}:${port}`, token, proxyUrl: egress.url });
    }
    const socketPort = port + 1;
    await page.evaluate(openWebSocket, `ws://127.0.0.1:${socketPort}/`);
    if (!seen.has(`127.0.0.1:${socketPort}`))
      throw new RemoteBrowserError('it does not send WebSockets to its own machine through the egress proxy');
    if (await page.evaluate(offersUdp, WEBRTC_MS))
      throw new RemoteBrowserError(`its WebRTC sends UDP past the egress proxy: start it with ${WEBRTC_FLAGS}`);
  } catch (error) {
    if (error instanceof RemoteBrowserError) throw error;
    throw new RemoteBrowserError(`the check of its confinement failed: ${firstLine(error)}`);
  } finally {
    revoke();
    await context.close().catch(() => {});
  }
}

interface ProofLoad {
  readonly host: string;
  readonly token: string;
  readonly proxyUrl: string;
}

async function loadThroughProxy(page: Page, { host, token, proxyUrl }: ProofLoad): Promise<void> {
  const failure = await page.goto(`http://${host}/`, { timeout: STEP_MS }).then(() => undefined, firstLine);
  if (failure !== undefined && /ERR_(?:PROXY|TUNNEL|TIMED_OUT)|Timeout/.test(failure))
    throw new RemoteBrowserError(
      `it cannot reach the egress proxy of this server at ${proxyUrl}: check LECTERN_EGRESS_PROXY_URL and the network`,
    );
  if (failure !== undefined || (await page.title()) !== token)
    throw new RemoteBrowserError(`it does not send requests for ${host} through the egress proxy`);
}

const firstLine = (error: unknown): string => (error as Error).message.split('\n', 1)[0]!.slice(0, 300);

/** Runs in the page. Resolves when the connection was refused, which the proxy does. */
function openWebSocket(url: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve();
    socket.onerror = () => resolve();
  });
}

/** The part of WebRTC that the check uses. */
declare class RTCPeerConnection {
  onicecandidate: (event: { readonly candidate: { readonly candidate: string } | null }) => void;
  createDataChannel(label: string): void;
  createOffer(): Promise<unknown>;
  setLocalDescription(description: unknown): Promise<void>;
  close(): void;
}

/** Runs in the page. Whether the browser offers a UDP port for WebRTC within a time; also true if it never answers. */
async function offersUdp(limitMs: number): Promise<boolean> {
  if (typeof RTCPeerConnection !== 'function') return false;
  const peer = new RTCPeerConnection();
  const outcome = new Promise<boolean>((resolve) => {
    peer.onicecandidate = ({ candidate }) => {
      if (!candidate) resolve(false);
      else if (candidate.candidate !== '') resolve(true);
    };
    setTimeout(() => resolve(true), limitMs);
  });
  peer.createDataChannel('proof');
  await peer.setLocalDescription(await peer.createOffer());
  const offers = await outcome;
  peer.close();
  return offers;
}
