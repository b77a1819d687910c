/**
 * One page, from its first navigation to its last capture. Every event (the page changes, becomes idle, hangs, crashes,
 * is refused, runs out of time) wakes a loop that decides what to do next.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { type Problem, problem } from '#errors.ts';
import { parseContentEncoding } from '#net/fetch/content-encoding.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { blockedProblem, type Guard, portOf } from '#net/guard/guard.ts';
import { neededScreenshots } from '../../formats/needed-screenshots.ts';
import type { Snapshot, StorageState } from '../../snapshot.ts';
import { refreshOfHeader } from '../direct-refresh.ts';
import { decodeBody } from '../encoded-body.ts';
import type { Visit } from '../engine.ts';
import { declaredMedia } from '../media-type.ts';
import { REDIRECT_LOOP_WARNING, TRUNCATION_WARNINGS } from '../truncation-warnings.ts';
import type { Identity } from '../user-agent.ts';
import { assertPage, bodyOf, mediaOf } from './assert-page.ts';
import { readText } from './capture.ts';
import { needsImages } from './context.ts';
import { trackProgress } from './document-progress.ts';
import { limitDocumentSize } from './document-size.ts';
import type { EgressSession } from './egress-session.ts';
import {
  emptyResponse,
  FileTargetError,
  isBodiless,
  isUnreadableResponse,
  navigationProblem,
  StuckClockError,
  unreadableByBrowser,
} from './failures.ts';
import { overrideHints } from './hints.ts';
import { type InjectedScripts, injectedScriptsSettled, installScripts } from './inject.ts';
import { type DetectedAbuse, PAGE_LIMITS, type PageLimits } from './limits.ts';
import { actedWithoutCallerInput, type LocalRequestWatch, watchLocalRequests } from './local-requests.ts';
import { type MainDocument, type Network, watchNetwork } from './network.ts';
import { removeOverlays } from './overlay.ts';
import { type PageClock, startPageClock } from './page-clock.ts';
import { preloadPage } from './preload.ts';
import { isWebUrl, PLACEHOLDER_URL, type Preparation } from './prepare-visit.ts';
import { watchRedirects } from './redirects.ts';
import type { ResourceList } from './resource-list.ts';
import { overrideDeviceScale, takeScreenshots } from './screenshots.ts';
import { createScroller, type Scroller } from './scroll.ts';
import { settleAnimations } from './settle-animations.ts';
import { type CapturedDocument, captureFrames } from './snapshot.ts';
import { readStorageState } from './storage-state.ts';
import {
  isCaptureDue,
  LOOK_AHEAD_MS,
  mayAdvance,
  nextLookAt,
  type PageState,
  readyAt,
  type TimingRequirements,
} from './timing.ts';
import { trackDocument } from './tracker.ts';
import { createEncodingRepair } from './undeclared-encoding.ts';
import { openWorld, type World } from './world.ts';

/** The dependencies of a page visit other than the browser. */
export interface PageTools {
  readonly guard: Guard;
  /** Whether the main content is present, for the timing `visible-content`. */
  readonly hasContent: (html: string) => boolean | Promise<boolean>;
  /** Guarded fetch for resources that bypass the proxy; without it all requests use the proxy. */
  readonly fetch?: GuardedFetch | undefined;
  /** Hosts whose resources no page of another site loads. */
  readonly resourceList?: ResourceList | undefined;
  /** Network limits; default PAGE_LIMITS. */
  readonly limits?: PageLimits | undefined;
  /** Whether a host name belongs to this server. The guard refuses such hosts. */
  readonly isOwnHost?: ((hostname: string) => boolean) | undefined;
  /** Called with the URL and the reason if a page was stopped for something that it did on its own. */
  readonly onAbuse?: ((url: string, reason: string) => void) | undefined;
}

