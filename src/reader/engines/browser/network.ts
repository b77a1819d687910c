/** What a page asks of the network: how much of it is open, what the main document answered, and when it is too much. */
import type { Request, Response } from 'playwright-core';
import { type Problem, problem } from '#errors.ts';
import { invalidRedirect, tooManyRedirects } from '#net/fetch/redirect.ts';
import { REDIRECT_STATUSES } from '#net/fetch/response-head.ts';
import { EGRESS_HEADER } from '#net/proxy/egress-proxy.ts';
import { own } from '#own.ts';
import { mediaTypeOf } from '../media-type.ts';
import { forbidsCopies } from '../no-store.ts';
import { partNote } from '../notes.ts';
import { answerFault } from './answer-fault.ts';
import { type Abuse, createGate, createTally, type PageLimits } from './limits.ts';
import { frameOf, leadsPage, type RoutingConfig, routeRequests, STREAMS } from './routing.ts';
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
  /** Set when only a part of the target was sent. */
  readonly partNote?: string | undefined;
  readonly response: Response | undefined;
}

export interface NetworkConfig extends RoutingConfig {
  readonly limits: PageLimits;
  /** Something happened that may matter to the timing. */
  readonly changed: () => void;
  /** The page that is there wanted to go elsewhere, and did not. */
  readonly stays: () => void;
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
  /** The last request for a document of the main frame, each redirect of it included. */
  wanted(): Request | undefined;
  /** Why the main frame did not reach its document, or may not read it: the proxy's word, or the answer's own. */
  failure(): Problem | undefined;
  /** Resolves when it is known whether the answers so far may be read. */
  checked(): Promise<void>;
  /** The main frame was redirected more often than is followed. */
  redirectedTooOften(): void;
  /** The browser's error when a page that was there sent itself to one that cannot be loaded. */
  lost(): Error | undefined;
  /** Whether the document that is in the main frame broke off. */
  brokeOff(): boolean;
  /** Whether the proxy answered for the server of a document in a frame. */
  isRefused(url: string): boolean;
  /** Whether the page itself, not its frames, was given data that its scripts asked for. */
  loadedData(): boolean;
  /** The media type of a document that was loaded into a frame, as far as it was told. */
  framed(url: string): string | undefined;
}

/** Resource types by what they hold up: the page's making, its looks, or nothing. */
const MEDIA = new Set(['stylesheet', 'image', 'font', 'media']);

/** What may be a document in a frame, and how many of those are remembered. */
const FRAMED = new Set(['document', 'other', 'object']);
const MAX_FRAMED = 200;

/** What the proxy's own answers mean for the main document. */
const EGRESS_PROBLEMS: Record<string, (redirectStatus: number | undefined) => Problem> = {
  refused: () => problem('SecurityCompromiseError', { path: 'url' }),
  invalid: (redirectStatus) => invalidRedirect(redirectStatus),
  unknown: () => problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' }),
};

