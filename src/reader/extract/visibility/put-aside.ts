/**
 * Pieces of a page that nobody can see, which can be put back for a while: what the page is made of is known better with
 * them in their places, though none of them gets into an answer.
 */
import { append, type Child, detach, type Element, insertBefore, type Parent } from '#html/node.ts';

interface Place {
  readonly parent: Parent;
  readonly next: Child | null;
}

export class PutAside {
  private readonly places = new Map<Element, Place>();

  /** Takes an element out of its tree, the last of all that are taken out of that. */
  take(element: Element): void {
    this.places.set(element, { parent: element.parent!, next: element.next });
    detach(element);
  }

  get size(): number {
    return this.places.size;
  }

  has(element: Element): boolean {
    return this.places.has(element);
  }

  /** What `work` gives while all stand where they stood; the tree must not be changed meanwhile. */
  withAll<T>(work: () => T): T {
    for (const [element, { parent, next }] of [...this.places].reverse()) {
      if (next) insertBefore(element, next);
      else append(parent, element);
    }
    const result = work();
    for (const element of this.places.keys()) detach(element);
    return result;
  }
}
