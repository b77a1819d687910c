/**
 * Invisible parts of a page that can be reinserted temporarily. They help to judge the page, but are never part of a
 * result.
 */
import { append, type Child, detach, type Element, insertBefore, type Parent } from '#html/node.ts';

interface Place {
  readonly parent: Parent;
  readonly next: Child | null;
}

export class DetachedElements {
  private readonly places = new Map<Element, Place>();

  /** Removes an element from its tree. All other removals from that tree must come first. */
  detach(element: Element): void {
    this.places.set(element, { parent: element.parent!, next: element.next });
    detach(element);
  }

  get size(): number {
    return this.places.size;
  }

  has(element: Element): boolean {
    return this.places.has(element);
  }

  /**
   * Runs `work` with all elements at their original positions, and returns its result. `work` must not change the tree.
   */
  withAllReattached<T>(work: () => T): T {
    for (const [element, { parent, next }] of [...this.places].reverse()) {
      if (next) insertBefore(element, next);
      else append(parent, element);
    }
    const result = work();
    for (const element of this.places.keys()) detach(element);
    return result;
  }
}
