/**
 * What becomes of each request of a page: let through, stood in for, loaded by another way, or refused. Addresses are
 * guarded by the egress proxy; here stands only what the proxy cannot tell.
 */
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { MAX_REDIRECTS } from '#net/fetch/redirect.ts';
import { type Guard, portOf } from '#net/guard/guard.ts';
import type { Visit } from '../engine.ts';
import type { Gate } from './limits.ts';
import { loadPastProxy, mayGoPast, type PastProxy } from './past-proxy.ts';

export interface RoutingConfig {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly guard: Guard;
  /** The address of the first navigation, and the HTML that stands for it when it is not to be fetched. */
  readonly entry: string;
  readonly html: string | undefined;
  /** Set when that HTML is what the address has just answered: then it stands for the first request alone. */
  readonly answer: Visit['answer'];
  /** How the looks of the page are loaded when its proxy is not for them. */
  readonly pastProxy: Omit<PastProxy, 'refused'> | undefined;
  /** Whether images and fonts are loaded, or stood in for. */
  readonly pictures: boolean;
  readonly signal: AbortSignal;
  /** Told of each request of the page that is let through. */
  readonly called: (url: string) => void;
  /** The page that is there has sent itself elsewhere as often as is followed, and stays from now on. */
  readonly sentOn: () => void;
  /** The page called a host that the guard refuses, by another way than the egress proxy. */
  readonly refused: (host: string) => void;
}

export interface RoutingState {
  readonly gate: Gate;
  /** Whether a document is in the main frame. */
  readonly isThere: () => boolean;
}

export interface Routing {
  /** Whether a request was answered with the HTML that was brought along. */
  isBrought(request: Request): boolean;
}

/** Open for as long as they are wanted: their start is an event, their being open is not a wait. */
export const STREAMS: ReadonlySet<string> = new Set(['eventsource', 'websocket', 'ping']);

/** A page that asks for a cookie, or for a script to be run, loads itself anew once or twice. */
const MAX_RELOADS = 3;

/** One transparent pixel: pages that hear an image fail put another in its place, so none fails. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export async function routeRequests(config: RoutingConfig, { gate, isThere }: RoutingState): Promise<Routing> {
  const { context, page, guard, html, entry, answer, pictures, pastProxy, signal, called, sentOn, refused } = config;
  const brought = new WeakSet<Request>();
  let wasBrought = false;
  let departures = 0;
  let reloads = 0;

  /** Whether the HTML that was brought along stands for what this would fetch. */
  const standsFor = (url: string) =>
    html !== undefined && withoutFragment(url) === withoutFragment(entry) && !(answer !== undefined && wasBrought);

  /** A page that sends itself to a refused address stays where it is. */
  const mayGo = async (url: string): Promise<boolean> => {
    const target = new URL(url);
    try {
      guard.checkUrl(target);
      await guard.resolve(target.hostname, portOf(target), signal);
      return true;
    } catch {
      refused(target.hostname);
      return false;
    }
  };

  const navigate = async (route: Route, request: Request) => {
    const url = request.url();
    if (standsFor(url)) {
      wasBrought = true;
      brought.add(request);
      // Always as a success: the browser would not take every status that servers send.
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body: html! });
    }
    if (!isThere()) return route.continue();
    const isReload = withoutFragment(url) === withoutFragment(page.url());
    if (isReload) reloads++;
    if (++departures > MAX_REDIRECTS || reloads > MAX_RELOADS) {
      sentOn();
      return route.abort('aborted');
    }
    return (await mayGo(url)) ? route.continue() : route.abort('aborted');
  };

  const handle = async (route: Route, request: Request) => {
    const url = request.url();
    const type = request.resourceType();
    if (!/^https?:/i.test(url) || type === 'media') return route.abort('blockedbyclient');
    if (!pictures && type === 'image') return route.fulfill({ contentType: 'image/gif', body: PIXEL });
    if (!pictures && type === 'font') return route.abort('blockedbyclient');
    if (leadsPage(request, page)) return navigate(route, request);
    called(url);
    if (!STREAMS.has(type)) await gate.enter(request);
    if (pastProxy && mayGoPast(request)) return loadPastProxy(route, request, { ...pastProxy, refused });
    return route.continue();
  };

  await context.route('**/*', (route, request) => handle(route, request).catch(() => {}));
  return { isBrought: (request) => brought.has(request) };
}

/** Whether a request is for the document of the main frame. */
export const leadsPage = (request: Request, page: Page): boolean =>
  request.isNavigationRequest() && frameOf(request) === page.mainFrame();

/** Requests of frames that are gone have none. */
export function frameOf(request: Request) {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
