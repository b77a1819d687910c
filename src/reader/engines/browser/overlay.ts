/** Takes away what lies over a page: dialogs, cookie banners, newsletter layers (contract, section 10). */
import type { PageDocument, PageElement, PageWindow } from './dom.ts';

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * Runs in the page. Removes the element that covers both opposite corners of the window, or the fixed one over its
 * centre, with the ancestors that are left empty, until there is none. Returns how many were removed.
 */
export function removeOverlays(): number {
  const MOST = 20;
  const root = document.documentElement;
  const body = document.body;
  let removed = 0;
  const fixedAround = (element: PageElement | null) => {
    for (let up = element; up && up !== body && up !== root; up = up.parentElement) {
      const { position } = window.getComputedStyle(up);
      if (position === 'fixed' || up.localName === 'dialog') return up;
    }
    return undefined;
  };
  const placedAround = (element: PageElement | null) => {
    for (let up = element; up && up !== body && up !== root; up = up.parentElement) {
      const { position } = window.getComputedStyle(up);
      if (position === 'fixed' || position === 'absolute' || position === 'sticky') return up;
    }
    return undefined;
  };
  const over = (): PageElement | undefined => {
    const right = window.innerWidth - 2;
    const bottom = window.innerHeight - 2;
    const corner = document.elementFromPoint(1, 1);
    const opposite = document.elementFromPoint(right, bottom);
    // What lies in the flow is the page itself, however large.
    if (corner && corner === opposite && corner !== body && corner !== root) {
      const layer = placedAround(corner);
      if (layer) return layer;
    }
    return fixedAround(document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2));
  };
  for (let found = over(); found && removed < MOST; found = over()) {
    let parent = found.parentElement;
    found.remove();
    removed++;
    while (parent && parent !== body && parent !== root && !parent.childElementCount && !parent.textContent?.trim()) {
      const empty: PageElement = parent;
      parent = empty.parentElement;
      empty.remove();
    }
  }
  return removed;
}
