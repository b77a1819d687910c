/**
 * One visit of one page: from opening a context to closing it. Everything that can happen to a page (it changes, falls
 * silent, hangs, crashes, is refused, runs out of time) becomes a reason to look again at what to do.
 */
import { randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import { TimeUp, within } from '#concurrency/deadline.ts';
import { Problem, problem } from '#errors.ts';
import { decodeText } from '#html/decode.ts';
import { parseSetCookies, toBrowserCookies } from '#net/cookies.ts';
import { type Guard, portOf } from '#net/guard.ts';
import type { Options } from '../../options/resolve.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { Visit } from '../engine.ts';
import { type Identity, identify } from '../user-agent.ts';
import { overrideHints } from './hints.ts';
import { gatherScripts, installScripts, scriptsSettled } from './inject.ts';
import { type MainDocument, type Network, watchNetwork } from './network.ts';
import { removeOverlays } from './overlay.ts';
import type { Lease } from './pool.ts';
import type { RefusalLog, Refused } from './refusals.ts';
import { overrideScale, takeShots } from './shots.ts';
import { type TakenDocument, takeDocument } from './snapshot.ts';
import { captureDue, type Demands, type PageState, readyAt } from './timing.ts';
import { type Tidings, trackDocument } from './tracker.ts';
import { openWorld, type World } from './world.ts';

export interface VisitTools {
  readonly guard: Guard;
  /** The text of a script that the caller named by its address. */
  readonly fetchScript: (url: string, signal: AbortSignal) => Promise<string>;
  /** Whether main content is there already, for the timing `visible-content`. */
  readonly hasContent: (html: string) => boolean | Promise<boolean>;
  readonly refusals: RefusalLog;
  readonly userAgent?: string | undefined;
  readonly version?: string | undefined;
}

/** Submitted HTML without an address of its own still needs an origin: one that can never be anybody's. */
const NO_ADDRESS = 'https://document.invalid/';
/** How long a capture may take while the page is watched. */
const CAPTURE_MS = 3_000;
/** A page that is not interactive yet is looked at now and then all the same: it may never be. */
const LOOK_EVERY_MS = 1_500;
/** The last capture begins before the answer is due, by a tenth of the time that there is, within these bounds. */
const RESERVE_MS = { least: 500, most: 1_500 };
/** What a page that hangs is given after its scripts were stopped. */
const AFTER_HALT_MS = 1_000;
const CLOSE_MS = 2_000;
const SHOTS_MS = 10_000;
const SHOTS_LEAST_MS = 1_500;
const SELECTOR_POLL_MS = 100;
const MAX_TEXT_BYTES = 32 * 1024 * 1024;

export async function* visitPage(visit: Visit, lease: Lease, tools: VisitTools): AsyncGenerator<Snapshot> {
  const { options, signal } = visit;
  const host = URL.canParse(visit.url) ? new URL(visit.url).hostname : '';
  const scripts = {
    page: await gatherScripts(options.injectPageScript, tools.fetchScript, signal),
    frame: await gatherScripts(options.injectFrameScript, tools.fetchScript, signal),
  };
  const identity = identify({
    userAgent: options.userAgent ?? tools.userAgent,
    host,
    chromiumMajor: lease.chromiumMajor,
    version: tools.version,
  });
  const name = `visit-${randomUUID()}`;
  const { url: server, password } = lease.egress;
  const context = await lease.browser.newContext({
    ...contextOptions(options, identity.userAgent),
    // A name of its own, so that the proxy can tell whose request it refused. Loopback goes through it too.
    proxy: { server, username: name, password, bypass: '<-loopback>' },
  });
  const refused = tools.refusals.watch(name);
  const stop = () => void closeContext(context);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    if (options.setCookies.length)
      await context.addCookies(toBrowserCookies(parseSetCookies(options.setCookies, visit.url)));
    const page = await context.newPage();
    yield* new PageVisit(visit, tools, context, page, refused).run(scripts, identity);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Problem
      ? error
      : problem('AssertionFailureError', { message: 'The page could not be read' }, error);
  } finally {
    signal.removeEventListener('abort', stop);
    refused.stop();
    await closeContext(context);
  }
}

