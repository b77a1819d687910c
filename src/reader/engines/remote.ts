/**
 * The `cf-browser-rendering` engine: Cloudflare Browser Rendering renders a URL to HTML through the REST endpoint
 * `content`. The service fetches pages from its own network. It does not report the URL after redirects, nor which
 * elements are visible.
 */
import { type Problem, problem } from '#errors.ts';
import { retryAfterSeconds } from '#http/retry-after.ts';
import { parseSetCookies, toBrowserCookies } from '#net/fetch/cookies.ts';
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import { type Guard, portOf } from '#net/guard/guard.ts';
import type { TrustedFetch, TrustedResponse } from '#net/trusted.ts';
import type { Options } from '../options/resolve.ts';
import { findOmittedContent, type Snapshot } from '../snapshot.ts';
import type { Engine, Visit } from './engine.ts';
import { acceptLanguage } from './language.ts';
import { identify } from './user-agent.ts';

export interface RemoteEngineOptions {
  /** Base URL of the API: `https://api.cloudflare.com/client/v4`. */
  readonly url: string;
  readonly account: string;
  readonly token: string;
  readonly fetch: TrustedFetch;
  readonly guard: Guard;
  /** The same as for the direct engine. */
  readonly userAgent?: string | undefined;
  readonly chromiumMajor?: number | undefined;
  readonly version?: string | undefined;
}

/** Maximum time that the service waits for a page. */
const MAX_WAIT_MS = 60_000;
/** Time reserved before the deadline for the round trip. */
const ROUND_TRIP_MS = 1_000;
const MAX_ANSWER_BYTES = 36 * 1024 * 1024;
const RETRY_AFTER_S = 10;

export function createRemoteEngine(options: RemoteEngineOptions): Engine {
  const address = `${options.url.replace(/\/+$/, '')}/accounts/${encodeURIComponent(options.account)}/browser-rendering/content`;
  return {
    name: 'cf-browser-rendering',
    async *visit(visit) {
      visit.signal.throwIfAborted();
      assertServed(visit);
      if (visit.html === undefined) await checkTarget(visit, options.guard);
      const leftMs = Math.max(visit.deadline - performance.now(), 1);
      const response = await options.fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(requestOf(visit, options, Math.max(leftMs - ROUND_TRIP_MS, 1))),
        signal: visit.signal,
        timeoutMs: leftMs,
        maxBytes: MAX_ANSWER_BYTES,
      });
      yield snapshotOf(visit, await resultOf(response));
    },
    // Does nothing: the owner of `fetch` closes it.
    async close() {},
  };
}

/** Options that the service does not support, each with a function that tests whether the option is set. */
const UNSUPPORTED: readonly [path: string, asks: (options: Options) => unknown][] = [
  ['respondWith', ({ formats }) => formats.has('screenshot') || formats.has('pageshot')],
  ['respondWith', ({ modelFormat }) => modelFormat !== undefined && modelFormat !== 'readerlm-v2'],
  ['injectPageScript', ({ injectPageScript }) => injectPageScript.length],
  ['injectFrameScript', ({ injectFrameScript }) => injectFrameScript.length],
  ['scroll', ({ scroll }) => scroll !== undefined],
  ['withIframe', ({ withIframe }) => withIframe],
  ['withShadowDom', ({ withShadowDom }) => withShadowDom],
  ['removeOverlay', ({ removeOverlay }) => removeOverlay],
  ['detachInvisibles', ({ detachInvisibles }) => detachInvisibles],
  ['exportStorageState', ({ exportStorageState }) => exportStorageState],
  ['storageState', ({ storageState }) => storageState],
  ['preloadUrl', ({ preloadUrl }) => preloadUrl],
  ['noServiceWorker', ({ noServiceWorker }) => noServiceWorker],
  ['skipCertVerification', ({ skipCertVerification }) => skipCertVerification],
  ['proxyUrl', ({ proxyUrl }) => proxyUrl],
  ['proxy', ({ proxy }) => proxy !== 'none' && proxy !== 'auto'],
  ['proxyResources', ({ proxyResources }) => proxyResources],
];

function assertServed({ options }: Visit): void {
  const found = UNSUPPORTED.find(([, asks]) => asks(options));
  if (!found) return;
  const message = `${found[0]} is not supported by engine cf-browser-rendering`;
  throw problem('ParamValidationError', { path: found[0], message });
}

/** Targets that the guard refuses are not read through the service either. */
async function checkTarget({ url, signal }: Visit, guard: Guard): Promise<void> {
  const target = new URL(url);
  guard.checkUrl(target);
  await guard.resolve(target.hostname, portOf(target), signal);
}

