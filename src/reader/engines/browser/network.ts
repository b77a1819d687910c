/**
 * What a page asks of the network: which of it is let through, how much is open, what the main document answered, and
 * when it is too much. Addresses are guarded by the egress proxy; here stands only what the proxy cannot tell.
 */
import type { BrowserContext, Page, Request, Response, Route } from 'playwright-core';
import { type Problem, problem } from '#errors.ts';
import { EGRESS_HEADER } from '#net/egress.ts';
import { type Guard, portOf } from '#net/guard.ts';
import type { Visit } from '../engine.ts';
import { mediaTypeOf } from '../media-type.ts';
import { type Abuse, createGate, createTally, type PageLimits } from './limits.ts';
import { loadPastProxy, mayGoPast, type PastProxy } from './past-proxy.ts';
import type { Traffic } from './timing.ts';

export interface MainDocument {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Lower case, without parameters; empty when none was named. */
  readonly mediaType: string;
  readonly lastModified: string | undefined;
  readonly response: Response | undefined;
}

export interface NetworkConfig {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly guard: Guard;
  /** The address of the first navigation, and the HTML that stands for it when it is not to be fetched. */
  readonly entry: string;
  readonly html: string | undefined;
  /** Set when that HTML is what the address has just answered: then it stands for the first request alone. */
  readonly answer: Visit['answer'];
  readonly limits: PageLimits;
  /** How the looks of the page are loaded when its proxy is not for them. */
  readonly pastProxy: Omit<PastProxy, 'refused'> | undefined;
  /** Whether images and fonts are loaded, or stood in for. */
  readonly pictures: boolean;
  readonly signal: AbortSignal;
  /** Something happened that may matter to the timing. */
  readonly changed: () => void;
  /** The page went over a limit. */
  readonly stop: (abuse: Abuse) => void;
  /** Told of each request that is let through. */
  readonly called: (url: string) => void;
  /** The page called a host that the guard refuses, by another way than the egress proxy. */
  readonly refused: (host: string) => void;
}

export interface Network {
  readonly resources: Traffic;
  readonly media: Traffic;
  readonly all: Traffic;
  /** The document that is in the main frame. */
  main(): MainDocument | undefined;
  /** What was last answered for the main frame, whether it became its document or not. */
  answered(): MainDocument | undefined;
  /** Why the proxy did not let the main frame reach its document, if it did not. */
  failure(): Problem | undefined;
  /** The browser's error when a page that was there sent itself to one that cannot be loaded. */
  lost(): Error | undefined;
  /** The media type of a document that was loaded into a frame, as far as it was told. */
  framed(url: string): string | undefined;
}

/** Resource types by what they hold up: the page's making, its looks, or nothing. */
const MEDIA = new Set(['stylesheet', 'image', 'font', 'media']);
/** Open for as long as they are wanted: their start is an event, their being open is not a wait. */
const STREAMS = new Set(['eventsource', 'websocket', 'ping']);

/** What may be a document in a frame, and how many of those are remembered. */
const FRAMED = new Set(['document', 'other', 'object']);
const MAX_FRAMED = 200;

/** What the proxy's own answers mean for the main document. */
const EGRESS_PROBLEMS: Record<string, () => Problem> = {
  refused: () => problem('SecurityCompromiseError', { path: 'url' }),
  unknown: () => problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' }),
};