export async function watchNetwork(config: NetworkConfig): Promise<Network> {
  const { context, page, changed, stop } = config;
  const tally = createTally(config.limits);
  const gate = createGate(config.limits.maxParallel);
  const framed = new Map<string, string>();
  const refused = new Set<string>();
  const resources = counter();
  const media = counter();
  const all = counter();
  const open = new Map<Request, Counter[]>();
  let main: MainDocument | undefined;
  let answered: MainDocument | undefined;
  let wanted: Request | undefined;
  let redirectStatus: number | undefined;
  let failure: Problem | undefined;
  let lost: Error | undefined;
  let brokeOff = false;
  let committed = false;
  let checked = Promise.resolve();
  let loadedData = false;

  const isMainNavigation = (request: Request) => leadsPage(request, page);

  context.on('request', (request) => {
    const type = request.resourceType();
    // A redirect to what is no URL is told of as a request for it.
    if (isMainNavigation(request) && URL.canParse(request.url())) wanted = request;
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
    if (committed && isMainNavigation(request)) {
      if (reason === 'net::ERR_ABORTED') config.stays();
      else if (main && main.response?.request() === request) brokeOff = true;
      else lost = new Error(reason);
    }
    ended(request);
  });
  page.on('websocket', () => {
    loadedData = true;
    resources.touch();
    changed();
  });
  context.on('response', (response) => {
    loadedData ||=
      frameOf(response.request()) === page.mainFrame() && isData(response, isOfHost(response.url(), page.url()));
    const isByProxy = response.headers()[EGRESS_HEADER] !== undefined;
    if (isByProxy && refused.size < MAX_FRAMED) refused.add(response.url());
    if (!FRAMED.has(response.request().resourceType()) || framed.size >= MAX_FRAMED) return;
    framed.set(response.url(), mediaTypeOf(response.headers()['content-type']));
  });
  const found = (fault: Problem | undefined) => {
    if (!fault) return;
    failure ??= fault;
    changed();
  };
  const check = (response: Response) => {
    const fault = answerFault(response);
    if (fault instanceof Promise) checked = Promise.all([checked, fault.then(found)]).then(() => {});
    else found(fault);
  };
  page.on('response', (response) => {
    if (!isMainNavigation(response.request())) return;
    const headers = response.headers();
    const egress = headers[EGRESS_HEADER];
    if (egress !== undefined) {
      failure =
        own(EGRESS_PROBLEMS, egress)?.(redirectStatus) ??
        problem('AssertionFailureError', { message: 'The page could not be reached' });
      return changed();
    }
    const status = response.status();
    const isBrought = routing.isBrought(response.request());
    if (!isBrought) check(response);
    if (REDIRECT_STATUSES.has(status) && headers.location) {
      redirectStatus = status;
      return;
    }
    answered = {
      url: response.url(),
      status,
      statusText: response.statusText(),
      lastModified: headers['last-modified'],
      retryAfter: headers['retry-after'],
      noStore: forbidsCopies(headers['cache-control']),
      robotsTag: headers['x-robots-tag'],
      partNote: isBrought ? undefined : partNote(status, headers['content-range']),
      ...(isBrought && config.answer),
      mediaType: mediaTypeOf(headers['content-type']),
      response,
    };
    changed();
  });
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame()) return;
    committed = true;
    if (!answered || withoutFragment(frame.url()) !== withoutFragment(answered.url)) return;
    if (main !== answered) brokeOff = false;
    main = answered;
  });

  const routing = await routeRequests(config, { gate, isThere: () => committed });

  return {
    resources,
    media,
    all,
    main: () => main,
    answered: () => answered,
    wanted: () => wanted,
    failure: () => failure,
    checked: () => checked,
    redirectedTooOften() {
      if (!committed) failure ??= tooManyRedirects(redirectStatus);
      changed();
    },
    lost: () => lost,
    brokeOff: () => brokeOff,
    isRefused: (url) => refused.has(url),
    loadedData: () => loadedData,
    framed: (url) => framed.get(url),
  };
}

/** What scripts ask for data by; a script may be data as well, and what a counter is answered is none. */
const ASKS_FOR_DATA = new Set(['xhr', 'fetch', 'eventsource']);
const DATA_TYPE = /json|html|xml|javascript|event-stream|^text\/(?!plain)/;
const AS_SCRIPT = /[?&](?:callback|jsonp|cb)=/i;

/** `isOwn`: the host that the page came from was asked. */
function isData(response: Response, isOwn: boolean): boolean {
  const type = response.request().resourceType();
  if (type === 'script') return AS_SCRIPT.test(response.url());
  if (!ASKS_FOR_DATA.has(type) || response.status() === 204) return false;
  return isOwn || DATA_TYPE.test(mediaTypeOf(response.headers()['content-type']));
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

const isOfHost = (one: string, other: string): boolean =>
  URL.canParse(one) && URL.canParse(other) && new URL(one).host === new URL(other).host;

const withoutFragment = (url: string) => url.split('#', 1)[0];