/** A page that hangs may not answer even to this; the browser ends it all the same. */
const closeContext = (context: BrowserContext) => within(CLOSE_MS, context.close()).catch(() => {});

function contextOptions(options: Options, userAgent: string) {
  const { width = 1_280, height = 1_280, deviceScaleFactor, isMobile, isLandscape, hasTouch } = options.viewport ?? {};
  const turned = isLandscape === true && height > width;
  return {
    userAgent,
    viewport: turned ? { width: height, height: width } : { width, height },
    ...(deviceScaleFactor !== undefined && { deviceScaleFactor }),
    ...(isMobile !== undefined && { isMobile }),
    ...(hasTouch !== undefined && { hasTouch }),
    ...(options.locale !== undefined && { locale: options.locale }),
    ignoreHTTPSErrors: options.skipCertVerification === true,
    serviceWorkers: 'block' as const,
    acceptDownloads: false,
  };
}

/** Pictures, and timings that wait for media, need what is shown; all else only needs the document. */
const needsPictures = ({ formats, respondTiming }: Options) =>
  formats.has('screenshot') ||
  formats.has('pageshot') ||
  respondTiming === 'media-idle' ||
  respondTiming === 'network-idle';

class PageVisit {
  readonly #visit: Visit;
  readonly #tools: VisitTools;
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly #options: Options;
  readonly #refused: Refused;
  readonly #selectors: readonly string[];
  readonly #demands: Demands;
  readonly #notes: string[] = [];
  #network!: Network;
  #world!: World;
  #wake: (() => void) | undefined;
  #stopped: Problem | undefined;
  #gone = false;
  #navigationFailed: unknown;
  #download = false;
  #interactiveAt: number | undefined;
  #loadedAt: number | undefined;
  #idle = false;
  #idleSeen = false;
  #elements = 0;
  #moments = 0;
  #started = false;
  #hasTitle = false;
  /** The snapshot that was last held against `visible-content`. */
  #judged: Snapshot | undefined;
  #scriptsDone = true;
  #lookedAt = performance.now();
  readonly #startedAt = performance.now();
  readonly #reserveMs: number;

  constructor(visit: Visit, tools: VisitTools, context: BrowserContext, page: Page, refused: Refused) {
    this.#refused = refused;
    this.#visit = visit;
    this.#tools = tools;
    this.#context = context;
    this.#page = page;
    this.#options = visit.options;
    const tenth = (visit.deadline - this.#startedAt) / 10;
    this.#reserveMs = Math.min(Math.max(tenth, RESERVE_MS.least), RESERVE_MS.most);
    const { waitForSelector, targetSelector } = visit.options;
    this.#selectors = waitForSelector.length ? waitForSelector : targetSelector;
    this.#demands = {
      timing: visit.options.respondTiming,
      hasScripts: visit.options.injectPageScript.length + visit.options.injectFrameScript.length > 0,
      waitsForSelector: this.#selectors.length > 0,
    };
  }