const CRASHED = 'The page crashed or exceeded the memory limit of a page';
/** Time limit for a capture before the deadline. */
const CAPTURE_MS = 3_000;
const FRAMES_MS = 8_000;
/** Time reserved for the last capture: a tenth of the remaining time, within these bounds. */
const RESERVE_MS = { least: 500, most: 1_500 };
/** Time limit for a hanging page once its scripts are stopped. */
const AFTER_HALT_MS = 1_000;
const SHOTS_MS = { least: 1_500, most: 10_000 };
const STATE_MS = { least: 1_000, most: 3_000 };
/** `html`, `head` and `body`: the elements of an empty document. */
const BARE_ELEMENTS = 3;
/** Time limit for drawing a page. */
const DRAW_MS = 250;
/** Minimum remaining time for reading a page once more in real time. */
const MIN_REPEAT_MS = 5_000;
/** Interval of checks for selectors, and delay after a capture that a navigation interrupted. */
const RETRY_MS = 100;
/** Maximum number of characters of the caller's selectors that are quoted in a warning. */
const MAX_SELECTOR_CHARACTERS = 300;
/** Warnings about pages that could not be read normally. */
const NOTES = {
  crashed: 'The page crashed or exceeded the memory limit of a page; this is its last state before that',
  document: 'The page was too large and was cut off; this is the part that arrived',
  network: 'The page loaded more than the limit for one page; the rest was not loaded',
  halted: 'The scripts of the page did not finish and were stopped',
  blocked: 'Parts of this page were not loaded: the operator of this server blocks their URLs',
  long: 'The page is longer than 32 MiB; the rest was left out',
};

export interface PageVisitParts {
  readonly visit: Visit;
  readonly preparation: Preparation;
  readonly tools: PageTools;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly session: EgressSession;
}

interface Taken {
  readonly snapshot: Snapshot;
  readonly at: number;
  readonly elements: number;
}

export class PageVisit {
  readonly #visit: Visit;
  readonly #preparation: Preparation;
  readonly #tools: PageTools;
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly #session: EgressSession;
  readonly #calls: LocalRequestWatch;
  /** Whether the document came with the request. In that case there is no HTTP response. */
  readonly #isSubmitted: boolean;
  readonly #selectors: readonly string[];
  readonly #demands: TimingRequirements;
  readonly #reserveMs: number;
  readonly #progress = trackProgress(() => this.#now());
  #clock: PageClock | undefined;
  readonly #repairEncoding = createEncodingRepair();
  #network!: Network;
  #world!: World;
  /** Set if the page is to be scrolled before the last capture. */
  #scroller: Scroller | undefined;
  #wake: (() => void) | undefined;
  #stopped: Problem | StuckClockError | undefined;
  /** Whether the page has crashed or was closed. */
  #isGone = false;
  #navigationError: unknown;
  #isDownload = false;
  #scriptsDone = true;
  #hasTitle = false;
  /** Whether the scripts of the page were stopped. */
  #halted = false;
  #lookedAt = performance.now();
  /** A main document that is a page although its response declared no content type. */
  #undeclared: MainDocument | undefined;
  /** Whether the page was drawn since it became ready. */
  #isDrawn = false;
  /** The last snapshot tested for `visible-content`. */
  #contentChecked: Snapshot | undefined;
  /** Warnings for the caller, one per line. */
  readonly #warnings = new Set<string>();
  /** Whether loading of the document was stopped. */
  #isCutOff = false;

