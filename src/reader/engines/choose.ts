/** Chooses the engine and proxy of a read (docs/reference/wire/reader.md, Engines). */
import { type Problem, problem } from '#errors.ts';
import { parseSetCookies, toJar } from '#net/fetch/cookies.ts';
import type { OptionName } from '../options/options.ts';
import type { Options } from '../options/resolve.ts';
import type { ReadRequest } from '../read.ts';
import type { Snapshot } from '../snapshot.ts';
import { type AutoParts, readAuto, withEngineReason, withEngineReasons } from './auto.ts';
import { ASKED_FOR, BROWSER_MS, type CaptureRequest, DIRECT_MS, visitOf } from './capture-request.ts';
import { readBehindConsentWall } from './consent-wall.ts';
import type { Engine, Visit } from './engine.ts';
import { captureGiven } from './given.ts';
import { createInspect } from './inspect.ts';
import { captureWithFallback } from './proxy-fallback.ts';
import { createRenderComparison } from './render-comparison.ts';

/** `browser` is absent if none is installed. */
export interface Engines extends Omit<AutoParts, 'learn'> {
  /** The remote rendering service; absent if not configured. */
  readonly remote?: Engine | undefined;
  /**
   * Picks a proxy of the operator for the `proxy` option; `undefined` for `auto` if there is none. Throws
   * AssertionFailureError with `path` set to `proxy` if no proxy matches.
   */
  readonly pickProxy?: ((wanted: string) => URL | undefined) | undefined;
}

/**
 * Returns the function that captures a target: it chooses the engine and falls back to others
 * (docs/reference/wire/reader.md, Engines).
 */
export function createCapture(parts: Engines) {
  const { direct, browser, remote, renderer, sites, abuse, pickProxy } = parts;
  const inspect = createInspect(renderer);
  const auto: AutoParts = { ...parts, compareRendered: sites && createRenderComparison(renderer, sites) };

  return async function* capture(asked: ReadRequest, folder: Visit['folder']): AsyncGenerator<Snapshot> {
    const { target, options, keyed } = asked;
    const required = options.needsBrowser;
    check(asked, required);
    const request: CaptureRequest = { ...asked, startedAt: performance.now(), folder, required };
    if (target.given) {
      for await (const snapshot of captureGiven(request, parts))
        yield asked.contentOnly ? snapshot : await inspect(snapshot, request.signal);
      return;
    }
    await abuse?.check(target.url, keyed);
    const wanted = wantedProxy(options, keyed);
    if (wanted === 'auto')
      yield* captureWithFallback(request, { capture: live, renderer, pickProxy: () => pickProxy?.('auto') });
    else yield* live({ ...request, proxy: wanted === 'none' ? undefined : pickProxy?.(wanted) });
  };

  /** Throws if the options require an engine that cannot serve them or is not available. */
  function check({ target, options: { engine } }: ReadRequest, required: readonly OptionName[]): void {
    if (engine === 'cf-browser-rendering') {
      if (!remote) throw noRemote();
      return;
    }
    if (engine === 'browser' && !browser) throw noBrowser(required[0] ?? 'engine');
    // Screenshots of files need no browser, and only the response shows whether the target is a file.
    const missing = target.given ? required[0] : required.find((name) => name !== 'respondWith');
    if (missing === undefined) return;
    if (engine === 'direct') throw needsOtherEngine(missing);
    if (!browser) throw noBrowser(missing);
  }

  async function* live(request: CaptureRequest): AsyncGenerator<Snapshot> {
    const isProxied = request.proxy !== undefined && request.options.engine !== 'cf-browser-rendering';
    const completed = (snapshot: Snapshot) => (isProxied ? { ...snapshot, proxied: true } : snapshot);
    let last: Snapshot | undefined;
    for await (const snapshot of byEngine(request)) {
      last = await inspect(snapshot, request.signal);
      yield completed(last);
    }
    const { options } = request;
    if (last?.blocked?.kind !== 'consent' || !browser || options.removeOverlay) return;
    if (options.engine !== 'auto' && options.engine !== 'browser') return;
    const jar = toJar(parseSetCookies(options.setCookies, request.target.url));
    const shown = await readBehindConsentWall({ ...visitOf(request, BROWSER_MS), jar }, browser, inspect);
    if (shown) yield completed(withEngineReason(shown, 'a consent wall covered the page'));
    else yield completed(last);
  }

  /** Reads a URL with the requested engine, or with the one that the options require. */
  function byEngine(request: CaptureRequest): AsyncGenerator<Snapshot> {
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
}

/** Callers without a key cannot use the operator's proxies; `proxyUrl` takes precedence. */
const wantedProxy = ({ proxy, proxyUrl }: Options, keyed: boolean): string =>
  keyed && proxyUrl === undefined ? proxy : 'none';

const isHtmlAlone = ({ formats, modelFormat }: Options) =>
  formats.size === 1 && formats.has('html') && modelFormat === undefined;

/** Yields files, whose screenshots need no browser; throws for pages and text. */
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