  async *run(scripts: { page: string[]; frame: string[] }, identity: Identity): AsyncGenerator<Snapshot> {
    const { url, html, signal, deadline } = this.#visit;
    const entry = /^https?:/i.test(url) ? url : NO_ADDRESS;
    this.#listen();
    this.#network = await watchNetwork({
      context: this.#context,
      page: this.#page,
      guard: this.#tools.guard,
      entry,
      html,
      pictures: needsPictures(this.#options),
      signal,
      changed: () => this.#changed(),
      stop: (reason) => {
        this.#stopped ??= reason;
        this.#changed();
      },
    });
    this.#world = await openWorld(this.#page);
    await overrideScale(this.#world.session, this.#options);
    await overrideHints(this.#world.session, identity, this.#options.locale);
    await this.#world.atEachDocument(trackDocument, (message) => this.#heard(message));
    await installScripts(this.#page, scripts);
    if (html === undefined) {
      const target = new URL(entry);
      this.#tools.guard.checkUrl(target);
      await this.#tools.guard.resolve(target.hostname, portOf(target), signal);
    }
    const { referer } = this.#options;
    const timeout = Math.max(deadline - performance.now(), 1);
    this.#page
      .goto(entry, { waitUntil: 'commit', timeout, ...(referer !== undefined && { referer }) })
      .catch((error) => {
        // The page that interrupts is the one to read.
        if (String(error).includes('interrupted by another navigation')) return;
        this.#navigationFailed = error;
        this.#changed();
      });
    yield* this.#watch();
  }

  #listen(): void {
    const page = this.#page;
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    page.on('download', () => {
      this.#download = true;
      this.#changed();
    });
    this.#context.on('page', (other) => {
      if (other !== page) void other.close().catch(() => {});
    });
    const gone = () => {
      this.#gone = true;
      this.#changed();
    };
    page.on('crash', gone);
    page.on('close', gone);
    this.#visit.signal.addEventListener('abort', () => this.#changed(), { once: true });
  }

  #changed(): void {
    this.#wake?.();
  }

  #heard(message: string): void {
    const [kind, elements] = JSON.parse(message) as Tidings;
    this.#elements = elements;
    const now = performance.now();
    if (kind === 'start') {
      // The first document of a new page is the empty one that the navigation starts from.
      this.#started = true;
      this.#interactiveAt = this.#loadedAt = undefined;
      this.#idle = this.#idleSeen = false;
      this.#scriptsDone = !this.#demands.hasScripts;
    } else if (kind === 'interactive') {
      this.#interactiveAt = now;
      this.#moments++;
      this.#awaitScripts();
    } else if (kind === 'load') {
      this.#loadedAt = now;
      this.#moments++;
    } else if (kind === 'idle') {
      this.#idle = this.#idleSeen = true;
      this.#moments++;
    } else this.#idle = false;
    this.#changed();
  }

  #awaitScripts(): void {
    if (this.#scriptsDone) return;
    scriptsSettled(this.#world.session)
      .catch(() => {})
      .then(() => {
        this.#scriptsDone = true;
        this.#changed();
      });
  }

  /** Whether the document came to rest and nothing that makes it is on its way. */
  #isAtRest(): boolean {
    return this.#idleSeen && this.#network.resources.open === 0;
  }

  #state(): PageState {
    return {
      interactiveAt: this.#interactiveAt,
      loadedAt: this.#loadedAt,
      mutationIdle: this.#idle,
      mutationIdleSeen: this.#idleSeen,
      elements: this.#elements,
      hasTitle: this.#hasTitle,
      resources: this.#network.resources,
      media: this.#network.media,
      network: this.#network.all,
    };
  }

  /** When watching ends, so that what follows is done when the answer is due. */
  get #lastLookAt(): number {
    return this.#visit.deadline - this.#reserveMs;
  }

  async *#watch(): AsyncGenerator<Snapshot> {
    const { signal } = this.#visit;
    const deadline = this.#lastLookAt;
    let last: { snapshot: Snapshot; at: number; elements: number } | undefined;
    let seenMoments = 0;
    for (;;) {
      signal.throwIfAborted();
      if (this.#stopped) throw this.#stopped;
      if (this.#gone) break;
      const failed = this.#failure();
      if (failed && !last) throw failed;
      const now = performance.now();
      if (now >= deadline) break;

      const document = this.#foreign();
      if (document) {
        yield await this.#foreignSnapshot(document);
        return;
      }
      const ready = await this.#isReady(now, last?.snapshot);
      if (ready) {
        const final = await this.#capture(CAPTURE_MS, true);
        if (final) {
          yield final.snapshot;
          return;
        }
        if (last) break;
      } else if (this.#moments > seenMoments || this.#isOverdue(now, last)) {
        seenMoments = this.#moments;
        this.#lookedAt = now;
        if (captureDue(now, this.#elements, last)) {
          const taken = await this.#capture(Math.min(CAPTURE_MS, deadline - now), false);
          if (taken) {
            last = { snapshot: taken.snapshot, at: performance.now(), elements: taken.elements };
            yield taken.snapshot;
            continue;
          }
          last &&= { ...last, at: performance.now() };
        }
      }
      await this.#wait(now, this.#nextLookAt(last));
    }
    yield await this.#atTheEnd(last?.snapshot);
  }

  /** Time is up, or the page is gone: one more look if it can be had, else what was captured before. */
  async #atTheEnd(last: Snapshot | undefined): Promise<Snapshot> {
    const final = this.#gone ? undefined : await this.#capture(this.#reserveMs, true);
    if (this.#stopped) throw this.#stopped;
    this.#visit.signal.throwIfAborted();
    if (final) return { ...final.snapshot, settled: false };
    if (last) return { ...last, settled: false, notes: [...this.#notes] };
    throw (
      this.#failure() ??
      problem('AssertionFailureError', { message: this.#gone ? 'The page crashed' : 'The page did not answer in time' })
    );
  }

  #failure(): Problem | undefined {
    const unreached = this.#network.failure();
    if (unreached) return unreached;
    const main = this.#network.main();
    if (this.#download) return unreadable(main?.mediaType);
    if (!this.#navigationFailed) return undefined;
    if (main && !isReadable(main.mediaType)) return unreadable(main.mediaType);
    return navigationProblem(this.#navigationFailed, this.#refused.hosts().size > 0);
  }

  /** The main document when it is one that the browser shows but that is no page. */
  #foreign(): MainDocument | undefined {
    const main = this.#network.main();
    if (!main || !this.#started || this.#visit.html !== undefined) return undefined;
    return isPage(main.mediaType) ? undefined : main;
  }

  async #foreignSnapshot(main: MainDocument): Promise<Snapshot> {
    if (!isReadable(main.mediaType)) throw unreadable(main.mediaType);
    const length = Number(main.response?.headers()['content-length'] ?? 0);
    if (length > MAX_TEXT_BYTES)
      throw problem('AssertionFailureError', { message: 'The target is too large to be read as text' });
    const limit = Math.max(this.#visit.deadline - performance.now(), 1);
    const bytes = await within(limit, main.response!.body());
    return {
      ...this.#facts(main.url, main),
      text: decodeText(bytes, main.response!.headers()['content-type']).text,
      settled: true,
      hiddenFrames: false,
      hiddenShadow: false,
    };
  }

  #facts(url: string, main: MainDocument | undefined) {
    const given = this.#visit.html !== undefined;
    return {
      url: given && !/^https?:/i.test(this.#visit.url) ? this.#visit.url : url,
      status: given ? 200 : (main?.status ?? 200),
      statusText: given ? 'OK' : (main?.statusText ?? ''),
      mediaType: given ? 'text/html' : main?.mediaType || 'text/html',
      lastModified: given ? undefined : main?.lastModified,
      notes: [...this.#notes],
      engine: 'browser' as const,
    };
  }

  async #isReady(now: number, last: Snapshot | undefined): Promise<boolean> {
    if (!this.#started || this.#interactiveAt === undefined) return false;
    if (this.#demands.waitsForSelector) return this.#selectorsPresent();
    if (!this.#scriptsDone) return false;
    if (last && last !== this.#judged && this.#demands.timing === 'visible-content' && !this.#demands.hasScripts) {
      this.#judged = last;
      if (this.#hasTitle && (await this.#tools.hasContent(last.text))) return true;
    }
    return readyAt(this.#state(), this.#demands) <= now;
  }

  #isOverdue(now: number, last: { at: number } | undefined): boolean {
    return this.#interactiveAt === undefined && now >= this.#nextLookAt(last);
  }

  #nextLookAt(last: { at: number } | undefined): number {
    if (!this.#started || this.#interactiveAt !== undefined) return Number.POSITIVE_INFINITY;
    return Math.max(last?.at ?? 0, this.#lookedAt) + LOOK_EVERY_MS;
  }

  async #selectorsPresent(): Promise<boolean> {
    const limitMs = Math.max(Math.min(CAPTURE_MS, this.#lastLookAt - performance.now()), 1);
    return this.#world.call(allPresent, [...this.#selectors], limitMs).catch(() => false);
  }

  async #wait(now: number, lookAt: number): Promise<void> {
    const ready = readyAt(this.#state(), this.#demands);
    const poll = this.#demands.waitsForSelector ? now + SELECTOR_POLL_MS : Number.POSITIVE_INFINITY;
    const soon = ready > now ? ready : Number.POSITIVE_INFINITY;
    const until = Math.min(this.#lastLookAt, soon, poll, lookAt);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, Math.max(until - performance.now(), 1));
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  async #capture(limitMs: number, final: boolean): Promise<{ snapshot: Snapshot; elements: number } | undefined> {
    const { removeOverlay, formats, viewport } = this.#options;
    let taken: TakenDocument;
    try {
      if (removeOverlay) await this.#world.call(removeOverlays, undefined, limitMs);
      taken = await this.#take(limitMs);
    } catch (error) {
      if (!(error instanceof TimeUp) || this.#gone || !final) return undefined;
      const halted = await this.#takeHalted();
      if (!halted) return undefined;
      taken = halted;
    }
    const { captured, html } = taken;
    if (!/^https?:/i.test(captured.url)) return undefined;
    this.#elements = captured.elements;
    this.#hasTitle = captured.title.trim() !== '';
    const shots = final
      ? await takeShots(
          this.#world.session,
          {
            screenshot: formats.has('screenshot'),
            pageshot: formats.has('pageshot'),
            deviceScaleFactor: viewport?.deviceScaleFactor ?? 1,
          },
          Math.min(SHOTS_MS, Math.max(this.#visit.deadline - performance.now(), SHOTS_LEAST_MS)),
        )
      : {};
    const { hiddenFrames, hiddenShadow, elements, url } = captured;
    const address = this.#visit.html === undefined || /^https?:/i.test(this.#visit.url) ? url : this.#visit.url;
    const snapshot = {
      ...this.#facts(address, this.#network.main()),
      text: html,
      ...shots,
      settled: final && this.#isAtRest(),
      hiddenFrames,
      hiddenShadow,
    };
    return { snapshot, elements };
  }

  #take(limitMs: number): Promise<TakenDocument> {
    const { withShadowDom, withIframe, detachInvisibles } = this.#options;
    return takeDocument(this.#world, { withShadowDom, withIframe, detachInvisibles }, limitMs);
  }

  /** A page whose scripts do not end is stopped and captured as it stands. */
  async #takeHalted(): Promise<TakenDocument | undefined> {
    this.#notes.push('The scripts of the page did not end and were stopped');
    try {
      await within(AFTER_HALT_MS, this.#world.halt());
      return await this.#take(AFTER_HALT_MS);
    } catch {
      return undefined;
    }
  }
}

/** Runs in the page. */
function allPresent(selectors: string[]): boolean {
  const { document } = globalThis as unknown as { document: { querySelector(css: string): unknown } };
  return selectors.every((selector) => document.querySelector(selector) !== null);
}

const isPage = (mediaType: string) => ['text/html', 'application/xhtml+xml', ''].includes(mediaType);

const isReadable = (mediaType: string) =>
  isPage(mediaType) ||
  mediaType.startsWith('text/') ||
  /[/+](json|xml)$/.test(mediaType) ||
  ['application/javascript', 'application/x-javascript', 'application/yaml'].includes(mediaType);

const unreadable = (mediaType: string | undefined) =>
  problem('AssertionFailureError', { message: `This type of target cannot be read yet: ${mediaType || 'unknown'}` });

/** Chromium's network errors in words; the rest of its message would tell of the inside. */
function navigationProblem(error: unknown, refused: boolean): Problem {
  const text = error instanceof Error ? error.message : '';
  const code = /net::(ERR_[A-Z_]+)/.exec(text)?.[1];
  if (refused && code === 'ERR_TUNNEL_CONNECTION_FAILED')
    return problem('SecurityCompromiseError', { path: 'url' }, error);
  if (code === 'ERR_TOO_MANY_REDIRECTS')
    return problem('AssertionFailureError', { message: 'The page redirects too often' }, error);
  if (code === 'ERR_NAME_NOT_RESOLVED')
    return problem('ParamValidationError', { path: 'url', message: 'The host name does not exist' }, error);
  if (code?.startsWith('ERR_CERT'))
    return problem('AssertionFailureError', { message: 'The certificate of the page is not valid' }, error);
  return problem(
    'AssertionFailureError',
    { message: code ? `The page could not be loaded (${code})` : 'The page could not be loaded' },
    error,
  );
}
