/** Chooses the engine and proxy of a read (docs/reference/wire/reader.md, Engines). */
import { Problem, problem } from '#errors.ts';
import { parseSetCookies, toJar } from '#net/fetch/cookies.ts';
import type { OptionName } from '../options/options.ts';
import type { Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import { findOmittedContent, isHtml, type Snapshot } from '../snapshot.ts';
import { type AutoParts, browserReason, isRefusal, readAuto, withEngineReason, withEngineReasons } from './auto.ts';
import type { Engine, Visit } from './engine.ts';
import { FRAMESET_SIGN, MIN_WORDS } from './evidence.ts';
import { createRenderComparison } from './render-comparison.ts';

/** Default timeouts (docs/reference/wire/reader.md, Timing). */
const BROWSER_MS = 15_000;
const DIRECT_MS = 30_000;

/** `browser` is absent if none is installed. */
export interface Engines extends Omit<AutoParts, 'learn'> {
  /** The remote rendering service; absent if not configured. */
  readonly remote?: Engine | undefined;
  /**
   * Picks a proxy of the operator for the option `proxy`; `undefined` for `auto` if there is none. Throws
   * AssertionFailureError with path `proxy` if no proxy matches.
   */
  readonly pickProxy?: ((wanted: string) => URL | undefined) | undefined;
}

/** A request with its start time and its proxy. */
interface Started extends ReadRequest {
  readonly startedAt: number;
  readonly folder: Visit['folder'];
  readonly required: readonly OptionName[];
  readonly proxy?: URL | undefined;
}

/**
 * Returns the function that captures a target: it chooses the engine and falls back to others
 * (docs/reference/wire/reader.md, Engines).
 */
export function createCapture(parts: Engines) {
  const { direct, browser, remote, renderer, sites, abuse, pickProxy } = parts;
  const auto: AutoParts = { ...parts, compareRendered: sites && createRenderComparison(renderer, sites) };

  return async function* capture(asked: ReadRequest, folder: Visit['folder']): AsyncGenerator<Snapshot> {
    const { target, options, keyed } = asked;
    const required = options.needsBrowser;
    check(asked, required);
    const request: Started = { ...asked, startedAt: performance.now(), folder, required };
    if (target.given) return yield* given(request);
    abuse?.check(target.url, keyed);
    const wanted = wantedProxy(options, keyed);
    if (wanted === 'auto') yield* withFallback(request);
    else yield* live({ ...request, proxy: wanted === 'none' ? undefined : pickProxy?.(wanted) });
  };

  /** Throws if the options need an engine that cannot serve them or is not available. */
  function check({ target, options: { engine } }: ReadRequest, required: readonly OptionName[]): void {
    if (engine === 'cf-browser-rendering') {
      if (!remote) throw noRemote();
      return;
    }
    if (engine === 'browser' && !browser) throw noBrowser(required[0] ?? 'engine');
    // Files are drawn without a browser, and only the response tells whether the target is a file.
    const missing = target.given ? required[0] : required.find((name) => name !== 'respondWith');
    if (missing === undefined) return;
    if (engine === 'direct') throw needsOtherEngine(missing);
    if (!browser) throw noBrowser(missing);
  }

  async function* given(request: Started): AsyncGenerator<Snapshot> {
    const { target, options, signal, required } = request;
    const snapshot: Snapshot = {
      url: target.url,
      status: 200,
      statusText: 'OK',
      mediaType: target.given!.mediaType,
      text: target.given!.text,
      settled: true,
      ...findOmittedContent(target.given!.text),
      notes: [],
      engine: 'given',
      engineReason: 'it came with the request',
    };
    if (!isHtml(snapshot)) return yield snapshot;
    const reason = await reasonToRender(snapshot, request);
    if (!reason || !browser) return yield snapshot;
    try {
      for await (const seen of browser.visit({ ...visitOf(request, BROWSER_MS), html: snapshot.text })) {
        yield withEngineReason({ ...seen, url: target.url }, reason);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (required.length > 0 || options.engine === 'browser' || isRefusal(error)) throw error;
      yield snapshot;
    }
  }

  /** Why submitted HTML is rendered: options require it, or it has almost no content without scripts. */
  async function reasonToRender({ text, url }: Snapshot, { options, signal, required }: Started) {
    if (options.engine === 'browser') return ASKED_FOR;
    if (required.length) return browserReason(required[0]!);
    if (options.prefersBrowser.length) return browserReason(options.prefersBrowser[0]!);
    if (!browser || options.engine === 'direct') return undefined;
    const { words, scripts, sign } = await renderer.probe(text, url, signal);
    if (sign === FRAMESET_SIGN) return sign;
    return scripts && words < MIN_WORDS ? 'too little content without scripts' : undefined;
  }

  async function* live(request: Started): AsyncGenerator<Snapshot> {
    const isProxied = request.proxy !== undefined && request.options.engine !== 'cf-browser-rendering';
    for await (const snapshot of byEngine(request)) yield isProxied ? { ...snapshot, proxied: true } : snapshot;
  }

  /** Reads a URL with the requested engine, or the one that fits. */
  function byEngine(request: Started): AsyncGenerator<Snapshot> {
    const { options, keyed, required, target } = request;
    const jar = toJar(parseSetCookies(options.setCookies, target.url));
    const visit = (standardMs: number) => ({ ...visitOf(request, standardMs), jar });
    if (options.engine === 'cf-browser-rendering') return withEngineReasons(remote!.visit(visit(DIRECT_MS)), ASKED_FOR);
    if (options.engine === 'direct') {
      const snapshots = withEngineReasons(direct.visit(visit(DIRECT_MS)), ASKED_FOR);
      return required.length ? filesAlone(snapshots, () => needsOtherEngine(required[0]!)) : snapshots;
    }
    if (options.engine === 'browser') return withEngineReasons(browser!.visit(visit(BROWSER_MS)), ASKED_FOR);
    if (!keyed && !required.length && isHtmlAlone(options)) {
      return withEngineReasons(direct.visit(visit(DIRECT_MS)), 'html without a key is not rendered');
    }
    const snapshots = readAuto({ direct: () => visit(DIRECT_MS), browser: () => visit(BROWSER_MS) }, required, auto);
    return required.length && !browser ? filesAlone(snapshots, () => noBrowser(required[0]!)) : snapshots;
  }

  /** Reads without a proxy; if that yields too little, reads again through one. */
  async function* withFallback(request: Started): AsyncGenerator<Snapshot> {
    let held: Snapshot | undefined;
    let failure: unknown;
    try {
      for await (const snapshot of live(request)) {
        if (held) yield held;
        held = snapshot;
      }
    } catch (error) {
      request.signal.throwIfAborted();
      if (!isFailedRead(error)) throw error;
      failure = error;
    }
    const isGood = failure === undefined && held !== undefined && !(await isPoor(held, request));
    const proxy = isGood ? undefined : pickProxy?.('auto');
    if (!proxy) {
      if (failure !== undefined) throw failure;
      if (held) yield held;
      return;
    }
    if (held) yield { ...held, settled: false };
    yield* retryThroughProxy({ ...request, proxy }, held, failure);
  }

  async function* retryThroughProxy(
    request: Started,
    held: Snapshot | undefined,
    failure: unknown,
  ): AsyncGenerator<Snapshot> {
    let last: Snapshot | undefined;
    try {
      for await (const snapshot of live(request)) {
        yield snapshot;
        last = snapshot;
      }
    } catch (error) {
      request.signal.throwIfAborted();
      if (!held) throw failure ?? error;
    }
    if (held && (!last || (await isPoor(last, request)))) yield held;
  }

  /** Whether a proxy may get more of a page (docs/reference/wire/reader.md, Engines). */
  async function isPoor(snapshot: Snapshot, { signal }: Started): Promise<boolean> {
    if (INDEPENDENT_STATUSES.has(snapshot.status)) return false;
    if (snapshot.status !== 200) return true;
    if (!isHtml(snapshot)) return false;
    const { tokens } = await renderer.probe(snapshot.text, snapshot.url, signal);
    return tokens < POOR_TOKENS;
  }
}

const ASKED_FOR = 'asked for';
/** Statuses that do not depend on the client, however short the page is. */
const INDEPENDENT_STATUSES: ReadonlySet<number> = new Set([201, 202, 404, 405]);
const POOR_TOKENS = 42;

/** The caller's timeout covers the whole read; otherwise each engine has its own. */
function visitOf(
  { target, options, signal, startedAt, keyed, folder, proxy, trace, checkRedirect }: Started,
  standardMs: number,
): Visit {
  const { timeoutMs } = options;
  const deadline = timeoutMs === undefined ? performance.now() + standardMs : startedAt + timeoutMs;
  return { url: target.url, options, signal, deadline, keyed, folder, proxy, trace, checkRedirect };
}

/** Callers without a key cannot use the operator's proxies; `proxyUrl` takes precedence. */
const wantedProxy = ({ proxy, proxyUrl }: Options, keyed: boolean): string =>
  keyed && proxyUrl === undefined ? proxy : 'none';

const isHtmlAlone = ({ formats, modelFormat }: Options) =>
  formats.size === 1 && formats.has('html') && modelFormat === undefined;

/** Failed to be read, as opposed to refused. */
const isFailedRead = (error: unknown) => error instanceof Problem && error.name === 'AssertionFailureError';

/** Yields files, which are drawn without a browser; throws for pages and text. */
async function* filesAlone(snapshots: AsyncIterable<Snapshot>, refusal: () => Problem): AsyncGenerator<Snapshot> {
  for await (const snapshot of snapshots) {
    if (!snapshot.file) throw refusal();
    yield snapshot;
  }
}

const needsOtherEngine = (path: OptionName) =>
  problem('ParamValidationError', { path, message: `${path} needs the browser, which engine direct does not use` });

const noBrowser = (path: string) =>
  problem('ParamValidationError', {
    path,
    message: `${path} needs a browser, and this server has none: install Chromium, or set LECTERN_BROWSER to its path`,
  });

const noRemote = () =>
  problem('ParamValidationError', {
    path: 'engine',
    message:
      'Engine cf-browser-rendering needs a rendering service: the operator sets LECTERN_CF_ACCOUNT and LECTERN_CF_TOKEN',
  });
