/**
 * Decides when a page is ready to be captured (docs/reference/wire/reader.md, Timing). These are pure functions of the
 * page's state, so that they can be tested without a browser. Times are in milliseconds of the page's clock (page-clock.ts).
 */
import type { RespondTiming } from '../../options/options.ts';

export interface PageState {
  /** When the document became interactive, and when it loaded; `undefined` until then. */
  readonly interactiveAt: number | undefined;
  readonly loadedAt: number | undefined;
  /** Whether the DOM has been unchanged for 0.2 s: at present, and at any time since the document started. */
  readonly mutationIdle: boolean;
  readonly mutationIdleSeen: boolean;
  /** Whether the document has loaded and nothing can change it any more: it has no scripts, no handlers, no frames. */
  readonly still: boolean;
  readonly elements: number;
  readonly hasTitle: boolean;
  /** Number of open requests and the end time of the last one: for resources, for media, and for all requests. */
  readonly resources: Traffic;
  readonly media: Traffic;
  readonly network: Traffic;
  /** Whether the clock of the page can run faster than real time, and until when it did. */
  readonly canAdvance: boolean;
  readonly advancedUntil: number | undefined;
}

export interface Traffic {
  readonly open: number;
  readonly lastEndAt: number;
}

export interface TimingRequirements {
  readonly timing: RespondTiming;
  readonly hasScripts: boolean;
  readonly waitsForSelector: boolean;
}

/** Time for which the network must be idle (docs/reference/wire/reader.md, Timing). */
export const NETWORK_IDLE_MS = 500;

/**
 * Time after a document loaded in which its timers may add content, if the clock of the page can run faster. Content is
 * seldom added later; slides and notices begin to change at about 3 s.
 */
export const LOOK_AHEAD_MS = 2_500;

/** Minimum interval between captures, unless the page grew or shrank by more than `MIN_CHANGE`. */
const CAPTURE_INTERVAL_MS = 1_200;
const MIN_CHANGE = 0.05;

/** Timings that also wait for what does not change the DOM. */
const AWAITS_MEDIA: ReadonlySet<RespondTiming> = new Set<RespondTiming>(['media-idle', 'network-idle']);

const quietAt = ({ open, lastEndAt }: Traffic): number =>
  open > 0 ? Number.POSITIVE_INFINITY : lastEndAt + NETWORK_IDLE_MS;

/**
 * The time at which the page reaches the requested state. A time in the future assumes that nothing else happens until
 * then. Infinity if some event must happen first. `visible-content` depends on the content and is not decided by this
 * function.
 */
export function readyAt(state: PageState, demands: TimingRequirements): number {
  const finalAt = networkIdleAt(state);
  if (demands.waitsForSelector) return Number.POSITIVE_INFINITY;
  if (state.still && !demands.hasScripts && !AWAITS_MEDIA.has(demands.timing)) return 0;
  if (!state.hasTitle) return finalAt;
  return Math.min(finalAt, earlyAt(state, demands));
}

function earlyAt(state: PageState, { timing, hasScripts }: TimingRequirements): number {
  const never = Number.POSITIVE_INFINITY;
  switch (timing) {
    case 'html':
      return hasScripts ? never : (state.interactiveAt ?? never);
    case 'visible-content':
      return never;
    case 'mutation-idle':
      return !hasScripts && state.mutationIdle ? 0 : never;
    case 'resource-idle':
      return state.mutationIdleSeen ? Math.max(quietAt(state.resources), lookAheadUntil(state)) : never;
    case 'media-idle':
      if (!state.mutationIdleSeen) return never;
      return Math.max(quietAt(state.resources), quietAt(state.media), lookAheadUntil(state));
    case 'network-idle':
      return never;
  }
}

const networkIdleAt = (state: PageState): number =>
  state.loadedAt === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(quietAt(state.network), state.loadedAt + NETWORK_IDLE_MS, lookAheadUntil(state));

/** What runs on clocks of its own, such as a worker, has the usual time after the page's clock has run faster. */
function lookAheadUntil({ canAdvance, advancedUntil, still, interactiveAt, loadedAt }: PageState): number {
  if (still) return 0;
  if (canAdvance) return (loadedAt ?? interactiveAt ?? Number.POSITIVE_INFINITY) + LOOK_AHEAD_MS;
  return advancedUntil === undefined ? 0 : advancedUntil + NETWORK_IDLE_MS;
}

/** Whether the clock of the page may run faster than real time: nothing that the timing awaits is on the network. */
export function mayAdvance(now: number, state: PageState, demands: TimingRequirements): boolean {
  const { timing, hasScripts, waitsForSelector } = demands;
  if (!state.canAdvance || state.still || state.interactiveAt === undefined) return false;
  if (hasScripts || waitsForSelector) return false;
  if (now >= readyAt(state, demands)) return false;
  const isLate = timing === 'network-idle' || !state.hasTitle;
  if (isLate) return state.loadedAt !== undefined && state.network.open === 0;
  if (state.resources.open > 0) return false;
  return timing === 'resource-idle' || (timing === 'media-idle' && state.media.open === 0);
}

/** Whether to capture now, based on the last capture. */
export function isCaptureDue(
  now: number,
  elements: number,
  last: { at: number; elements: number } | undefined,
): boolean {
  if (!last) return true;
  const moved = Math.abs(elements - last.elements);
  return now - last.at >= CAPTURE_INTERVAL_MS || moved > last.elements * MIN_CHANGE;
}

/** Interval of captures before the page is interactive, because it may never become interactive. */
const LOOK_INTERVAL_MS = 1_500;
/** Most pages without scripts are ready so soon after they become interactive; their first capture is the last. */
const FIRST_LOOK_MS = 150;

export interface LookState {
  /** Whether a document has started. */
  readonly started: boolean;
  readonly interactiveAt: number | undefined;
  /** Whether the page became interactive, loaded or became idle since the last look. */
  readonly hasChanged: boolean;
  readonly lookedAt: number;
}

/** When to look at a page that is not ready; infinity if something must happen before. */
export function nextLookAt({ started, interactiveAt, hasChanged, lookedAt }: LookState, timing: RespondTiming): number {
  if (started && interactiveAt === undefined) return hasChanged ? 0 : lookedAt + LOOK_INTERVAL_MS;
  if (!hasChanged) return Number.POSITIVE_INFINITY;
  // With these timings the page may be ready, which only a look shows: whether it has a title and visible content.
  if (timing === 'html' || timing === 'visible-content' || interactiveAt === undefined) return 0;
  return interactiveAt + FIRST_LOOK_MS;
}