function requestOf(visit: Visit, engine: RemoteEngineOptions, waitMs: number): object {
  const { url, html, options } = visit;
  const { referer, viewport, setCookies } = options;
  const timeout = Math.min(Math.floor(waitMs), MAX_WAIT_MS);
  const { userAgent } = identify({
    userAgent: options.userAgent ?? engine.userAgent,
    host: new URL(url).hostname,
    chromiumMajor: engine.chromiumMajor,
    version: engine.version,
  });
  const cookies = html === undefined ? toBrowserCookies(parseSetCookies(setCookies, url)) : [];
  const { authenticate, headers } = headersOf(options);
  const selector = selectorToWaitFor(options);
  return {
    ...(html === undefined ? { url } : { html }),
    userAgent,
    gotoOptions: { waitUntil: waitUntilOf(options), timeout, ...(referer && { referer }) },
    // A partial page at the timeout is better than no page.
    bestAttempt: true,
    ...(selector && { waitForSelector: { selector, timeout } }),
    ...(viewport && { viewport }),
    ...(cookies.length > 0 && { cookies }),
    ...(authenticate && { authenticate }),
    setExtraHTTPHeaders: headers,
  };
}

type WaitUntil = 'domcontentloaded' | 'load' | 'networkidle0' | 'networkidle2';

const WAIT_UNTIL: Readonly<Record<Options['respondTiming'], WaitUntil>> = {
  html: 'domcontentloaded',
  'visible-content': 'domcontentloaded',
  'mutation-idle': 'load',
  'resource-idle': 'networkidle2',
  'media-idle': 'networkidle0',
  'network-idle': 'networkidle0',
};

const waitUntilOf = ({ respondTiming }: Options): WaitUntil => WAIT_UNTIL[respondTiming];

/** The service accepts only one selector, so several are combined into one that matches when all are present. */
function selectorToWaitFor({ waitForSelector, targetSelector }: Options): string | undefined {
  const wanted = waitForSelector.length > 0 ? waitForSelector : targetSelector;
  return wanted.length > 1 ? `html${wanted.map((selector) => `:has(${selector})`).join('')}` : wanted[0];
}

/** The service sends extra headers with every request of a page, so secrets must not be passed to it. */
function headersOf({ customHeader, locale }: Options) {
  const { authorization, cookie, ...others } = checkCustomHeaders(customHeader);
  const basic = /^basic\s+([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1];
  if (cookie !== undefined || (authorization !== undefined && !basic)) {
    throw problem('ParamValidationError', {
      path: 'customHeader',
      message:
        'Engine cf-browser-rendering would send this header to every site that the page requests: use setCookies, or Basic authorization',
    });
  }
  const [username = '', ...password] = Buffer.from(basic ?? '', 'base64')
    .toString('utf8')
    .split(':');
  return {
    authenticate: basic ? { username, password: password.join(':') } : undefined,
    headers: { 'accept-language': acceptLanguage(locale), ...others },
  };
}

interface Rendered {
  readonly html: string;
  /** Status of the page, if the service reports it. */
  readonly status: number;
}

interface Answer {
  readonly success?: unknown;
  readonly result?: unknown;
  readonly meta?: { readonly status?: unknown } | null;
  readonly errors?: readonly { readonly code?: unknown }[] | null;
}

/**
 * Returns the HTML in `{success, result, errors}`. The service's error texts are not repeated, because they may contain
 * the operator's data.
 */
async function resultOf(response: TrustedResponse): Promise<Rendered> {
  const { status } = response;
  if (status === 429) {
    response.discard();
    throw problem('ServiceNodeResourceDrainError', {
      message: 'The rendering service is at capacity; try again later',
      retryAfter: retryAfterSeconds(response.headers['retry-after'], RETRY_AFTER_S),
    });
  }
  if (status === 401 || status === 403) {
    response.discard();
    throw misconfigured('The rendering service refused the token of this server');
  }
  if (status >= 500) {
    response.discard();
    throw failure(`The rendering service failed with status ${status}`);
  }
  const answer = (await response.json()) as Answer | null;
  if (status === 200 && answer?.success === true && typeof answer.result === 'string') return rendered(answer);
  const code = answer?.errors?.[0]?.code;
  if (status === 404) throw misconfigured('The rendering service does not know the account (status 404)');
  const named = typeof code === 'number' ? `, error ${code}` : '';
  throw problem('AssertionFailureError', {
    message: `The rendering service could not render the page (status ${status}${named})`,
  });
}

function rendered({ result, meta }: Answer): Rendered {
  const status = Number(meta?.status);
  if (!/\S/.test(result as string)) {
    throw problem('AssertionFailureError', { message: 'The rendering service returned an empty page' });
  }
  return { html: result as string, status: Number.isInteger(status) && status >= 100 && status <= 599 ? status : 200 };
}

const failure = (message: string): Problem => problem('DownstreamServiceFailureError', { message });
/** Created if the operator must change the settings, because no page can be read through the service. */
const misconfigured = (message: string): Problem => problem('DownstreamServiceError', { message });

const snapshotOf = ({ url }: Visit, { html, status }: Rendered): Snapshot => ({
  url,
  status,
  statusText: '',
  mediaType: 'text/html',
  text: html,
  settled: true,
  ...findOmittedContent(html),
  notes: [],
  engine: 'cf-browser-rendering',
});
