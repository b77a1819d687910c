/**
 * Decides how to handle each request of a page: continue, substitute, load without the proxy, or block. The egress
 * proxy checks IP addresses; this file covers what the proxy cannot check.
 */
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { MAX_REDIRECTS } from '#net/fetch/redirect.ts';
import { type Guard, portOf } from '#net/guard/guard.ts';
import type { Visit } from '../engine.ts';
import type { RequestGate } from './limits.ts';
import { loadBypassingProxy, mayBypass, type ProxyBypass } from './proxy-bypass.ts';
import type { ResourceList } from './resource-list.ts';

export interface RoutingConfig {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly guard: Guard;
  /** URL of the first navigation, and the HTML to use for it instead of a fetch. */
  readonly entry: string;
  readonly html: string | undefined;
  /**
   * Set if that HTML is the response that was just fetched from the URL. It is then used only for the first request.
   */
  readonly answer: Visit['fetchedResponse'];
  /** How to load images, fonts and styles if they bypass the proxy. */
  readonly proxyBypass: Omit<ProxyBypass, 'onRefused'> | undefined;
  /** Whether images and fonts are loaded. If not, images are replaced by a placeholder and fonts are blocked. */
  readonly pictures: boolean;
  /** Hosts whose resources are not loaded. */
  readonly resourceList: ResourceList | undefined;
  readonly signal: AbortSignal;
  /** Called for each request that continues. */
  readonly onRequest: (url: string) => void;
  /** Called when the page exceeded the maximum number of navigations; the current document remains. */
  readonly onNavigationLimit: () => void;
  /** Called for a refused host if the request never reached the egress proxy. */
  readonly onRefused: (host: string) => void;
  /** Called for each request that the operator's block list stops. */
  readonly onBlocked: () => void;
  /** Called for each request that `resourceList` stops. */
  readonly onUnwanted: () => void;
}

export interface RoutingState {
  readonly gate: RequestGate;
  /** Whether the main frame has a document. */
  readonly hasDocument: () => boolean;
}

export interface Routing {
  /** Whether a request was fulfilled with the supplied HTML. */
  isSupplied(request: Request): boolean;
}

/** Long-lived requests: their start counts as an event, but nothing waits for their end. */
export const STREAMS: ReadonlySet<string> = new Set(['eventsource', 'websocket', 'ping']);

/** Pages that set a cookie or run a challenge reload themselves once or twice. */
const MAX_RELOADS = 3;

/** One transparent pixel. Pages replace images that fail, so images are substituted rather than blocked. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export async function routeRequests(config: RoutingConfig, { gate, hasDocument }: RoutingState): Promise<Routing> {
  const {
    context,
    page,
    guard,
    html,
    entry,
    answer,
    pictures,
    proxyBypass,
    resourceList,
    signal,
    onRequest,
    onNavigationLimit,
    onRefused,
    onBlocked,
    onUnwanted,
  } = config;
  const supplied = new WeakSet<Request>();
  let wasSupplied = false;
  let navigations = 0;
  let reloads = 0;

  /** Whether the supplied HTML is the response to this URL. */
  const isSuppliedFor = (url: string) =>
    html !== undefined && withoutFragment(url) === withoutFragment(entry) && !(answer !== undefined && wasSupplied);

  /** Whether a page may navigate to a URL; otherwise its current document remains. */
  const mayNavigate = async (url: string): Promise<boolean> => {
    const target = new URL(url);
    if (guard.blocks(target)) {
      onBlocked();
      return false;
    }
    try {
      guard.checkUrl(target);
      await guard.resolve(target.hostname, portOf(target), signal);
      return true;
    } catch {
      onRefused(target.hostname);
      return false;
    }
  };

  const navigate = async (route: Route, request: Request) => {
    const url = request.url();
    if (isSuppliedFor(url)) {
      wasSupplied = true;
      supplied.add(request);
      // The status is always 200, because the browser rejects some statuses that servers send.
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body: html! });
    }
    if (!hasDocument()) return guard.blocks(new URL(url)) ? route.abort('blockedbyclient') : route.continue();
    const isReload = withoutFragment(url) === withoutFragment(page.url());
    if (isReload) reloads++;
    if (++navigations > MAX_REDIRECTS || reloads > MAX_RELOADS) {
      onNavigationLimit();
      return route.abort('aborted');
    }
    return (await mayNavigate(url)) ? route.continue() : route.abort('aborted');
  };

  const handle = async (route: Route, request: Request) => {
    const url = request.url();
    const type = request.resourceType();
    if (!/^https?:/i.test(url) || type === 'media') return route.abort('blockedbyclient');
    if (!pictures && type === 'image') return route.fulfill({ contentType: 'image/gif', body: PIXEL });
    if (!pictures && type === 'font') return route.abort('blockedbyclient');
    if (isMainNavigation(request, page)) return navigate(route, request);
    if (guard.blocks(new URL(url))) {
      onBlocked();
      return route.abort('blockedbyclient');
    }
    if (resourceList?.blocks(url, page.url())) {
      onUnwanted();
      return route.abort('blockedbyclient');
    }
    onRequest(url);
    if (!STREAMS.has(type)) await gate.enter(request);
    if (proxyBypass && mayBypass(request)) return loadBypassingProxy(route, request, { ...proxyBypass, onRefused });
    return route.continue();
  };

  await context.route('**/*', (route, request) => handle(route, request).catch(() => {}));
  return { isSupplied: (request) => supplied.has(request) };
}

/** Whether a request is for the document of the main frame. */
export const isMainNavigation = (request: Request, page: Page): boolean =>
  request.isNavigationRequest() && frameOf(request) === page.mainFrame();

/** The frame of a request; `undefined` if it is gone. */
export function frameOf(request: Request) {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
