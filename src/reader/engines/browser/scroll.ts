/**
 * The option `scroll`: scrolls to the end of a page again and again, so that a page that grows while it is read shows
 * more. Each round waits until the page has loaded what the last one requested.
 */
import type { PageDocument, PageElement, PageWindow } from './dom.ts';
import type { World } from './world.ts';

declare const document: PageDocument;
declare const window: PageWindow;
declare const Document: { readonly prototype: PageDocument };

export type Scroll = number | 'idle';

/** With `idle`, a page without an end is scrolled this often. */
const MAX_ROUNDS = 100;
/** How long a page may take to react to a round: to change, or to request something. */
const REACTION_MS = 1_000;
const POLL_MS = 100;
/** Time limit for one call into the page. */
const CALL_MS = 5_000;

interface PageSize {
  readonly height: number;
  readonly elements: number;
}

export interface Scroller {
  /** Call when the page is ready. Scrolls once more and returns true, or returns false if scrolling is over. */
  next(isLoading: () => boolean, until: number): Promise<boolean>;
  /** Why scrolling ended before the page did; `undefined` if it is over. */
  incompleteReason(): string | undefined;
}

export function createScroller(world: World, scroll: Scroll): Scroller {
  const rounds = scroll === 'idle' ? MAX_ROUNDS : scroll;
  let done = 0;
  let before: PageSize | undefined;
  let isOver = false;
  /** What ended scrolling, if a call into the page failed. */
  let failure: 'the deadline' | 'it stopped responding' | undefined;
  const call = <Out>(run: () => Out | Promise<Out>, until: number) =>
    world.call(run, undefined, Math.max(Math.min(CALL_MS, until - performance.now()), 1));
  const hasGrown = (now: PageSize) =>
    before === undefined || now.height > before.height || now.elements > before.elements;

  const step = async (isLoading: () => boolean, until: number): Promise<boolean> => {
    const size = await call(measure, until);
    if (!hasGrown(size) || done >= rounds) return false;
    before = size;
    await call(scrollToEnd, until);
    done++;
    const reactsUntil = Math.min(performance.now() + REACTION_MS, until);
    while (performance.now() < reactsUntil && !isLoading() && !hasGrown(await call(measure, until)))
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return true;
  };

  return {
    async next(isLoading, until) {
      if (isOver) return false;
      // A page that does not respond is read as it is.
      const goesOn = await step(isLoading, until).catch(() => {
        failure = performance.now() < until ? 'it stopped responding' : 'the deadline';
        return false;
      });
      if (goesOn) return true;
      isOver = true;
      if (performance.now() < until) await call(scrollToStart, until).catch(() => {});
      return false;
    },
    incompleteReason() {
      const times = done === 1 ? 'once' : `${done} times`;
      const end = isOver ? failure : 'the deadline';
      if (end) return `The page was scrolled ${times} until ${end} (scroll); it may have more`;
      return scroll === 'idle' && done >= MAX_ROUNDS
        ? `The page was scrolled ${times}, the limit; it may have more`
        : undefined;
    },
  };
}

/** Runs in the page. */
function measure(): { height: number; elements: number } {
  return {
    height: document.scrollingElement?.scrollHeight ?? 0,
    elements: Document.prototype.getElementsByTagName.call(document, '*').length,
  };
}

/** Runs in the page. Scrolls the window, and the largest list that scrolls on its own, one screen at a time. */
async function scrollToEnd(): Promise<void> {
  const MAX_STEPS = 60;
  const FRAME_MS = 100;
  const MAX_LISTS = 3_000;
  type Box = PageElement & { scrollTop: number; scrollHeight: number; clientHeight: number };
  const frame = () =>
    new Promise<void>((resolve) => {
      const late = setTimeout(resolve, FRAME_MS);
      window.requestAnimationFrame(() => {
        clearTimeout(late);
        setTimeout(resolve);
      });
    });
  let list: Box | undefined;
  const all = Document.prototype.getElementsByTagName.call(document, '*') as unknown as ArrayLike<Box>;
  const ofWindow: unknown[] = [document.scrollingElement, document.documentElement, document.body];
  for (let at = 0; at < Math.min(all.length, MAX_LISTS); at++) {
    const box = all[at]!;
    if (ofWindow.includes(box)) continue;
    if (box.scrollHeight <= box.clientHeight + 50 || box.clientHeight < window.innerHeight / 3) continue;
    const { overflowY } = window.getComputedStyle(box);
    if (overflowY !== 'auto' && overflowY !== 'scroll') continue;
    if (!list || box.scrollHeight > list.scrollHeight) list = box;
  }
  const height = () => document.scrollingElement?.scrollHeight ?? 0;
  // From near the end: what is above was scrolled through before.
  let top = Math.max(window.scrollY, height() - MAX_STEPS * window.innerHeight);
  for (let step = 0; step < MAX_STEPS && top + window.innerHeight < height(); step++) {
    top += window.innerHeight;
    window.scrollTo({ top, behavior: 'instant' });
    await frame();
  }
  if (!list) return;
  for (let step = 0; step < MAX_STEPS && list.scrollTop + list.clientHeight + 1 < list.scrollHeight; step++) {
    list.scrollTop += list.clientHeight;
    await frame();
  }
}

/** Runs in the page. */
function scrollToStart(): void {
  window.scrollTo({ top: 0, behavior: 'instant' });
}