/** One transparent pixel: pages that hear an image fail put another in its place, so none fails. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export async function watchNetwork(config: NetworkConfig): Promise<Network> {
  const { context, page, guard, changed, stop } = config;
  const tally = createTally(config.limits);
  const gate = createGate(config.limits.maxParallel);
  const framed = new Map<string, string>();
  const resources = counter();
  const media = counter();
  const all = counter();
  const open = new Map<Request, Counter[]>();
  let main: MainDocument | undefined;
  let answered: MainDocument | undefined;
  let failure: Problem | undefined;
  let lost: Error | undefined;
  let committed = false;

  const isMainNavigation = (request: Request) => request.isNavigationRequest() && frameOf(request) === page.mainFrame();

  context.on('request', (request) => {
    const type = request.resourceType();
    const abuse = tally(request);
    if (abuse) stop(abuse);
    const counters = [all, ...(MEDIA.has(type) ? [media] : STREAMS.has(type) ? [] : [resources])];
    if (STREAMS.has(type)) for (const each of [all, resources]) each.touch();
    else {
      for (const each of counters) each.begin();
      open.set(request, counters);
    }
    changed();
  });
  const ended = (request: Request) => {
    for (const each of open.get(request) ?? []) each.end();
    open.delete(request);
    gate.leave(request);
    changed();
  };
  context.on('requestfinished', ended);
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // Aborted are downloads, what another navigation overtook, and what was refused here: the page stays.
    if (committed && isMainNavigation(request) && reason !== 'net::ERR_ABORTED') lost = new Error(reason);
    ended(request);
  });
  page.on('websocket', () => {
    resources.touch();
    changed();
  });
  context.on('response', (response) => {
    if (!FRAMED.has(response.request().resourceType()) || framed.size >= MAX_FRAMED) return;
    framed.set(response.url(), mediaTypeOf(response.headers()['content-type']));
  });
  page.on('response', (response) => {
    if (!isMainNavigation(response.request())) return;
    const headers = response.headers();
    const egress = headers[EGRESS_HEADER];
    if (egress !== undefined) {
      failure =
        EGRESS_PROBLEMS[egress]?.() ?? problem('AssertionFailureError', { message: 'The page could not be reached' });
      return changed();
    }
    const status = response.status();
    if (status >= 300 && status < 400 && headers.location !== undefined) return;
    answered = {
      url: response.url(),
      status,
      statusText: response.statusText(),
      mediaType: mediaTypeOf(headers['content-type']),
      lastModified: headers['last-modified'],
      response,
    };
    changed();
  });
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame()) return;
    committed = true;
    if (answered && withoutFragment(frame.url()) === withoutFragment(answered.url)) main = answered;
  });

  let served = false;
  /** Whether the HTML that was brought along stands for what this would fetch. */
  const isBrought = (url: string) =>
    config.html !== undefined &&
    withoutFragment(url) === withoutFragment(config.entry) &&
    !(config.answer !== undefined && served);
  /** A page that sends itself to a refused address stays where it is. */
  const mayGo = async (url: string): Promise<boolean> => {
    const target = new URL(url);
    try {
      guard.checkUrl(target);
      await guard.resolve(target.hostname, portOf(target), config.signal);
      return true;
    } catch {
      config.refused(target.hostname);
      return false;
    }
  };
  const navigate = async (route: Route, url: string) => {
    if (isBrought(url)) {
      served = true;
      return route.fulfill(broughtAnswer(config));
    }
    return committed && !(await mayGo(url)) ? route.abort('aborted') : route.continue();
  };

  const handle = async (route: Route, request: Request) => {
    const url = request.url();
    const type = request.resourceType();
    if (!/^https?:/i.test(url) || type === 'media') return route.abort('blockedbyclient');
    if (!config.pictures && type === 'image') return route.fulfill({ contentType: 'image/gif', body: PIXEL });
    if (!config.pictures && type === 'font') return route.abort('blockedbyclient');
    if (isMainNavigation(request)) return navigate(route, url);
    config.called(url);
    if (!STREAMS.has(type)) await gate.enter(request);
    if (config.pastProxy && mayGoPast(request))
      return loadPastProxy(route, request, { ...config.pastProxy, refused: config.refused });
    return route.continue();
  };
  await context.route('**/*', (route, request) => handle(route, request).catch(() => {}));

  return {
    resources,
    media,
    all,
    main: () => main,
    answered: () => answered,
    failure: () => failure,
    lost: () => lost,
    framed: (url) => framed.get(url),
  };
}

const broughtAnswer = ({ html, answer }: NetworkConfig) => ({
  status: answer?.status ?? 200,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    ...(answer?.lastModified !== undefined && { 'last-modified': answer.lastModified }),
  },
  body: html!,
});

interface Counter extends Traffic {
  begin(): void;
  end(): void;
  /** Something of this kind happened now. */
  touch(): void;
}

function counter(): Counter {
  const state = { open: 0, lastEndAt: performance.now() };
  return {
    get open() {
      return state.open;
    },
    get lastEndAt() {
      return state.lastEndAt;
    },
    begin() {
      state.open++;
    },
    end() {
      state.open--;
      state.lastEndAt = performance.now();
    },
    touch() {
      state.lastEndAt = performance.now();
    },
  };
}

/** Requests of frames that are gone have none. */
function frameOf(request: Request) {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
