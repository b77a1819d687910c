/**
 * Writes a table as HTML, for callers that need its spans and nesting. Keeps only meaningful elements and attributes,
 * without scripts or styles. URLs are absolute. The HTML contains no blank lines, because they would end the block.
 */
import { attribute, type Child, ELEMENT, type Element, TEXT, type Text } from '#html/node.ts';
import { imageUrl } from '../extract/content/images.ts';
import { resolveUrl } from '../extract/content/links.ts';
import { areSeparateWords } from './adjacent-words.ts';
import { altText } from './alt-text.ts';
import { mediaText } from './elements/media.ts';
import type { ConversionState } from './state.ts';
import { isSafeLink } from './url.ts';

const KEPT: ReadonlySet<string> = new Set(
  (
    'table caption colgroup col thead tbody tfoot tr th td a b strong i em u s del ins sub sup code pre kbd samp br hr ' +
    'p ul ol li dl dt dd blockquote h1 h2 h3 h4 h5 h6 img'
  ).split(' '),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'col']);
const DROPPED: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'svg', 'textarea', 'select']);
const MEDIA: ReadonlySet<string> = new Set(['audio', 'embed', 'iframe', 'object', 'video']);
const CODE: ReadonlySet<string> = new Set(['code', 'kbd', 'pre', 'samp']);
const ATTRIBUTES: ReadonlySet<string> = new Set(['colspan', 'rowspan', 'align', 'span', 'start', 'scope']);

const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapeValue = (text: string): string => escapeText(text).replace(/"/g, '&quot;');

export function tableToHtml(table: Element, state: ConversionState): string {
  const out: string[] = [startTag(table, state)];
  /** Open elements, innermost last. */
  const open: Element[] = [table];
  let lastText: Text | null = null;
  let node: Child | null = table.first;
  while (open.length > 0) {
    if (!node) {
      const done: Element = open.pop()!;
      out.push(endTag(done));
      node = done.next;
      continue;
    }
    if (node.type === TEXT) {
      if (lastText && areSeparateWords(lastText, node) && !open.some(({ name }) => CODE.has(name))) out.push(' ');
      lastText = node;
      out.push(escapeText(state.clean(node.value).replace(/\s+/g, ' ')));
    } else if (node.type === ELEMENT && MEDIA.has(node.name)) out.push(mediaText(state, node, 'html'));
    else if (node.type === ELEMENT && !DROPPED.has(node.name) && !state.pageTools.has(node)) {
      out.push(startTag(node, state));
      open.push(node);
      node = node.first;
      continue;
    }
    node = node.next;
  }
  return out.join('').replace(/> </g, '><');
}

const endTag = ({ name }: Element): string => (KEPT.has(name) && !VOID.has(name) ? `</${name}>` : '');

function startTag(element: Element, state: ConversionState): string {
  const { name } = element;
  if (!KEPT.has(name) || (name === 'img' && state.options.retainImages === 'none')) return '';
  let attributes = '';
  const add = (key: string, value: string | null) => {
    if (value !== null) attributes += ` ${key}="${escapeValue(value.replace(/\s+/g, ' '))}"`;
  };
  for (const { name: key, value } of element.attributes) if (ATTRIBUTES.has(key)) add(key, value);
  if (name === 'a') {
    const url = resolveUrl(attribute(element, 'href') ?? '', state.options.baseUrl);
    if (attribute(element, 'href') !== null && url !== null && isSafeLink(url)) add('href', url);
  }
  if (name === 'img') {
    const { baseUrl, keepImgDataUrl } = state.options;
    const url = imageUrl(element, baseUrl, { keepDataUrl: keepImgDataUrl });
    if (url === null) return '';
    const alt = altText(state, element, url);
    add('src', url);
    if (alt || attribute(element, 'alt') !== null) add('alt', alt);
    state.images.push({ index: state.images.length + 1, url, alt });
  }
  return `<${name}${attributes}>`;
}
