/**
 * Runs at the start of each document of the main frame, in the isolated world. Reports when the document is
 * interactive, loaded and idle, and scrolls through it so that lazy-loaded content appears.
 */
import type { PageDocument, PageElement, PageMutation, PageObserver, PageWindow } from './dom.ts';

declare const document: PageDocument;
declare const window: PageWindow;
declare const Document: { readonly prototype: PageDocument };
declare const Element: { readonly prototype: PageElement; [Symbol.hasInstance](value: unknown): boolean };
declare const MutationObserver: new (callback: (records: readonly PageMutation[]) => void) => PageObserver;

/**
 * `[kind, number of elements]` in JSON. `busy` follows `idle` when the DOM changes again. `still` takes the place of
 * `load` for a document that nothing can change any more. `scroll` and `scrolled` enclose the time in which the document
 * is scrolled through.
 */
export type TrackerMessage = [
  'start' | 'interactive' | 'load' | 'still' | 'busy' | 'idle' | 'scroll' | 'scrolled',
  number,
];

export function trackDocument(tell: (message: string) => void): void {
  if (window.parent !== window) return;
  const IDLE_MS = 200;
  const MAX_STEPS = 40;
  const STEP_MS = 25;
  const MAX_STEP_MS = 250;
  /** Whatever can run a script, of this document or of a frame that reaches into it, or leave the document. */
  const ACTIVE =
    'script:not([type="application/ld+json" i], [type="application/json" i]), iframe, frame, object, embed, fencedframe, meta[http-equiv="refresh" i]';
  let lastChange = performance.now();
  let scrolling = false;
  let interactive = false;
  let idle = false;
  const HANDLERS = 'boolean(//@*[starts-with(local-name(), "on")])';
  /** `XPathResult.BOOLEAN_TYPE` */
  const BOOLEAN = 3;
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot')!.get!;
  /** Whether the document has had an active element, which may have removed itself. */
  let active = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Called through the prototype, because a named element could shadow the method of the document.
  const count = () => Document.prototype.getElementsByTagName.call(document, '*').length;
  const say = (kind: string) => tell(JSON.stringify([kind, count()]));

  const checkIdle = () => {
    timer = undefined;
    const left = lastChange + IDLE_MS - performance.now();
    if (left > 1 || scrolling) {
      timer = setTimeout(checkIdle, Math.max(left, STEP_MS));
    } else if (!idle) {
      idle = true;
      say('idle');
    }
  };
  const watch = () => {
    if (timer === undefined && interactive) timer = setTimeout(checkIdle, IDLE_MS);
  };
  // The parser adds elements one by one, and other ways to add them need a script.
  const isActive = (node: unknown) => node instanceof Element && Element.prototype.matches.call(node, ACTIVE);
  const noteActive = (records: readonly PageMutation[]) => {
    for (let at = 0; !active && at < records.length; at++) {
      const { addedNodes } = records[at]!;
      for (let node = 0; !active && node < addedNodes.length; node++) active = isActive(addedNodes[node]);
    }
  };
  // Event handlers in attributes run scripts too, and the scripts in a shadow root are seen by nobody outside.
  const isStill = () => {
    if (active || Document.prototype.querySelector.call(document, ACTIVE)) return false;
    const all = Document.prototype.getElementsByTagName.call(document, '*');
    for (let at = 0; at < all.length; at++) if (shadowOf.call(all[at]!)) return false;
    return !Document.prototype.evaluate.call(document, HANDLERS, document, null, BOOLEAN, null).booleanValue;
  };
  const changed = (records: readonly PageMutation[]) => {
    noteActive(records);
    lastChange = performance.now();
    if (idle) {
      idle = false;
      say('busy');
    }
    watch();
  };

  // Intersection observers run when a frame is rendered, which takes longer on a busy machine.
  const pause = () =>
    new Promise<void>((resolve) => {
      const late = setTimeout(resolve, MAX_STEP_MS);
      const drawn = () => {
        clearTimeout(late);
        setTimeout(resolve);
      };
      window.requestAnimationFrame(() => window.requestAnimationFrame(drawn));
    });
  const scroll = async () => {
    const height = () => document.scrollingElement?.scrollHeight ?? 0;
    if (height() <= window.innerHeight) return;
    scrolling = true;
    say('scroll');
    for (let step = 1, top = 0; step <= MAX_STEPS && top + window.innerHeight < height(); step++) {
      top = step * window.innerHeight;
      window.scrollTo({ top, behavior: 'instant' });
      await pause();
    }
    window.scrollTo({ top: 0, behavior: 'instant' });
    scrolling = false;
    say('scrolled');
  };

  const whenInteractive = () => {
    interactive = true;
    lastChange = performance.now();
    say('interactive');
    watch();
    void scroll();
  };

  say('start');
  new MutationObserver(changed).observe(document, { childList: true, subtree: true });
  if (document.readyState === 'loading')
    document.addEventListener('DOMContentLoaded', whenInteractive, { once: true, capture: true });
  else whenInteractive();
  window.addEventListener(
    'load',
    () => {
      say(isStill() ? 'still' : 'load');
      // Loading may have added content below the first screen.
      void scroll();
    },
    { once: true },
  );
}
