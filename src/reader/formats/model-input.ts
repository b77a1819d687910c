/**
 * Creates the input of a model: the HTML of a page, stripped of everything without content and truncated to the model's
 * limit. Pure; runs in a thread.
 */
import { append, attribute, type Child, type Document, ELEMENT, Element, find, TEXT, Text } from '#html/node.ts';
import { innerHtml } from '#html/serialize.ts';
import { imageUrl } from '../extract/content/images.ts';
import { resolveUrl } from '../extract/content/links.ts';
import { withoutControlCharacters } from '../markdown/one-line.ts';
import { isSafeLink, isSafePicture } from '../markdown/url.ts';
import type { Options } from '../options/resolve.ts';
import { keepTokens } from '../tokens.ts';

export interface ModelInput {
  readonly title: string;
  readonly description: string;
  /** URL to show. */
  readonly url: string;
  readonly html: string;
  /** Whether the page exceeded the limit, so that `html` is truncated. */
  readonly cut: boolean;
}

const DROPPED = new Set(
  (
    'script style noscript template svg head iframe frame object embed canvas audio video map link meta param source ' +
    'track datalist dialog'
  ).split(' '),
);
/** Attributes to keep, in addition to URLs. */
const KEPT_ATTRIBUTES = new Set('alt title colspan rowspan scope start datetime type checked value label'.split(' '));
/** Maximum length of an attribute value; longer values are not readable text. */
const MAX_VALUE = 2_000;

export interface CleanOptions extends Pick<Options, 'retainLinks' | 'retainImages'> {
  readonly baseUrl: string;
}

/**
 * The content under `root` as minimal HTML: no scripts, styles, drawings, comments or frames; only meaningful
 * attributes; absolute URLs without embedded data; collapsed white space.
 */
export function cleanHtml(root: Document | Element, options: CleanOptions): string {
  const top = new Element('body');
  const body = root.type === ELEMENT ? root : (find(root, 'body') ?? root);
  /** The open copies of elements, and the number of them that preserve white space. */
  const open: Element[] = [top];
  let preformatted = 0;
  let node: Child | null = body.first;
  while (node) {
    if (node.type === TEXT) {
      const text = preformatted > 0 ? node.value : node.value.replace(/\s+/g, ' ');
      append(open.at(-1)!, new Text(withoutControlCharacters(text)));
    } else if (node.type === ELEMENT && !DROPPED.has(node.name)) {
      const copy = copyElement(node, options);
      if (copy) {
        append(open.at(-1)!, copy);
        if (node.first) {
          open.push(copy);
          if (node.name === 'pre') preformatted++;
          node = node.first;
          continue;
        }
      }
    }
    while (!node.next && node.parent !== body) {
      node = node.parent as Element;
      open.pop();
      if (node.name === 'pre') preformatted--;
    }
    node = node.next;
  }
  return innerHtml(top).replace(/>\s+</g, '> <').trim();
}

function copyElement(element: Element, { baseUrl, retainLinks, retainImages }: CleanOptions): Element | undefined {
  const copy = new Element(element.name, element.namespace);
  for (const { name, value } of element.attributes) {
    if (KEPT_ATTRIBUTES.has(name) && value.length <= MAX_VALUE)
      copy.attributes.push({ name, value: withoutControlCharacters(value) });
  }
  if (element.name === 'img') {
    const url = imageUrl(element, baseUrl);
    if (retainImages === 'none' || !url || url.length > MAX_VALUE || !isSafePicture(url)) return undefined;
    if (!url.startsWith('blob:')) copy.attributes.unshift({ name: 'src', value: url });
  }
  if (element.name === 'a' && retainLinks !== 'none' && retainLinks !== 'text') {
    const href = attribute(element, 'href');
    const url = href === null ? null : resolveUrl(href, baseUrl);
    if (url && url.length <= MAX_VALUE && isSafeLink(url)) copy.attributes.unshift({ name: 'href', value: url });
  }
  return copy;
}

/** Truncates HTML to a number of tokens. Requires the vocabulary (tokens.ts). */
export function cutToTokens(html: string, maxTokens: number): { html: string; cut: boolean } {
  const kept = keepTokens(html, maxTokens);
  if (kept.length === html.length) return { html, cut: false };
  return { html: `${kept}\n<!-- the rest of the page is left out -->`, cut: true };
}
