/** Takes the marks of pages and boxes out of the tree of a document. */
import { BOX_ATTRIBUTE, PAGE_ATTRIBUTE, type PageBox, parseBox } from '#documents/marks.ts';
import {
  attribute,
  type Child,
  type Document,
  detach,
  ELEMENT,
  type Element,
  elements,
  find,
  type Node,
  removeAttribute,
} from '#html/node.ts';

export interface Places {
  /** The page of each top-level node; with `everywhere`, also of each element. */
  readonly pageOf: ReadonlyMap<Node, number>;
  readonly boxOf: ReadonlyMap<Element, PageBox>;
}

/**
 * Returns the places of the nodes and removes their marks from the tree. `everywhere` is needed if elements may be
 * moved.
 */
export function takePlaces(document: Document, everywhere: boolean): Places {
  const pageOf = new Map<Node, number>();
  const boxOf = new Map<Element, PageBox>();
  const body = find(document, 'body');
  let page: number | undefined;
  let next: Child | null;
  for (let node: Child | null = body?.first ?? null; node; node = next) {
    next = node.next;
    const mark = node.type === ELEMENT ? attribute(node, PAGE_ATTRIBUTE) : null;
    if (mark !== null) {
      page = Number(mark);
      detach(node);
    } else if (page !== undefined) {
      pageOf.set(node, page);
      if (everywhere) for (const inner of elements(node)) pageOf.set(inner, page);
    }
  }
  for (const element of elements(document)) {
    const value = attribute(element, BOX_ATTRIBUTE);
    if (value === null) continue;
    removeAttribute(element, BOX_ATTRIBUTE);
    const box = parseBox(value);
    if (box) boxOf.set(element, box);
  }
  return { pageOf, boxOf };
}

/** The page and the box of an element: its own, or those of the closest element around it that has them. */
export function placeOf(element: Element, { pageOf, boxOf }: Places): { page?: number; box?: PageBox } {
  let box: PageBox | undefined;
  let page: number | undefined;
  for (let node: Node | null = element; node && page === undefined; node = node.parent) {
    if (node.type === ELEMENT) box ??= boxOf.get(node);
    page = box?.page ?? pageOf.get(node);
  }
  return { ...(page !== undefined && { page }), ...(box && { box }) };
}
