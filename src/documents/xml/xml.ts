/**
 * Parses XML with namespaces into a small tree. Names have the prefixes of namespaces.ts: `w:p` is a Word paragraph
 * regardless of the prefix in the file. Names without a namespace have no prefix; names in unknown namespaces have `?`.
 */
import { type Attributes, attributeIn, readXml, type XmlInput } from './read.ts';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly XmlNode[];
}

/** Text is a string. Comments and processing instructions are left out. */
export type XmlNode = XmlElement | string;

export interface ParsedXml {
  /** `undefined` if the document has no element. */
  readonly root: XmlElement | undefined;
  /** False if the source is cut off or not well-formed. The tree then contains everything before the error. */
  readonly complete: boolean;
}

interface Building {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: XmlNode[];
}

const NO_CHILDREN: XmlNode[] = [];

/**
 * Returns the root element. Throws DocumentError: `damaged` if the document is not well-formed, `too large` beyond the
 * limits of read.ts.
 */
export function parseXml(input: XmlInput): XmlElement {
  const { root } = build(input, false);
  return root!;
}

/** Like `parseXml`, but keeps everything before an error. */
export const parseXmlPrefix = (input: XmlInput): ParsedXml => build(input, true);

function build(input: XmlInput, lenient: boolean): ParsedXml {
  const open: Building[] = [];
  let root: Building | undefined;
  const handler = {
    open(name: string, attributes: Attributes) {
      const element: Building = { name, attributes, children: [] };
      if (open.length > 0) open.at(-1)!.children.push(element);
      else root = element;
      open.push(element);
    },
    empty(name: string, attributes: Attributes) {
      const element: Building = { name, attributes, children: NO_CHILDREN };
      if (open.length > 0) open.at(-1)!.children.push(element);
      else root = element;
    },
    close() {
      open.pop();
    },
    text(text: string) {
      open.at(-1)!.children.push(text);
    },
  };
  const complete = readXml(input, handler, { lenient });
  return { root, complete };
}

export const isElement = (node: XmlNode): node is XmlElement => typeof node !== 'string';

/** The value of an attribute by its prefixed name. */
export const attribute = (element: XmlElement, name: string): string | undefined =>
  attributeIn(element.attributes, name);

/** The first child element with this name. */
export function child(element: XmlElement | undefined, name: string): XmlElement | undefined {
  if (element) for (const node of element.children) if (typeof node !== 'string' && node.name === name) return node;
  return undefined;
}

/** The child elements; with `name`, only those with this name. */
export function children(element: XmlElement | undefined, name?: string): XmlElement[] {
  if (!element) return [];
  return element.children.filter(
    (node): node is XmlElement => typeof node !== 'string' && (name === undefined || node.name === name),
  );
}

/** Follows a path of child names to an element. */
export function childAt(element: XmlElement | undefined, ...names: readonly string[]): XmlElement | undefined {
  let at = element;
  for (const name of names) at = child(at, name);
  return at;
}

/** The descendants of an element in document order; with `name`, only those with this name. */
export function* descendants(element: XmlElement, name?: string): Generator<XmlElement> {
  const stack: { readonly nodes: readonly XmlNode[]; at: number }[] = [{ nodes: element.children, at: 0 }];
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    if (top.at >= top.nodes.length) {
      stack.pop();
      continue;
    }
    const node = top.nodes[top.at++]!;
    if (typeof node === 'string') continue;
    if (name === undefined || node.name === name) yield node;
    if (node.children.length > 0) stack.push({ nodes: node.children, at: 0 });
  }
}

/** The first descendant with this name. */
export function find(element: XmlElement | undefined, name: string): XmlElement | undefined {
  if (element) for (const found of descendants(element, name)) return found;
  return undefined;
}

/** All text under an element, not trimmed. */
export function textOf(element: XmlElement | undefined): string {
  if (!element) return '';
  const { children: nodes } = element;
  if (nodes.length === 0) return '';
  if (nodes.length === 1 && typeof nodes[0] === 'string') return nodes[0];
  let text = '';
  const stack: { readonly nodes: readonly XmlNode[]; at: number }[] = [{ nodes, at: 0 }];
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const node = top.nodes[top.at++];
    if (node === undefined) stack.pop();
    else if (typeof node === 'string') text += node;
    else stack.push({ nodes: node.children, at: 0 });
  }
  return text;
}
