/** Removes overlays of a page: dialogs, cookie banners, newsletter layers (docs/reference/wire/reader.md, Selectors and page changes). */
import type { PageDocument, PageElement, PageWindow } from './dom.ts';

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * Runs in the page. Repeatedly removes the element that covers both opposite corners of the window, or the fixed
 * element over its center, and any ancestors that become empty. Returns the number of overlays removed.
 */
export function removeOverlays(): number {
  const MAX_REMOVED = 20;
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
    // Elements in normal flow belong to the page itself, however large they are.
    if (corner && corner === opposite && corner !== body && corner !== root) {
      const layer = placedAround(corner);
      if (layer) return layer;
    }
    return fixedAround(document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2));
  };
  for (let found = over(); found && removed < MAX_REMOVED; found = over()) {
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