  constructor({ visit, preparation, tools, context, page, session }: PageVisitParts) {
    this.#visit = visit;
    this.#preparation = preparation;
    this.#tools = tools;
    this.#context = context;
    this.#page = page;
    this.#session = session;
    this.#calls = watchLocalRequests({
      guard: tools.guard,
      isOwnHost: tools.isOwnHost,
      hasPageLoaded: () => this.#progress.started || preparation.preloadUrl !== undefined,
      stop: (abuse) => this.#stop(abuse),
    });
    this.#isSubmitted = visit.html !== undefined && visit.fetchedResponse === undefined;
    const tenth = (visit.deadline - performance.now()) / 10;
    this.#reserveMs = Math.min(Math.max(tenth, RESERVE_MS.least), RESERVE_MS.most);
    const { waitForSelector, targetSelector, injectPageScript, injectFrameScript, respondTiming } = visit.options;
    this.#selectors = waitForSelector.length ? waitForSelector : targetSelector;
    this.#demands = {
      timing: respondTiming,
      hasScripts: injectPageScript.length + injectFrameScript.length > 0,
      waitsForSelector: this.#selectors.length > 0,
    };
  }

  async *run(scripts: InjectedScripts, identity: Identity): AsyncGenerator<Snapshot> {
    const { url, html, options, signal } = this.#visit;
    const { headers, preloadUrl } = this.#preparation;
    const entry = isWebUrl(url) ? url : PLACEHOLDER_URL;
    // Open this page first, because pages opened later are closed immediately.
    const before = preloadUrl === undefined ? undefined : await this.#context.newPage();
    this.#listen();
    this.#network = await this.#watchNetwork(entry);
    this.#world = await openWorld(this.#page);
    if (!this.#preparation.realTime) this.#clock = this.#startClock();
    if (options.scroll !== undefined) this.#scroller = createScroller(this.#world, options.scroll);
    await overrideDeviceScale(this.#world.session, options);
    await overrideHints(this.#world.session, identity, options.locale);
    const { credentials } = this.#session;
    const hops = { target: new URL(entry), headers, credentials, isSupplied: html !== undefined };
    await watchRedirects(this.#world.session, { ...hops, onTooManyRedirects: this.#network.redirectedTooOften });
    await this.#world.atEachDocument(trackDocument, (message) => this.#onMessage(message));
    await installScripts(this.#page, scripts);
    if (html === undefined) {
      const target = new URL(entry);
      this.#tools.guard.checkUrl(target);
      await this.#tools.guard.resolve(target.hostname, portOf(target), signal);
    }
    if (html === undefined) await limitDocumentSize(this.#world.session, () => this.#cutOff());
    if (before) {
      const session = await this.#context.newCDPSession(before);
      await watchRedirects(session, { ...hops, headers: {}, isSupplied: false, onTooManyRedirects: () => {} });
      await preloadPage(before, preloadUrl!, this.#watchUntil - performance.now());
    }
    this.#navigate(entry);
    try {
      yield* this.#watch();
    } finally {
      this.#clock?.stop();
    }
  }

  #startClock(): PageClock {
    return startPageClock({
      session: this.#world.session,
      mayAdvance: () => !this.#progress.scrolling && mayAdvance(this.#now(), this.#state(), this.#demands),
      onStep: () => this.#changed(),
      onStuck: () => void this.#giveUpClock().catch(() => {}),
    });
  }

  /** Stops the scripts of the page, which can go on in real time only. Without the time for that, they have ended. */
  async #giveUpClock(): Promise<void> {
    const isRepeatable = this.#visit.deadline - performance.now() > MIN_REPEAT_MS;
    if (isRepeatable) this.#stopped = new StuckClockError();
    await this.#halt();
    this.#changed();
  }

  /** The time on the page's clock. */
  #now(): number {
    return this.#clock?.now() ?? performance.now();
  }

  #watchNetwork(entry: string): Promise<Network> {
    const { html, fetchedResponse, options, signal, trace } = this.#visit;
    const { proxy, proxyResources } = this.#preparation;
    const { fetch, guard, resourceList, limits = PAGE_LIMITS } = this.#tools;
    const acceptInvalidCertificates = options.skipCertVerification === true;
    const isSplit = proxy !== undefined && !proxyResources && fetch !== undefined;
    return watchNetwork({
      context: this.#context,
      page: this.#page,
      guard,
      entry,
      html,
      answer: fetchedResponse,
      limits,
      proxyBypass: isSplit ? { fetch, acceptInvalidCertificates, signal, moved: this.#session.moved } : undefined,
      pictures: needsImages(options),
      resourceList,
      signal,
      now: () => this.#now(),
      changed: () => this.#changed(),
      stop: (abuse) => this.#stop(abuse),
      onStay: this.#progress.markStayed,
      onNavigationLimit: () => {
        this.#warnings.add(REDIRECT_LOOP_WARNING);
      },
      onBlocked: () => {
        this.#warnings.add(NOTES.blocked);
      },
      onUnwanted: () => trace?.count('blocked', 1),
      ...this.#calls,
    });
  }

  /** Throws if the operator blocks the page, or the URL of a redirect that led to it. */
  #refuseBlocked(): void {
    const main = this.#network.main();
    // A loaded page remains if its script tries to navigate to a blocked one.
    const request = main ? main.response?.request() : this.#network.wanted();
    for (let hop = request ?? null; hop; hop = hop.redirectedFrom()) {
      const url = hop.url();
      if (isWebUrl(url) && this.#tools.guard.blocks(new URL(url))) throw blockedProblem();
    }
  }

  #cutOff(): void {
    this.#isCutOff = true;
    this.#warnings.add(NOTES.document);
    this.#changed();
  }

  #moved(bytes: number): void {
    const { maxBytes } = this.#tools.limits ?? PAGE_LIMITS;
    if (bytes <= maxBytes || this.#warnings.has(NOTES.network)) return;
    this.#warnings.add(NOTES.network);
    this.#session.cut();
    this.#changed();
  }

  #stop({ problem: reason, reason: summary }: DetectedAbuse): void {
    if (this.#stopped) return;
    this.#stopped = reason;
    // Report only the requested page, not one that redirected to it or that it redirected to.
    const page = this.#network.main()?.url;
    const isAsked = page !== undefined && new URL(page).hostname === new URL(this.#visit.url).hostname;
    if (isAsked && actedWithoutCallerInput(this.#visit)) this.#tools.onAbuse?.(page, summary);
    this.#changed();
  }

  #listen(): void {
    const page = this.#page;
    const changed = () => this.#changed();
    this.#session.onRefused(this.#calls.onRefused);
    this.#session.onMoved((bytes) => this.#moved(bytes));
    const gone = () => {
      this.#isGone = true;
      changed();
    };
    page.on('crash', gone);
    page.on('close', gone);
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    page.on('download', () => {
      // If a page is already loaded, it remains and is read.
      this.#isDownload = !this.#progress.started;
      changed();
    });
    this.#context.on('page', (other) => {
      if (other !== page) void other.close().catch(() => {});
    });
    this.#visit.signal.addEventListener('abort', changed, { once: true });
  }

  #navigate(entry: string): void {
    const { referer } = this.#visit.options;
    const timeout = Math.max(this.#visit.deadline - performance.now(), 1);
    const going = this.#page.goto(entry, { waitUntil: 'commit', timeout, ...(referer !== undefined && { referer }) });
    going.catch((error) => {
      // The page of the interrupting navigation is the page to read.
      if (String(error).includes('interrupted by another navigation')) return;
      this.#navigationError = error;
      this.#changed();
    });
  }

  #changed(): void {
    this.#clock?.wake();
    this.#wake?.();
  }

  #onMessage(message: string): void {
    const kind = this.#progress.handle(message);
    if (kind === 'start') this.#scriptsDone = !this.#demands.hasScripts;
    if (kind === 'interactive' && !this.#scriptsDone) {
      const done = () => {
        this.#scriptsDone = true;
        this.#changed();
      };
      injectedScriptsSettled(this.#world.session).then(done, done);
    }
    this.#changed();
  }

  /** The time at which watching ends, so that time remains for the last capture before the deadline. */
  get #watchUntil(): number {
    return this.#visit.deadline - this.#reserveMs;
  }

  /** Frames are captured one after the other, so each capture gets all remaining time. */
  #finalMs(now: number): number {
    if (!this.#visit.options.withIframe) return CAPTURE_MS;
    return Math.max(CAPTURE_MS, Math.min(FRAMES_MS, this.#watchUntil - now));
  }

  async *#watch(): AsyncGenerator<Snapshot> {
    let last: Taken | undefined;
    let seenMoments = 0;
    for (;;) {
      this.#visit.signal.throwIfAborted();
      if (this.#stopped) throw this.#stopped;
      if (!this.#isSubmitted) this.#refuseBlocked();
      if (this.#isGone || this.#failure() || this.#isCutShort || performance.now() >= this.#watchUntil) break;
      const now = this.#now();
      const other = this.#nonPage();
      // The direct engine can read more text than the browser can show.
      if (this.#isCutOff && other) throw new FileTargetError(other.url, other.mediaType);
      if (this.#isCutOff) break;
      if (other) {
        const read = await this.#readNonPage(other);
        if (!read) continue;
        return yield read;
      }

      let broken = false;
      const isReady = await this.#isReady(now, last?.snapshot);
      if (!isReady) this.#isDrawn = false;
      if (isReady) {
        if (await this.#scrollOn()) continue;
        if (this.#clock?.advancedUntil !== undefined && !this.#isDrawn) {
          await this.#draw();
          continue;
        }
        const final = await this.#capture(this.#finalMs(performance.now()), true);
        if (final && this.#isBare) continue;
        if (final) {
          const more = this.#scroller?.incompleteReason();
          if (more) this.#warnings.add(more);
          this.#warnMissing(final.snapshot);
          return yield { ...final.snapshot, notes: this.#notes };
        }
        broken = true;
      } else if (now >= this.#nextLookAt(last, seenMoments)) {
        seenMoments = this.#progress.moments;
        this.#lookedAt = now;
        if (isCaptureDue(now, this.#progress.elements, last)) {
          const taken = await this.#capture(Math.min(CAPTURE_MS, this.#watchUntil - performance.now()), false);
          if (taken) {
            last = taken;
            yield taken.snapshot;
            continue;
          }
        }
      }
      await this.#wait(now, broken ? now + RETRY_MS : this.#nextLookAt(last, seenMoments));
    }
    yield await this.#finish(last?.snapshot);
  }

  /** If the connection of a document was lost before the document was interactive, it never becomes interactive. */
  get #isCutShort(): boolean {
    return this.#network.brokeOff() && this.#progress.started && this.#progress.interactiveAt === undefined;
  }

  /** The result at the deadline, or after the page crashed or was cut off: a last capture, else the previous one. */
  async #finish(last: Snapshot | undefined): Promise<Snapshot> {
    const failure = this.#failure();
    // A truncated document is large, but there is still time to capture it.
    const limitMs = this.#isCutOff ? Math.max(this.#watchUntil - performance.now(), this.#reserveMs) : this.#reserveMs;
    const final = this.#isGone || failure ? undefined : await this.#capture(limitMs, true);
    if (this.#stopped) throw this.#stopped;
    this.#visit.signal.throwIfAborted();
    const why = final || last ? await this.#incompleteReason(failure !== undefined) : undefined;
    if (why) this.#warnings.add(why);
    // Earlier snapshots of a document without content are empty too.
    const answer = final?.snapshot ?? (this.#isBare ? undefined : last);
    if (!this.#isSubmitted) this.#refuseBlocked();
    if (answer) {
      this.#warnMissing(answer);
      return { ...answer, settled: false, notes: this.#notes };
    }
    const message = this.#isGone ? CRASHED : 'The page did not respond in time';
    throw failure ?? problem('AssertionFailureError', { message });
  }

  /** Warns about requested pictures or state that could not be captured. */
  #warnMissing({ screenshot, pageshot, storageState }: Snapshot): void {
    const { options } = this.#visit;
    const needed = neededScreenshots(options);
    if (options.exportStorageState && !storageState) this.#warnings.add(NO_STATE);
    if ((needed.screenshot && !screenshot) || (needed.pageshot && !pageshot)) this.#warnings.add(NO_PICTURE);
  }

  /** The reason why the page did not reach the requested state. */
  async #incompleteReason(failed: boolean): Promise<string | undefined> {
    if (this.#halted || this.#isCutShort || this.#isCutOff) return undefined;
    if (this.#isGone) return NOTES.crashed;
    if (failed) return 'The page redirected to a page that cannot be loaded; this is its last state before that';
    const unscrolled = this.#scroller?.incompleteReason();
    if (unscrolled) return unscrolled;
    const { waitForSelector, respondTiming } = this.#visit.options;
    const missing = waitForSelector.length ? await this.#missing(waitForSelector) : [];
    if (missing.length)
      return `waitForSelector did not appear in time: ${missing.join(', ').slice(0, MAX_SELECTOR_CHARACTERS)}`;
    // With `network-idle`, a page that never becomes idle is captured at the deadline as intended.
    const isLoaded = respondTiming === 'network-idle' && this.#progress.loadedAt !== undefined;
    return isLoaded ? undefined : 'The page had not become idle at the deadline; this is its state at that time';
  }

  /** Returns the selectors without a match; all selectors if the page does not respond. */
  async #missing(selectors: readonly string[]): Promise<readonly string[]> {
    return this.#world.call(absent, [...selectors], RETRY_MS).catch(() => selectors);
  }

  /**
   * Whether the connection was lost before any content of the document arrived, or the document could not be decoded.
   */
  get #isBare(): boolean {
    return this.#network.brokeOff() && this.#progress.elements <= BARE_ELEMENTS;
  }

  /** The reason why there is no document to read, or why it is gone. */
  #failure(): Problem | FileTargetError | undefined {
    const wanted = this.#network.wanted();
    const proxyFailure = wanted && this.#session.failureOf(new URL(wanted.url()));
    const unreached = this.#network.failure();
    if (unreached) return this.#session.proxyFailure() ?? proxyFailure ?? unreached;
    const answered = this.#network.answered();
    if (answered && isUnknownCoding(answered)) return unreadableByBrowser(answered.url);
    if (answered && this.#isBare) return unreadableByBrowser(answered.url);
    const file = () => new FileTargetError(answered?.url ?? this.#visit.url, answered?.mediaType);
    if (this.#isDownload) return file();
    const error = this.#navigationError ?? this.#network.lost();
    if (!error) return undefined;
    // This error is reported shortly before the download event.
    if (String(error).includes('Download is starting')) return file();
    // A response that the browser ignores, such as 304 to a request without conditions.
    if (!answered && !this.#progress.started && String(error).includes('net::ERR_ABORTED')) return file();
    if (answered && isBodiless(answered.status)) return emptyResponse(answered.status);
    if (answered && isFileType(answered.mediaType)) return file();
    const failure = this.#session.proxyFailure() ?? proxyFailure;
    if (failure) return failure;
    if (isUnreadableResponse(error) && wanted?.method() === 'GET') return unreadableByBrowser(wanted.url());
    return navigationProblem(error, this.#session.refusedHosts().size > 0);
  }

  /** The main document, if the browser shows it although it is not a page, or must not be read as one. */
  #nonPage(): MainDocument | undefined {
    const main = this.#network.main();
    if (!main || !this.#progress.started || this.#visit.html !== undefined || main === this.#undeclared)
      return undefined;
    return declaredMedia(main.mediaType).kind === 'html' ? undefined : main;
  }

  /** Reads a document of this kind; `undefined` if it turns out to be a page. */
  async #readNonPage(main: MainDocument): Promise<Snapshot | undefined> {
    if (isFileType(main.mediaType)) throw new FileTargetError(main.url, main.mediaType);
    const headers = main.response?.headers() ?? {};
    if (refreshOfHeader(headers.refresh, main.url)) {
      await this.#wait(this.#now(), this.#now() + RETRY_MS);
      return undefined;
    }
    const bytes = await bodyOf(main, Math.max(this.#watchUntil - performance.now(), 1));
    if (!bytes) return this.#readShownText(main);
    if (!bytes.length) throw emptyResponse(main.status);
    const media = mediaOf(main, bytes);
    if (media.kind === 'html') {
      this.#undeclared = main;
      return undefined;
    }
    if (media.kind !== 'text') throw new FileTargetError(main.url, media.mediaType);
    const text = await decodeBody({ bytes, contentType: headers['content-type'], kind: 'text' });
    const storageState = await this.#takeState();
    const seen = { text, ...(await this.#takeShots()), settled: true, hiddenFrames: false, hiddenShadow: false };
    return { ...this.#facts(main.url), ...seen, mediaType: media.mediaType, ...(storageState && { storageState }) };
  }

  /** For endless text, the part that the browser shows at the deadline; `undefined` if another document has loaded. */
  async #readShownText(main: MainDocument): Promise<Snapshot | undefined> {
    if (this.#network.main() !== main) return undefined;
    if (performance.now() < this.#watchUntil) throw unreadableByBrowser(main.url, main.mediaType);
    const shown = await this.#world.call(readText, undefined, AFTER_HALT_MS).catch(() => undefined);
    if (!shown?.text) throw problem('AssertionFailureError', { message: 'The page did not respond in time' });
    const seen = { text: shown.text, settled: false, hiddenFrames: false, hiddenShadow: false, partial: true };
    return { ...this.#facts(main.url), ...seen, notes: [...this.#notes, TRUNCATION_WARNINGS.time] };
  }

  get #notes(): string[] {
    const broken = this.#network.brokeOff() ? TRUNCATION_WARNINGS.broken : undefined;
    const own = [this.#network.main()?.partialWarning, broken].filter((note) => note !== undefined);
    return [...this.#warnings, ...own];
  }

  /**
   * The data of a snapshot other than its document. Submitted HTML has the URL that came with it and no HTTP response.
   */
  #facts(address: string) {
    const { url } = this.#visit;
    const main = this.#isSubmitted ? undefined : this.#network.main();
    return {
      url: this.#isSubmitted && !isWebUrl(url) ? url : address,
      status: main?.status ?? 200,
      statusText: main?.statusText ?? 'OK',
      mediaType: (main !== this.#undeclared && main?.mediaType) || 'text/html',
      lastModified: main?.lastModified,
      ...(main?.noStore && { noStore: true }),
      ...(main?.robotsTag !== undefined && { robotsTag: main.robotsTag }),
      ...(main?.retryAfter !== undefined && { retryAfter: main.retryAfter }),
      ...(main?.responseMarks && { responseMarks: main.responseMarks }),
      ...((main?.partialWarning !== undefined || this.#network.brokeOff()) && { partial: true }),
      ...(this.#network.loadedData() && { loadsData: true }),
      notes: this.#notes,
      engine: 'browser' as const,
    };
  }

  /** Whether nothing can change the document any more. A `Refresh` header would replace it. */
  get #isStill(): boolean {
    return this.#progress.still && this.#network.main()?.response?.headers().refresh === undefined;
  }

  #state(): PageState {
    const { interactiveAt, loadedAt, idle, idleSeen, elements } = this.#progress;
    const still = this.#isStill;
    const { resources, media, all } = this.#network;
    const seen = { interactiveAt, loadedAt, mutationIdle: idle, mutationIdleSeen: idleSeen, still, elements };
    const clock = { canAdvance: this.#canAdvance, advancedUntil: this.#clock?.advancedUntil };
    return { ...seen, hasTitle: this.#hasTitle, resources, media, network: all, ...clock };
  }

  /**
   * Whether the page's clock can run faster than real time. Workers and frames of other sites have clocks of their own,
   * streams send in real time, and a page that is scrolled on request has all the time that it needs.
   */
  get #canAdvance(): boolean {
    const { withIframe, scroll } = this.#visit.options;
    if (withIframe || scroll !== undefined || this.#network.hasStream()) return false;
    return this.#page.workers().length === 0 && this.#clock?.canAdvance === true;
  }

  async #isReady(now: number, last: Snapshot | undefined): Promise<boolean> {
    if (this.#progress.interactiveAt === undefined) return false;
    if (this.#demands.waitsForSelector) return this.#hasSelectors();
    if (!this.#scriptsDone) return false;
    const { timing, hasScripts } = this.#demands;
    if (timing === 'visible-content' && !hasScripts && last && last !== this.#contentChecked) {
      this.#contentChecked = last;
      if (this.#hasTitle && (await this.#tools.hasContent(last.text))) return true;
    }
    return readyAt(this.#state(), this.#demands) <= now;
  }

  /**
   * Waits until the page was drawn and its short animations have ended. Observers act when that happens, which takes real
   * time, and requests are reported in the meantime.
   */
  async #draw(): Promise<void> {
    this.#isDrawn = true;
    await this.#world.call(settleAnimations, LOOK_AHEAD_MS, DRAW_MS).catch(() => {});
  }

  /** Scrolls once more, if that was requested and the page still grows. */
  async #scrollOn(): Promise<boolean> {
    const isLoading = () => this.#network.all.open > 0;
    return (await this.#scroller?.next(isLoading, this.#watchUntil)) ?? false;
  }

  async #hasSelectors(): Promise<boolean> {
    const limitMs = Math.max(Math.min(CAPTURE_MS, this.#watchUntil - performance.now()), 1);
    return this.#world.call(allPresent, [...this.#selectors], limitMs).catch(() => false);
  }

  #nextLookAt(last: Taken | undefined, seenMoments: number): number {
    const { started, interactiveAt, moments } = this.#progress;
    const lookedAt = Math.max(last?.at ?? 0, this.#lookedAt);
    return nextLookAt({ started, interactiveAt, hasChanged: moments > seenMoments, lookedAt }, this.#demands.timing);
  }

  /** Waits until an event occurs or something is due. */
  async #wait(now: number, lookAt: number): Promise<void> {
    const ready = readyAt(this.#state(), this.#demands);
    const poll = this.#demands.waitsForSelector ? now + RETRY_MS : Number.POSITIVE_INFINITY;
    const due = Math.min(ready > now ? ready : Number.POSITIVE_INFINITY, poll, lookAt) - this.#now();
    const left = Math.min(this.#watchUntil - performance.now(), due);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, Math.max(left, 1));
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  /** Captures the page. The result is `undefined` if the page does not respond, or is between two documents. */
  async #capture(limitMs: number, final: boolean): Promise<Taken | undefined> {
    const { removeOverlay } = this.#visit.options;
    let taken: CapturedDocument | undefined;
    try {
      if (removeOverlay) await this.#removeOverlays(limitMs);
      taken = await this.#captureFrames(limitMs);
    } catch (error) {
      const hangs = error instanceof DeadlineExceededError && final && !this.#isGone;
      taken = hangs ? await this.#captureHalted() : undefined;
    }
    if (!taken || !isWebUrl(taken.captured.url)) return undefined;
    await this.#network.checked();
    if (this.#network.failure()) return undefined;
    if (!this.#isSubmitted) await assertPage(taken, this.#network, this.#world);
    const { url, title, elements, hiddenFrames, hiddenShadow, truncated, encoding } = taken.captured;
    const main = this.#visit.html === undefined ? this.#network.main() : undefined;
    const text = await this.#repairEncoding(taken.html, encoding, main);
    if (final && taken.framesMissing > 0) {
      const [frames, were] = taken.framesMissing === 1 ? ['frame', 'was'] : ['frames', 'were'];
      this.#warnings.add(`${taken.framesMissing} ${frames} of this page could not be read and ${were} left out`);
    }
    if (truncated) this.#warnings.add(NOTES.long);
    this.#progress.elements = elements;
    this.#hasTitle = title.trim() !== '';
    const shots = final ? await this.#takeShots() : {};
    const storageState = final ? await this.#takeState() : undefined;
    // The page may have exceeded a limit in the meantime.
    if (this.#stopped) throw this.#stopped;
    const isWhole = this.#network.resources.open === 0 && !this.#network.brokeOff();
    const settled = final && (this.#progress.idleSeen || this.#isStill) && isWhole;
    const seen = { text, ...shots, settled, hiddenFrames, hiddenShadow };
    const snapshot = { ...this.#facts(url), ...seen, ...(storageState && { storageState }) };
    return { snapshot, elements, at: this.#now() };
  }

  #captureFrames(limitMs: number): Promise<CapturedDocument> {
    const { guard } = this.#tools;
    const isBlocked = (url: string) => isWebUrl(url) && guard.blocks(new URL(url));
    const isRefused = (url: string) => {
      const blocked = isBlocked(url);
      if (blocked) this.#warnings.add(NOTES.blocked);
      return blocked || this.#network.isRefused(url);
    };
    return captureFrames(this.#world, this.#visit.options, { limitMs, isRefused });
  }

  /** If this fails, the page is read with its overlays. */
  async #removeOverlays(limitMs: number): Promise<void> {
    await this.#world.call(removeOverlays, undefined, limitMs).catch((error) => {
      if (error instanceof DeadlineExceededError) throw error;
    });
  }

  /** Stops the endless scripts of a page. */
  async #halt(): Promise<void> {
    this.#halted = true;
    this.#warnings.add(NOTES.halted);
    await within(AFTER_HALT_MS, this.#world.halt());
  }

  /** Stops the endless scripts of a page, and captures its current state. */
  async #captureHalted(): Promise<CapturedDocument | undefined> {
    try {
      await this.#halt();
      return await this.#captureFrames(AFTER_HALT_MS);
    } catch {
      return undefined;
    }
  }

  /** Adds a warning if the state cannot be read. */
  async #takeState(): Promise<StorageState | undefined> {
    if (!this.#visit.options.exportStorageState) return undefined;
    const left = Math.max(this.#visit.deadline - performance.now(), STATE_MS.least);
    try {
      const { state, complete } = await readStorageState(this.#context, Math.min(STATE_MS.most, left));
      if (!complete) this.#warnings.add('The storage state of the page is too large; part of it was left out');
      return state;
    } catch {
      this.#warnings.add(NO_STATE);
      return undefined;
    }
  }

  async #takeShots(): Promise<Pick<Snapshot, 'screenshot' | 'pageshot'>> {
    const { viewport } = this.#visit.options;
    const wanted = {
      ...neededScreenshots(this.#visit.options),
      deviceScaleFactor: viewport?.deviceScaleFactor ?? 1,
    };
    const left = this.#visit.deadline - performance.now();
    const limitMs = Math.min(SHOTS_MS.most, Math.max(left, SHOTS_MS.least));
    const { cutAt, ...shots } = await takeScreenshots(this.#world.session, wanted, limitMs);
    if (cutAt !== undefined)
      this.#warnings.add(`The screenshot of the page ends after ${cutAt} pixels; the rest was left out`);
    return shots;
  }
}

const NO_STATE = 'The storage state of the page could not be read';
const NO_PICTURE = 'No screenshot of the page could be taken';

/**
 * Whether a type is one that the browser cannot show, or shows in a viewer. If a document has no type, the browser
 * decides.
 */
const isFileType = (mediaType: string) => ['file', 'other'].includes(declaredMedia(mediaType).kind);

/** Whether the response has an unknown encoding, which the browser shows without decoding it. */
const isUnknownCoding = ({ response }: MainDocument) =>
  !Array.isArray(parseContentEncoding(response?.headers()['content-encoding']));

/** Runs in the page. */
function absent(selectors: string[]): string[] {
  const { document } = globalThis as unknown as { document: { querySelector(css: string): unknown } };
  return selectors.filter((selector) => document.querySelector(selector) === null);
}

/** Runs in the page. */
function allPresent(selectors: string[]): boolean {
  const { document } = globalThis as unknown as { document: { querySelector(css: string): unknown } };
  return selectors.every((selector) => document.querySelector(selector) !== null);
}
