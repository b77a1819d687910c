/** Watches the network of a page: open requests, the response of the main document, and the limits. */
import type { Request, Response } from 'playwright-core';
import { type Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { invalidRedirect, tooManyRedirects } from '#net/fetch/redirect.ts';
import { REDIRECT_STATUSES } from '#net/fetch/response-head.ts';
import { EGRESS_HEADER } from '#net/proxy/egress-header.ts';
import { ownValue } from '#own-value.ts';
import { type ResponseMarks, responseMarksOf } from '../../blocked/response-marks.ts';
import { mediaTypeOf } from '../media-type.ts';
import { forbidsCopies } from '../no-store.ts';
import { partialResponseWarning } from '../truncation-warnings.ts';
import { createRequestCounter, createRequestGate, type DetectedAbuse, type PageLimits } from './limits.ts';
import { createPageFacts } from './page-facts.ts';
import { responseFault } from './response-fault.ts';
import { isMainNavigation, type RoutingConfig, routeRequests } from './routing.ts';
import type { Traffic } from './timing.ts';
import { createTrafficCounters } from './traffic.ts';

export interface MainDocument {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** The media type in lower case, without parameters; empty if not declared. */
  readonly mediaType: string;
  readonly lastModified: string | undefined;
  readonly retryAfter?: string | undefined;
  /** The same value as in a snapshot. */
  readonly noStore?: boolean | undefined;
  readonly robotsTag?: string | undefined;
  readonly responseMarks?: ResponseMarks | undefined;
  /** Set if the response was partial. */
  readonly partialWarning?: string | undefined;
  readonly response: Response | undefined;
}

export interface NetworkConfig extends RoutingConfig {
  readonly limits: PageLimits;
  /** The clock of the page. */
  readonly now: () => number;
  /** Called when something happened that may affect the timing. */
  readonly changed: () => void;
  /** Called when the page tried to navigate but remains loaded. */
  readonly onStay: () => void;
  /** Called when the page exceeded a limit. */
  readonly stop: (abuse: DetectedAbuse) => void;
}

export interface Network {
  readonly resources: Traffic;
  readonly media: Traffic;
  readonly all: Traffic;
  /** Whether the page has opened an event stream or a socket. */
  hasStream(): boolean;
  /** The document in the main frame. */
  main(): MainDocument | undefined;
  /** The last response for the main frame, whether or not it became the frame's document. */
  answered(): MainDocument | undefined;
  /** The last request for a document of the main frame, including redirects. */
  wanted(): Request | undefined;
  /**
   * The reason why the main document could not be loaded or must not be read, as reported by the proxy or found in the
   * response.
   */
  failure(): Problem | undefined;
  /** Resolves when all checks of responses are complete. */
  checked(): Promise<void>;
  /** Call when the main frame exceeded the redirect limit. */
  redirectedTooOften(): void;
  /** The browser's error if the page navigated to a URL that cannot be loaded. */
  lost(): Error | undefined;
  /** Whether the document in the main frame is incomplete because the connection was aborted. */
  brokeOff(): boolean;
  /** Whether the proxy responded in place of the server of a frame's document. */
  isRefused(url: string): boolean;
  /** Whether scripts of the page itself, not its frames, loaded data. */
  loadedData(): boolean;
  /** The media type of a document loaded into a frame, if known. */
  frameType(url: string): string | undefined;
}

/** Problems for responses to the main document that come from the proxy itself. */
const EGRESS_PROBLEMS: Record<string, (redirectStatus: number | undefined) => Problem> = {
  refused: () => problem('SecurityCompromiseError', { path: 'url' }),
  invalid: (redirectStatus) => invalidRedirect(redirectStatus),
  unknown: () => problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' }),
};

export async function watchNetwork(config: NetworkConfig): Promise<Network> {
  const { context, page, changed, stop, now } = config;
  const countRequest = createRequestCounter(config.limits);
  const gate = createRequestGate(config.limits.maxParallel);
  const traffic = createTrafficCounters(now);
  const facts = createPageFacts(page);
  let main: MainDocument | undefined;
  let answered: MainDocument | undefined;
  let wanted: Request | undefined;
  let redirectStatus: number | undefined;
  let failure: Problem | undefined;
  let lost: Error | undefined;
  let brokeOff = false;
  let committed = false;
  let checked = Promise.resolve();

  const navigatesPage = (request: Request) => isMainNavigation(request, page);

  context.on('request', (request) => {
    // A redirect to an invalid URL is reported as a request for that URL.
    if (navigatesPage(request) && isUrl(request.url())) wanted = request;
    const abuse = countRequest(request);
    if (abuse) stop(abuse);
    traffic.begin(request);
    changed();
  });
  const ended = (request: Request) => {
    traffic.end(request);
    gate.leave(request);
    changed();
  };
  context.on('requestfinished', ended);
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // Downloads, interrupted navigations and navigations that Lectern blocks are reported as aborted: the current page
    // remains loaded.
    if (committed && navigatesPage(request)) {
      if (reason === 'net::ERR_ABORTED') config.onStay();
      else if (main && main.response?.request() === request) brokeOff = true;
      else lost = new Error(reason);
    }
    ended(request);
  });
  page.on('websocket', () => {
    facts.noteData();
    traffic.touch();
    changed();
  });
  context.on('response', facts.noteResponse);
  const fail = (fault: Problem | undefined) => {
    if (!fault) return;
    failure ??= fault;
    changed();
  };
  const check = (response: Response) => {
    const fault = responseFault(response);
    if (fault instanceof Promise) checked = Promise.all([checked, fault.then(fail)]).then(() => {});
    else fail(fault);
  };
  page.on('response', (response) => {
    if (!navigatesPage(response.request())) return;
    const headers = response.headers();
    const egress = headers[EGRESS_HEADER];
    if (egress !== undefined) {
      failure =
        ownValue(EGRESS_PROBLEMS, egress)?.(redirectStatus) ??
        problem('AssertionFailureError', { message: 'The page could not be reached' });
      return changed();
    }
    const status = response.status();
    const isSupplied = routing.isSupplied(response.request());
    if (!isSupplied) check(response);
    if (REDIRECT_STATUSES.has(status) && headers.location) {
      redirectStatus = status;
      return;
    }
    answered = describeDocument(response, isSupplied, config.answer);
    changed();
  });
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame()) return;
    committed = true;
    if (!answered || withoutFragment(frame.url()) !== withoutFragment(answered.url)) return;
    if (main !== answered) brokeOff = false;
    main = answered;
  });

  const routing = await routeRequests(config, { gate, hasDocument: () => committed });

  return {
    ...traffic.counts,
    hasStream: traffic.hasStream,
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
    isRefused: facts.isRefused,
    loadedData: facts.loadedData,
    frameType: facts.frameType,
  };
}

/** If `isSupplied`, the content was supplied with the visit, and `answer` describes the original response. */
function describeDocument(response: Response, isSupplied: boolean, answer: NetworkConfig['answer']): MainDocument {
  const headers = response.headers();
  const status = response.status();
  return {
    url: response.url(),
    status,
    statusText: response.statusText(),
    lastModified: headers['last-modified'],
    retryAfter: headers['retry-after'],
    noStore: forbidsCopies(headers['cache-control']),
    robotsTag: headers['x-robots-tag'],
    responseMarks: responseMarksOf(headers),
    partialWarning: isSupplied ? undefined : partialResponseWarning(status, headers['content-range']),
    ...(isSupplied && answer),
    mediaType: mediaTypeOf(headers['content-type']),
    response,
  };
}

const withoutFragment = (url: string) => url.split('#', 1)[0];
