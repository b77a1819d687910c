/** Serializes XHTML inside a feed as HTML source, which is then cleaned like any other HTML. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { XmlNode } from './tolerant-xml.ts';

const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** The content of an element as HTML. */
export function xmlToHtml(node: XmlNode): string {
  const pieces: string[] = [];
  const waiting: (XmlNode | string | { readonly end: string })[] = node.children.toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') pieces.push(escapeText(next));
    else if ('end' in next) pieces.push(`</${next.end}>`);
    else {
      const name = next.name.slice(next.name.indexOf(':') + 1).toLowerCase();
      const attributes = Object.entries(next.attributes).filter(([key]) => /^[a-z-]+$/i.test(key));
      pieces.push(`<${name}${attributes.map(([key, value]) => ` ${key}="${escapeAttribute(value)}"`).join('')}>`);
      if (VOID.has(name)) continue;
      waiting.push({ end: name });
      for (let at = next.children.length - 1; at >= 0; at--) waiting.push(next.children[at]!);
    }
  }
  return pieces.join('');
}
