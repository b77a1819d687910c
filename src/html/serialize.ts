/**
 * Serializes trees to HTML by the HTML standard's fragment serialization algorithm (section 13.3), for a page without
 * scripting. Parsing the output of a parsed tree gives the same tree, except for the few trees that HTML cannot
 * express, such as a `<p>` moved into a `<p>`.
 */
import { type Child, COMMENT, ELEMENT, type Element, type Node, type Parent, TEXT, type Text } from './node.ts';

const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
);
/** Elements with text that is not markup and is written unchanged. */
const RAW = new Set('style script xmp iframe noembed noframes plaintext'.split(' '));

/** A node as HTML with its content; for a document, its children without a doctype. */
export function outerHtml(node: Node): string {
  if (node.type !== ELEMENT) return node.type === TEXT || node.type === COMMENT ? leaf(node) : innerHtml(node);
  return startTag(node) + (isVoid(node) ? '' : `${innerHtml(node)}</${node.name}>`);
}

/** The content of a node as HTML; for a template, its template content. */
export function innerHtml(node: Node): string {
  if (node.type === TEXT || node.type === COMMENT) return '';
  const open: Element[] = [];
  let out = '';
  let next: Child | null = holderOf(node).first;
  for (;;) {
    if (next?.type === ELEMENT) {
      out += startTag(next);
      if (isVoid(next)) next = next.next;
      else {
        open.push(next);
        next = holderOf(next).first;
      }
    } else if (next) {
      out += leaf(next);
      next = next.next;
    } else {
      const done = open.pop();
      if (!done) return out;
      out += `</${done.name}>`;
      next = done.next;
    }
  }
}

const holderOf = (node: Parent): Parent => (node.type === ELEMENT && node.content) || node;

const isVoid = (element: Element): boolean => element.namespace === 'html' && VOID.has(element.name);

function startTag(element: Element): string {
  let tag = `<${element.name}`;
  for (const { name, value, prefix } of element.attributes) {
    tag += ` ${prefix ? `${prefix}:` : ''}${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
}

function leaf(node: Exclude<Child, Element>): string {
  if (node.type === COMMENT) return `<!--${node.value}-->`;
  return isRaw(node) ? node.value : escapeText(node.value);
}

const isRaw = ({ parent }: Text): boolean =>
  parent?.type === ELEMENT && parent.namespace === 'html' && RAW.has(parent.name);

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\u00a0': '&nbsp;',
};

/** Escapes text between tags. */
export const escapeText = (text: string): string =>
  /[&<>\u00a0]/.test(text) ? text.replace(/[&<>\u00a0]/g, (unit) => REFERENCES[unit]!) : text;

/** Escapes a value between double quotes. */
export const escapeAttribute = (value: string): string =>
  /[&<>"\u00a0]/.test(value) ? value.replace(/[&<>"\u00a0]/g, (unit) => REFERENCES[unit]!) : value;
