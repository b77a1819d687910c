/**
 * When a page is ready to be answered: the contract's table (section 9) as pure functions over what is known of the
 * page, so that they can be read and tested without a browser. Times are `performance.now()` milliseconds.
 */
import type { RespondTiming } from '../../options/options.ts';

export interface PageState {
  /** When the document became interactive, and when it was loaded; undefined until then. */
  readonly interactiveAt: number | undefined;
  readonly loadedAt: number | undefined;
  /** Whether the structure has been at rest for 0.2 s, now, and ever since the document began. */
  readonly mutationIdle: boolean;
  readonly mutationIdleSeen: boolean;
  readonly elements: number;
  readonly hasTitle: boolean;
  /** Open requests, and when the last one ended: of what a document is made by, of that and media, of all. */
  readonly resources: Traffic;
  readonly media: Traffic;
  readonly network: Traffic;
}

export interface Traffic {
  readonly open: number;
  readonly lastEndAt: number;
}

export interface Demands {
  readonly timing: RespondTiming;
  readonly hasScripts: boolean;
  readonly waitsForSelector: boolean;
}

/** How long nothing must have been requested (contract, section 9). */
export const QUIET_MS = 500;

/** Least time between two captures, unless the page grew or shrank much. */
const CAPTURE_EVERY_MS = 1_200;
const MUCH = 0.05;

const quietAt = ({ open, lastEndAt }: Traffic): number => (open > 0 ? Number.POSITIVE_INFINITY : lastEndAt + QUIET_MS);

/**
 * When the state that the timing asks for is reached: a time that may lie ahead if nothing else happens, or Infinity
 * while something must happen first. What only a look at the content can tell (`visible-content`) is not decided here.
 */
export function readyAt(state: PageState, demands: Demands): number {
  const finalAt = networkIdleAt(state);
  if (demands.waitsForSelector) return Number.POSITIVE_INFINITY;
  if (!state.hasTitle) return finalAt;
  return Math.min(finalAt, earlyAt(state, demands));
}

function earlyAt(state: PageState, { timing, hasScripts }: Demands): number {
  const never = Number.POSITIVE_INFINITY;
  switch (timing) {
    case 'html':
      return hasScripts ? never : (state.interactiveAt ?? never);
    case 'visible-content':
      return never;
    case 'mutation-idle':
      return !hasScripts && state.mutationIdle ? 0 : never;
    case 'resource-idle':
      return state.mutationIdleSeen ? quietAt(state.resources) : never;
    case 'media-idle':
      return state.mutationIdleSeen ? Math.max(quietAt(state.resources), quietAt(state.media)) : never;
    case 'network-idle':
      return never;
  }
}

const networkIdleAt = (state: PageState): number =>
  state.loadedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(quietAt(state.network), state.loadedAt + QUIET_MS);

/** Whether a capture is due at a moment worth one, given the last. */
export function captureDue(now: number, elements: number, last: { at: number; elements: number } | undefined): boolean {
  if (!last) return true;
  const moved = Math.abs(elements - last.elements);
  return now - last.at >= CAPTURE_EVERY_MS || moved > last.elements * MUCH;
}
