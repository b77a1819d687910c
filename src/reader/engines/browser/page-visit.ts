/**
 * One page from its first navigation to its last capture. Everything that can happen to it (it changes, falls silent,
 * hangs, crashes, is refused, runs out of time) becomes a reason to look again at what to do.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { type Problem, problem } from '#errors.ts';
import { decodeText } from '#html/decode.ts';
import { parseContentEncoding } from '#net/fetch/content-encoding.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { type Guard, portOf } from '#net/guard/guard.ts';
import { picturesNeeded } from '../../formats/pictures.ts';
import type { Snapshot, StorageState } from '../../snapshot.ts';
import { refreshOf } from '../direct-refresh.ts';
import type { Visit } from '../engine.ts';
import { declaredMedia } from '../media-type.ts';
import { CUT_NOTES, REFRESH_NOTE } from '../notes.ts';
import type { Identity } from '../user-agent.ts';
import { type Calls, isOwnDoing, watchCalls } from './calls.ts';
import { readText } from './capture.ts';
import { needsPictures } from './context.ts';
import { boundDocument } from './document-size.ts';
import type { EgressSession } from './egress-session.ts';
import {
  FileTargetError,
  isBodiless,
  isUnread,
  navigationProblem,
  unlikeBrowsers,
  withoutContent,
} from './failures.ts';
import { overrideHints } from './hints.ts';
import { watchHops } from './hops.ts';
import { type Injected, installScripts, scriptsSettled } from './inject.ts';
import { watchLife } from './life.ts';
import { type Abuse, PAGE_LIMITS, type PageLimits } from './limits.ts';
import { type MainDocument, type Network, watchNetwork } from './network.ts';
import { bodyOf, mediaOf, refuseOther } from './no-page.ts';
import { removeOverlays } from './overlay.ts';
import { preload } from './preload.ts';
import { isWeb, NO_ADDRESS, type Preparation } from './prepare.ts';
import { overrideScale, takeShots } from './shots.ts';
import { type TakenDocument, takeDocument } from './snapshot.ts';
import { takeStorageState } from './storage-state.ts';
import { captureDue, type Demands, readyAt } from './timing.ts';
import { trackDocument } from './tracker.ts';
import { openWorld, type World } from './world.ts';

/** What a page needs beside its browser. */
export interface PageTools {
  readonly guard: Guard;
  /** Whether main content is there already, for the timing `visible-content`. */
  readonly hasContent: (html: string) => boolean | Promise<boolean>;
  /** The direct way out, for what of a page goes past its proxy; without it all of the page goes through. */
  readonly fetch?: GuardedFetch | undefined;
  /** What a page may ask of the network; the contract's limits unless given. */
  readonly limits?: PageLimits | undefined;
  /** Whether a host name is one that this server answers to; the guard refuses those. */
  readonly isOwnHost?: ((hostname: string) => boolean) | undefined;
  /** Told of a page that was stopped for what it did by itself: its address, and what it did. */
  readonly onAbuse?: ((url: string, reason: string) => void) | undefined;
}

const CRASHED = 'The page crashed or took more memory than one page may take';
/** How long a capture may take while the page is watched. */
const CAPTURE_MS = 3_000;
const FRAMES_MS = 8_000;
/** A page that is not interactive yet is looked at now and then all the same: it may never be. */
const LOOK_EVERY_MS = 1_500;
/** The last capture begins before the answer is due, by a tenth of the time that there is, within these bounds. */
const RESERVE_MS = { least: 500, most: 1_500 };
/** What a page that hangs is given after its scripts were stopped. */
const AFTER_HALT_MS = 1_000;
const SHOTS_MS = { least: 1_500, most: 10_000 };
const STATE_MS = { least: 1_000, most: 3_000 };
/** Those of a document that never began: `html`, `head` and `body`. */
const BARE_ELEMENTS = 3;
/** How soon selectors are looked for again, and a capture that a navigation broke is taken again. */
const RETRY_MS = 100;
/** The most of a caller's selectors that is told back. */
const LONGEST_TOLD = 300;
/** Told with what was seen of a page before it was over. */
const NOTES = {
  crashed: 'The page crashed or took more memory than one page may take; this is what it showed before',
  document: 'The page did not end and was cut off; this is what had arrived',
  network: 'The page loaded more than one page may load; the rest was not loaded',
  halted: 'The scripts of the page did not end and were stopped',
  long: 'The page is longer than 32 MiB; the rest of it was left out',
};

