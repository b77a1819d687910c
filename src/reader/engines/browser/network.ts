/** What a page asks of the network: how much of it is open, what the main document answered, and when it is too much. */
import type { Request, Response } from 'playwright-core';
import { type Problem, problem } from '#errors.ts';
import { EGRESS_HEADER } from '#net/egress.ts';
import { mediaTypeOf } from '../media-type.ts';
import { forbidsCopies } from '../no-store.ts';
import { type Abuse, createGate, createTally, type PageLimits } from './limits.ts';
import { leadsPage, type RoutingConfig, routeRequests, STREAMS } from './routing.ts';
import type { Traffic } from './timing.ts';

export interface MainDocument {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** Lower case, without parameters; empty when none was named. */
  readonly mediaType: string;
  readonly lastModified: string | undefined;
  readonly retryAfter?: string | undefined;
  /** As that of a snapshot. */
  readonly noStore?: boolean | undefined;
  readonly robotsTag?: string | undefined;
  readonly response: Response | undefined;
}

export interface NetworkConfig extends RoutingConfig {
  readonly limits: PageLimits;
  /** Something happened that may matter to the timing. */
  readonly changed: () => void;
  /** The page went over a limit. */
  readonly stop: (abuse: Abuse) => void;
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

/** What may be a document in a frame, and how many of those are remembered. */
const FRAMED = new Set(['document', 'other', 'object']);
const MAX_FRAMED = 200;

/** What the proxy's own answers mean for the main document. */
const EGRESS_PROBLEMS: Record<string, () => Problem> = {
  refused: () => problem('SecurityCompromiseError', { path: 'url' }),
  unknown: () => problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' }),
};

export async function watchNetwork(config: NetworkConfig): Promise<Network> {
  const { context, page, changed, stop } = config;
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

  const isMainNavigation = (request: Request) => leadsPage(request, page);

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
      lastModified: headers['last-modified'],
      retryAfter: headers['retry-after'],
      noStore: forbidsCopies(headers['cache-control']),
      robotsTag: headers['x-robots-tag'],
      ...(routing.isBrought(response.request()) && config.answer),
      mediaType: mediaTypeOf(headers['content-type']),
      response,
    };
    changed();
  });
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame()) return;
    committed = true;
    if (answered && withoutFragment(frame.url()) === withoutFragment(answered.url)) main = answered;
  });

  const routing = await routeRequests(config, { gate, isThere: () => committed });

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

const withoutFragment = (url: string) => url.split('#', 1)[0];
