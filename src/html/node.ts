/**
 * The tree of an HTML document. It has the structure that parse5 builds, but children are linked instead of stored in
 * arrays, so that the cost of removing, moving and visiting a node does not depend on the size of the tree. There are
 * four kinds of node, distinguished by `type`.
 *
 * Element and attribute names are as in the HTML standard after parsing: lower case for HTML elements, adjusted case
 * for SVG and MathML (`foreignObject`, `viewBox`).
 */

export const ELEMENT = 1;
export const TEXT = 3;
export const COMMENT = 8;
export const DOCUMENT = 9;

export type Namespace = 'html' | 'svg' | 'math';

export interface Attribute {
  name: string;
  value: string;
  prefix?: string | undefined;
}

export type Parent = Document | Element;
export type Child = Element | Text | Comment;
export type Node = Parent | Child;

export class Document {
  readonly type = DOCUMENT;
  readonly parent = null;
  first: Child | null = null;
  last: Child | null = null;
  /** True if the document is in quirks mode (no doctype, or an old one). */
  quirks = false;
  /** False if the parser found no `<base>`, which avoids searching the whole page. */
  mayHaveBase = true;
}

export class Element {
  readonly type = ELEMENT;
  parent: Parent | null = null;
  prev: Child | null = null;
  next: Child | null = null;
  first: Child | null = null;
  last: Child | null = null;
  name: string;
  namespace: Namespace;
  attributes: Attribute[];
  /** The content of a `<template>`: a separate tree, not among the children. */
  content: Document | null = null;

  constructor(name: string, namespace: Namespace = 'html', attributes: Attribute[] = []) {
    this.name = name;
    this.namespace = namespace;
    this.attributes = attributes;
  }
}

export class Text {
  readonly type = TEXT;
  parent: Parent | null = null;
  prev: Child | null = null;
  next: Child | null = null;
  value: string;

  constructor(value: string) {
    this.value = value;
  }
}

export class Comment {
  readonly type = COMMENT;
  parent: Parent | null = null;
  prev: Child | null = null;
  next: Child | null = null;
  value: string;

  constructor(value: string) {
    this.value = value;
  }
}

export const isElement = (node: Node | null): node is Element => node !== null && node.type === ELEMENT;

/** The value of an attribute, or null if the element does not have it. */
export function attribute(element: Element, name: string): string | null {
  const { attributes } = element;
  for (let at = 0; at < attributes.length; at++) if (attributes[at]!.name === name) return attributes[at]!.value;
  return null;
}

export const hasAttribute = (element: Element, name: string): boolean =>
  element.attributes.some((entry) => entry.name === name);

export function setAttribute(element: Element, name: string, value: string): void {
  const found = element.attributes.find((entry) => entry.name === name);
  if (found) found.value = value;
  else element.attributes.push({ name, value });
}

export function removeAttribute(element: Element, name: string): void {
  const at = element.attributes.findIndex((entry) => entry.name === name);
  if (at >= 0) element.attributes.splice(at, 1);
}

/** Removes a node from its parent; a node without a parent is not changed. */
export function detach(node: Child): void {
  const { parent, prev, next } = node;
  if (!parent) return;
  if (prev) prev.next = next;
  else parent.first = next;
  if (next) next.prev = prev;
  else parent.last = prev;
  node.parent = null;
  node.prev = null;
  node.next = null;
}

/** Moves a node to the end of `parent`. */
export function append(parent: Parent, node: Child): void {
  detach(node);
  node.parent = parent;
  node.prev = parent.last;
  if (parent.last) parent.last.next = node;
  else parent.first = node;
  parent.last = node;
}

/** Moves a node directly before `reference`, which must have a parent. */
export function insertBefore(node: Child, reference: Child): void {
  detach(node);
  const parent = reference.parent!;
  node.parent = parent;
  node.next = reference;
  node.prev = reference.prev;
  if (reference.prev) reference.prev.next = node;
  else parent.first = node;
  reference.prev = node;
}

/** Replaces an element with its children. */
export function unwrap(element: Element): void {
  while (element.first) insertBefore(element.first, element);
  detach(element);
}

/** The node after `node` in document order, inside `root`; null at the end. `skip` skips the children of `node`. */
export function following(node: Node, root: Node, skip = false): Child | null {
  if (!skip && (node.type === ELEMENT || node.type === DOCUMENT) && node.first) return node.first;
  let at: Node = node;
  while (at !== root) {
    const child = at as Child;
    if (child.next) return child.next;
    if (!child.parent) return null;
    at = child.parent;
  }
  return null;
}

/** Every node under `root` in document order, without `root`. Nodes that were already yielded may be removed. */
export function* descendants(root: Node): Generator<Child> {
  let node = following(root, root);
  while (node) {
    yield node;
    node = following(node, root);
  }
}

/** The elements under `root` in document order, without `root`. If `name` is passed, only elements with that name. */
export function* elements(root: Node, name?: string): Generator<Element> {
  let node = following(root, root);
  while (node) {
    if (node.type === ELEMENT && (name === undefined || node.name === name)) yield node;
    node = following(node, root);
  }
}

export function* children(parent: Parent): Generator<Child> {
  for (let node = parent.first; node; ) {
    const next: Child | null = node.next;
    yield node;
    node = next;
  }
}

/** The first element with a name under `root`, or null. */
export function find(root: Node, name: string): Element | null {
  let node = following(root, root);
  while (node && !(node.type === ELEMENT && node.name === name)) node = following(node, root);
  return node as Element | null;
}

/** The concatenated text of all text nodes under `node` (DOM's textContent). */
export function textOf(node: Node): string {
  if (node.type === TEXT) return node.value;
  if (node.type === COMMENT) return '';
  let text = '';
  for (let child = following(node, node); child; child = following(child, node)) {
    if (child.type === TEXT) text += child.value;
  }
  return text;
}

/** A deep copy of a node, without a parent. */
export function clone<T extends Node>(source: T): T {
  const top = copyOne(source);
  let from: Node = source;
  let to: Node = top;
  let next = following(from, source);
  while (next) {
    // Climb in both trees until the copy's parent corresponds to the parent of `next`.
    while (next.parent !== from) {
      from = (from as Child).parent!;
      to = (to as Child).parent!;
    }
    const twin = copyOne(next);
    append(to as Parent, twin);
    from = next;
    to = twin;
    next = following(from, source);
  }
  return top as T;
}

function copyOne(node: Child): Child;
function copyOne(node: Node): Node;
function copyOne(node: Node): Node {
  switch (node.type) {
    case ELEMENT: {
      const copy = new Element(
        node.name,
        node.namespace,
        node.attributes.map((entry) => ({ ...entry })),
      );
      copy.content = node.content && clone(node.content);
      return copy;
    }
    case TEXT:
      return new Text(node.value);
    case COMMENT:
      return new Comment(node.value);
    case DOCUMENT: {
      const copy = new Document();
      copy.quirks = node.quirks;
      copy.mayHaveBase = node.mayHaveBase;
      return copy;
    }
  }
}