export interface PageVisitParts {
  readonly visit: Visit;
  readonly preparation: Preparation;
  readonly tools: PageTools;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly way: EgressSession;
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
  readonly #way: EgressSession;
  readonly #calls: Calls;
  /** Whether the document came with the request, and is no answer of a server. */
  readonly #isSubmitted: boolean;
  readonly #selectors: readonly string[];
  readonly #demands: Demands;
  readonly #reserveMs: number;
  readonly #life = watchLife();
  #network!: Network;
  #world!: World;
  #wake: (() => void) | undefined;
  #stopped: Problem | undefined;
  /** Whether the page has crashed or was closed. */
  #gone = false;
  #navigationError: unknown;
  #isDownload = false;
  #scriptsDone = true;
  #hasTitle = false;
  /** Whether its scripts were stopped. */
  #halted = false;
  #lookedAt = performance.now();
  /** A main document whose type says nothing, and that is a page by its content. */
  #undeclared: MainDocument | undefined;
  /** The snapshot that was last held against `visible-content`. */
  #judged: Snapshot | undefined;
  /** What the caller is told, a line each. */
  readonly #told = new Set<string>();
  /** Whether the loading of its document was stopped. */
  #isCutOff = false;

  constructor({ visit, preparation, tools, context, page, way }: PageVisitParts) {
    this.#visit = visit;
    this.#preparation = preparation;
    this.#tools = tools;
    this.#context = context;
    this.#page = page;
    this.#way = way;
    this.#calls = watchCalls({
      guard: tools.guard,
      isOwnHost: tools.isOwnHost,
      isPageThere: () => this.#life.started || preparation.preloadUrl !== undefined,
      stop: (abuse) => this.#stop(abuse),
    });
    this.#isSubmitted = visit.html !== undefined && visit.answer === undefined;
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

  async *run(scripts: Injected, identity: Identity): AsyncGenerator<Snapshot> {
    const { url, html, options, signal } = this.#visit;
    const { headers, preloadUrl } = this.#preparation;
    const entry = isWeb(url) ? url : NO_ADDRESS;
    // Opened before others are closed as soon as they open.
    const before = preloadUrl === undefined ? undefined : await this.#context.newPage();
    this.#listen();
    this.#network = await this.#watchNetwork(entry);
    this.#world = await openWorld(this.#page);
    await overrideScale(this.#world.session, options);
    await overrideHints(this.#world.session, identity, options.locale);
    const { credentials } = this.#way;
    const hops = { target: new URL(entry), headers, credentials, isBrought: html !== undefined };
    await watchHops(this.#world.session, { ...hops, tooOften: this.#network.redirectedTooOften });
    await this.#world.atEachDocument(trackDocument, (message) => this.#heard(message));
    await installScripts(this.#page, scripts);
    if (html === undefined) {
      const target = new URL(entry);
      this.#tools.guard.checkUrl(target);
      await this.#tools.guard.resolve(target.hostname, portOf(target), signal);
    }
    if (html === undefined) await boundDocument(this.#world.session, () => this.#cutOff());
    if (before) {
      const session = await this.#context.newCDPSession(before);
      await watchHops(session, { ...hops, headers: {}, isBrought: false, tooOften: () => {} });
      await preload(before, preloadUrl!, this.#lastLookAt - performance.now());
    }
    this.#navigate(entry);
    yield* this.#watch();
  }

  #watchNetwork(entry: string): Promise<Network> {
    const { html, answer, options, signal } = this.#visit;
    const { proxy, proxyResources } = this.#preparation;
    const { fetch, guard, limits = PAGE_LIMITS } = this.#tools;
    const acceptInvalidCertificates = options.skipCertVerification === true;
    const isSplit = proxy !== undefined && !proxyResources && fetch !== undefined;
    return watchNetwork({
      context: this.#context,
      page: this.#page,
      guard,
      entry,
      html,
      answer,
      limits,
      pastProxy: isSplit ? { fetch, acceptInvalidCertificates, signal, moved: this.#way.moved } : undefined,
      pictures: needsPictures(options),
      signal,
      changed: () => this.#changed(),
      stop: (abuse) => this.#stop(abuse),
      stays: this.#life.stay,
      sentOn: () => {
        this.#told.add(REFRESH_NOTE);
      },
      ...this.#calls,
    });
  }

  #cutOff(): void {
    this.#isCutOff = true;
    this.#told.add(NOTES.document);
    this.#changed();
  }

  #moved(bytes: number): void {
    const { maxBytes } = this.#tools.limits ?? PAGE_LIMITS;
    if (bytes <= maxBytes || this.#told.has(NOTES.network)) return;
    this.#told.add(NOTES.network);
    this.#way.cut();
    this.#changed();
  }

  #stop({ problem: reason, reason: told }: Abuse): void {
    if (this.#stopped) return;
    this.#stopped = reason;
    // Only the page itself is to blame: not who led here, nor a host that somebody else led to.
    const page = this.#network.main()?.url;
    const isAsked = page !== undefined && new URL(page).hostname === new URL(this.#visit.url).hostname;
    if (isAsked && isOwnDoing(this.#visit)) this.#tools.onAbuse?.(page, told);
    this.#changed();
  }

  #listen(): void {
    const page = this.#page;
    const changed = () => this.#changed();
    this.#way.onRefused(this.#calls.refused);
    this.#way.onMoved((bytes) => this.#moved(bytes));
    const gone = () => {
      this.#gone = true;
      changed();
    };
    page.on('crash', gone);
    page.on('close', gone);
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    page.on('download', () => {
      // A page that is there already stays, and is read.
      this.#isDownload = !this.#life.started;
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
      // The page that interrupts is the one to read.
      if (String(error).includes('interrupted by another navigation')) return;
      this.#navigationError = error;
      this.#changed();
    });
  }

  #changed(): void {
    this.#wake?.();
  }

  #heard(message: string): void {
    const kind = this.#life.hear(message);
    if (kind === 'start') this.#scriptsDone = !this.#demands.hasScripts;
    if (kind === 'interactive' && !this.#scriptsDone) {
      const done = () => {
        this.#scriptsDone = true;
        this.#changed();
      };
      scriptsSettled(this.#world.session).then(done, done);
    }
    this.#changed();
  }

  /** When watching ends, so that what follows is done when the answer is due. */
  get #lastLookAt(): number {
    return this.#visit.deadline - this.#reserveMs;
  }

  /** Frames are captured one after the other, so they are given what time there is. */
  #finalMs(now: number): number {
    if (!this.#visit.options.withIframe) return CAPTURE_MS;
    return Math.max(CAPTURE_MS, Math.min(FRAMES_MS, this.#lastLookAt - now));
  }

  async *#watch(): AsyncGenerator<Snapshot> {
    let last: Taken | undefined;
    let seenMoments = 0;
    for (;;) {
      this.#visit.signal.throwIfAborted();
      if (this.#stopped) throw this.#stopped;
      const now = performance.now();
      if (this.#gone || this.#failure() || this.#isCutShort || now >= this.#lastLookAt) break;
      const other = this.#otherDocument();
      // Another engine takes more text than the browser can show.
      if (this.#isCutOff && other) throw new FileTargetError(other.url, other.mediaType);
      if (this.#isCutOff) break;
      if (other) {
        const read = await this.#readOther(other);
        if (!read) continue;
        return yield read;
      }

      let broken = false;
      if (await this.#isReady(now, last?.snapshot)) {
        const final = await this.#capture(this.#finalMs(now), true);
        if (final) {
          this.#tellMissing(final.snapshot);
          return yield { ...final.snapshot, notes: this.#notes };
        }
        broken = true;
      } else if (this.#life.moments > seenMoments || now >= this.#nextLookAt(last)) {
        seenMoments = this.#life.moments;
        this.#lookedAt = now;
        if (captureDue(now, this.#life.elements, last)) {
          const taken = await this.#capture(Math.min(CAPTURE_MS, this.#lastLookAt - now), false);
          if (taken) {
            last = taken;
            yield taken.snapshot;
            continue;
          }
        }
      }
      await this.#wait(now, broken ? now + RETRY_MS : this.#nextLookAt(last));
    }
    yield await this.#atTheEnd(last?.snapshot);
  }

  /** A document that broke off before it was interactive never will be. */
  get #isCutShort(): boolean {
    return this.#network.brokeOff() && this.#life.started && this.#life.interactiveAt === undefined;
  }

  /** Time is up, or the page is gone or has no end: one more look if it can be had, else what was captured before. */
  async #atTheEnd(last: Snapshot | undefined): Promise<Snapshot> {
    const failure = this.#failure();
    // A document that was cut off is large, and there is time left.
    const limitMs = this.#isCutOff ? Math.max(this.#lastLookAt - performance.now(), this.#reserveMs) : this.#reserveMs;
    const final = this.#gone || failure ? undefined : await this.#capture(limitMs, true);
    if (this.#stopped) throw this.#stopped;
    this.#visit.signal.throwIfAborted();
    const why = final || last ? await this.#whyNow(failure !== undefined) : undefined;
    if (why) this.#told.add(why);
    const answer = final?.snapshot ?? last;
    if (answer) {
      this.#tellMissing(answer);
      return { ...answer, settled: false, notes: this.#notes };
    }
    const message = this.#gone ? CRASHED : 'The page did not answer in time';
    throw failure ?? problem('AssertionFailureError', { message });
  }

  /** What was asked for beside the document, and could not be had. */
  #tellMissing({ screenshot, pageshot, storageState }: Snapshot): void {
    const { options } = this.#visit;
    const wanted = picturesNeeded(options);
    if (options.exportStorageState && !storageState) this.#told.add(NO_STATE);
    if ((wanted.screenshot && !screenshot) || (wanted.pageshot && !pageshot)) this.#told.add(NO_PICTURE);
  }

  /** Why the page is answered as it is, when it did not reach the state that was asked for. */
  async #whyNow(failed: boolean): Promise<string | undefined> {
    if (this.#halted || this.#isCutShort || this.#isCutOff) return undefined;
    if (this.#gone) return NOTES.crashed;
    if (failed) return 'The page sent itself on to what cannot be loaded, this is what was captured before';
    const { waitForSelector, respondTiming } = this.#visit.options;
    const missing = waitForSelector.length ? await this.#missing(waitForSelector) : [];
    if (missing.length) return `waitForSelector did not appear in time: ${missing.join(', ').slice(0, LONGEST_TOLD)}`;
    // A network that never rests is waited for as long as there is time, and no longer.
    const isLoaded = respondTiming === 'network-idle' && this.#life.loadedAt !== undefined;
    return isLoaded ? undefined : 'The page had not come to rest when time was up, this is what was there';
  }

  /** All of them when the page does not answer. */
  async #missing(selectors: readonly string[]): Promise<readonly string[]> {
    return this.#world.call(absent, [...selectors], RETRY_MS).catch(() => selectors);
  }

  /** Why there is no document to read any more, or never was. */
  #failure(): Problem | FileTargetError | undefined {
    const wanted = this.#network.wanted();
    const told = wanted && this.#way.failureOf(new URL(wanted.url()));
    const unreached = this.#network.failure();
    if (unreached) return this.#way.proxyFailure() ?? told ?? unreached;
    const answered = this.#network.answered();
    if (answered && isUnknownCoding(answered)) return unlikeBrowsers(answered.url);
    const isBare = this.#network.brokeOff() && this.#life.elements <= BARE_ELEMENTS;
    if (answered && isBare) return unlikeBrowsers(answered.url);
    const file = () => new FileTargetError(answered?.url ?? this.#visit.url, answered?.mediaType);
    if (this.#isDownload) return file();
    const error = this.#navigationError ?? this.#network.lost();
    if (!error) return undefined;
    // This error comes a little before the event of the download.
    if (String(error).includes('Download is starting')) return file();
    // An answer that the browser takes for no answer, as 304 is when nobody asked whether a copy is still good.
    if (!answered && !this.#life.started && String(error).includes('net::ERR_ABORTED')) return file();
    if (answered && isBodiless(answered.status)) return withoutContent(answered.status);
    if (answered && isFileType(answered.mediaType)) return file();
    const failure = this.#way.proxyFailure() ?? told;
    if (failure) return failure;
    if (isUnread(error) && wanted?.method() === 'GET') return unlikeBrowsers(wanted.url());
    return navigationProblem(error, this.#way.refusedHosts().size > 0);
  }

  /** The main document when it is one that the browser shows but that is no page, or may be none. */
  #otherDocument(): MainDocument | undefined {
    const main = this.#network.main();
    if (!main || !this.#life.started || this.#visit.html !== undefined || main === this.#undeclared) return undefined;
    return declaredMedia(main.mediaType).kind === 'html' ? undefined : main;
  }

  /** Undefined for one that is a page. */
  async #readOther(main: MainDocument): Promise<Snapshot | undefined> {
    if (isFileType(main.mediaType)) throw new FileTargetError(main.url, main.mediaType);
    const headers = main.response?.headers() ?? {};
    if (refreshOf('', main.url, headers.refresh)) {
      await this.#wait(performance.now(), performance.now() + RETRY_MS);
      return undefined;
    }
    const bytes = await bodyOf(main, Math.max(this.#lastLookAt - performance.now(), 1));
    if (!bytes) return this.#readShown(main);
    if (!bytes.length) throw withoutContent(main.status);
    const media = mediaOf(main, bytes);
    if (media.kind === 'html') {
      this.#undeclared = main;
      return undefined;
    }
    if (media.kind !== 'text') throw new FileTargetError(main.url, media.mediaType);
    const { text } = decodeText(bytes, headers['content-type']);
    const storageState = await this.#takeState();
    const seen = { text, ...(await this.#takeShots()), settled: true, hiddenFrames: false, hiddenShadow: false };
    return { ...this.#facts(main.url), ...seen, mediaType: media.mediaType, ...(storageState && { storageState }) };
  }

  /** Text whose end does not come is what the browser shows of it by then; undefined when another document is there. */
  async #readShown(main: MainDocument): Promise<Snapshot | undefined> {
    if (this.#network.main() !== main) return undefined;
    if (performance.now() < this.#lastLookAt) throw unlikeBrowsers(main.url, main.mediaType);
    const shown = await this.#world.call(readText, undefined, AFTER_HALT_MS).catch(() => undefined);
    if (!shown?.text) throw problem('AssertionFailureError', { message: 'The page did not answer in time' });
    const seen = { text: shown.text, settled: false, hiddenFrames: false, hiddenShadow: false, partial: true };
    return { ...this.#facts(main.url), ...seen, notes: [...this.#notes, CUT_NOTES.time] };
  }

  get #notes(): string[] {
    const broken = this.#network.brokeOff() ? CUT_NOTES.broken : undefined;
    const own = [this.#network.main()?.partNote, broken].filter((note) => note !== undefined);
    return [...this.#told, ...own];
  }

  /** What is told beside the document. Submitted HTML has the address that was given, and no answer of a server. */
  #facts(address: string) {
    const { url } = this.#visit;
    const main = this.#isSubmitted ? undefined : this.#network.main();
    return {
      url: this.#isSubmitted && !isWeb(url) ? url : address,
      status: main?.status ?? 200,
      statusText: main?.statusText ?? 'OK',
      mediaType: (main !== this.#undeclared && main?.mediaType) || 'text/html',
      lastModified: main?.lastModified,
      ...(main?.noStore && { noStore: true }),
      ...(main?.robotsTag !== undefined && { robotsTag: main.robotsTag }),
      ...(main?.retryAfter !== undefined && { retryAfter: main.retryAfter }),
      ...((main?.partNote !== undefined || this.#network.brokeOff()) && { partial: true }),
      ...(this.#network.loadedData() && { loadsData: true }),
      notes: this.#notes,
      engine: 'browser' as const,
    };
  }

  #readyAt(): number {
    const { interactiveAt, loadedAt, idle, idleSeen, elements } = this.#life;
    const { resources, media, all } = this.#network;
    const seen = { interactiveAt, loadedAt, mutationIdle: idle, mutationIdleSeen: idleSeen, elements };
    return readyAt({ ...seen, hasTitle: this.#hasTitle, resources, media, network: all }, this.#demands);
  }

  async #isReady(now: number, last: Snapshot | undefined): Promise<boolean> {
    if (this.#life.interactiveAt === undefined) return false;
    if (this.#demands.waitsForSelector) return this.#hasSelectors();
    if (!this.#scriptsDone) return false;
    const { timing, hasScripts } = this.#demands;
    if (timing === 'visible-content' && !hasScripts && last && last !== this.#judged) {
      this.#judged = last;
      if (this.#hasTitle && (await this.#tools.hasContent(last.text))) return true;
    }
    return this.#readyAt() <= now;
  }

  async #hasSelectors(): Promise<boolean> {
    const limitMs = Math.max(Math.min(CAPTURE_MS, this.#lastLookAt - performance.now()), 1);
    return this.#world.call(allPresent, [...this.#selectors], limitMs).catch(() => false);
  }

  #nextLookAt(last: Taken | undefined): number {
    if (!this.#life.started || this.#life.interactiveAt !== undefined) return Number.POSITIVE_INFINITY;
    return Math.max(last?.at ?? 0, this.#lookedAt) + LOOK_EVERY_MS;
  }

  /** Until something happens, or something is due. */
  async #wait(now: number, lookAt: number): Promise<void> {
    const ready = this.#readyAt();
    const poll = this.#demands.waitsForSelector ? now + RETRY_MS : Number.POSITIVE_INFINITY;
    const until = Math.min(this.#lastLookAt, ready > now ? ready : Number.POSITIVE_INFINITY, poll, lookAt);
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, Math.max(until - performance.now(), 1));
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  /** Undefined when the page does not answer, or is between two documents. */
  async #capture(limitMs: number, final: boolean): Promise<Taken | undefined> {
    const { removeOverlay } = this.#visit.options;
    let taken: TakenDocument | undefined;
    try {
      if (removeOverlay) await this.#removeOverlays(limitMs);
      taken = await this.#takeDocument(limitMs);
    } catch (error) {
      const hangs = error instanceof DeadlineExceededError && final && !this.#gone;
      taken = hangs ? await this.#takeHalted() : undefined;
    }
    if (!taken || !isWeb(taken.captured.url)) return undefined;
    await this.#network.checked();
    if (this.#network.failure()) return undefined;
    if (!this.#isSubmitted) await refuseOther(taken, this.#network, this.#world);
    const { url, title, elements, hiddenFrames, hiddenShadow, truncated } = taken.captured;
    if (final && taken.framesLost > 0) {
      const [frames, were] = taken.framesLost === 1 ? ['frame', 'was'] : ['frames', 'were'];
      this.#told.add(`${taken.framesLost} ${frames} of this page could not be read and ${were} left out`);
    }
    if (truncated) this.#told.add(NOTES.long);
    this.#life.elements = elements;
    this.#hasTitle = title.trim() !== '';
    const shots = final ? await this.#takeShots() : {};
    const storageState = final ? await this.#takeState() : undefined;
    // It may have gone too far in the meantime.
    if (this.#stopped) throw this.#stopped;
    const isWhole = this.#network.resources.open === 0 && !this.#network.brokeOff();
    const settled = final && this.#life.idleSeen && isWhole;
    const seen = { text: taken.html, ...shots, settled, hiddenFrames, hiddenShadow };
    const snapshot = { ...this.#facts(url), ...seen, ...(storageState && { storageState }) };
    return { snapshot, elements, at: performance.now() };
  }

  #takeDocument(limitMs: number): Promise<TakenDocument> {
    return takeDocument(this.#world, this.#visit.options, { limitMs, isRefused: this.#network.isRefused });
  }

  /** A page that trips this up keeps its overlays, and is read all the same. */
  async #removeOverlays(limitMs: number): Promise<void> {
    await this.#world.call(removeOverlays, undefined, limitMs).catch((error) => {
      if (error instanceof DeadlineExceededError) throw error;
    });
  }

  /** A page whose scripts do not end is stopped and captured as it stands. */
  async #takeHalted(): Promise<TakenDocument | undefined> {
    this.#halted = true;
    this.#told.add(NOTES.halted);
    try {
      await within(AFTER_HALT_MS, this.#world.halt());
      return await this.#takeDocument(AFTER_HALT_MS);
    } catch {
      return undefined;
    }
  }

  /** One that cannot be had is told of, since it was asked for. */
  async #takeState(): Promise<StorageState | undefined> {
    if (!this.#visit.options.exportStorageState) return undefined;
    const left = Math.max(this.#visit.deadline - performance.now(), STATE_MS.least);
    try {
      const { state, complete } = await takeStorageState(this.#context, Math.min(STATE_MS.most, left));
      if (!complete) this.#told.add('The storage state of the page is too large: some of it was left out');
      return state;
    } catch {
      this.#told.add(NO_STATE);
      return undefined;
    }
  }

  async #takeShots(): Promise<Pick<Snapshot, 'screenshot' | 'pageshot'>> {
    const { viewport } = this.#visit.options;
    const wanted = {
      ...picturesNeeded(this.#visit.options),
      deviceScaleFactor: viewport?.deviceScaleFactor ?? 1,
    };
    const left = this.#visit.deadline - performance.now();
    const limitMs = Math.min(SHOTS_MS.most, Math.max(left, SHOTS_MS.least));
    const { cutAt, ...shots } = await takeShots(this.#world.session, wanted, limitMs);
    if (cutAt !== undefined)
      this.#told.add(`The picture of the page ends after ${cutAt} pixels, the rest was left out`);
    return shots;
  }
}

const NO_STATE = 'The storage state of the page could not be read';
const NO_PICTURE = 'No picture of the page could be taken';

/** What the browser cannot show, or shows in a way of its own; a type that says nothing is left to it. */
const isFileType = (mediaType: string) => ['file', 'other'].includes(declaredMedia(mediaType).kind);

/** Whether the answer is encoded in a way that is not known here; the browser shows it as it is. */
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
