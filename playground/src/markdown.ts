/**
 * Renders untrusted Markdown. Its HTML is parsed into inert nodes. Only allowed elements, with few attributes, are then
 * created anew from them. No untrusted string is ever inserted into the page as HTML.
 */
import { inertNodes } from './inert.ts';
import { markdownToHtml } from './markdown-to-html.ts';

const ALLOWED_ELEMENTS = new Set(
  (
    'a abbr b blockquote br caption cite code col colgroup dd del details dfn dl dt em figcaption figure h1 h2 h3 h4 h5 ' +
    'h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var'
  ).split(' '),
);
/** Elements that are removed together with their content. */
const REMOVED_ELEMENTS = new Set(
  'script style template title iframe object embed noscript noembed noframes svg math textarea select'.split(' '),
);
/** Elements below this depth are flattened, because browser layout is recursive. */
const MAX_DEPTH = 60;
/** Elements beyond this number are dropped, to keep the layout fast. */
const MAX_ELEMENTS = 20_000;

export interface RenderedMarkdown {
  readonly source: string;
  /** YAML front matter. */
  readonly frontmatter: string | undefined;
  /** `undefined` if the Markdown is too large to render. */
  readonly content: DocumentFragment | undefined;
}

export async function renderMarkdown(text: string): Promise<RenderedMarkdown> {
  const found = /^---\n([\s\S]{0,20000}?)\n---(?:\n|$)/.exec(text);
  const html = await markdownToHtml(found ? text.slice(found[0].length) : text);
  return {
    source: text,
    frontmatter: found?.[1],
    content: html === undefined ? undefined : sanitizeTree(inertNodes(html)),
  };
}

interface Step {
  readonly from: Node;
  readonly into: Node;
  readonly depth: number;
}

function sanitizeTree(parsed: Node): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const steps: Step[] = [];
  const later = (parent: Node, into: Node, depth: number) => {
    for (let child = parent.lastChild; child; child = child.previousSibling) steps.push({ from: child, into, depth });
  };
  later(parsed, fragment, 0);
  let elements = 0;
  for (let step = steps.pop(); step; step = steps.pop()) {
    const { from, into, depth } = step;
    if (from.nodeType === Node.TEXT_NODE) into.appendChild(document.createTextNode(from.nodeValue ?? ''));
    if (!(from instanceof Element)) continue;
    const name = from.localName;
    if (REMOVED_ELEMENTS.has(name)) continue;
    const made = depth < MAX_DEPTH ? elementFor(from, name) : undefined;
    if (made) into.appendChild(made);
    if (++elements > MAX_ELEMENTS) break;
    if (name !== 'img') later(from, made ?? into, depth + 1);
  }
  return fragment;
}

function elementFor(from: Element, name: string): Element | undefined {
  if (name === 'img') return imageFor(from);
  if (name === 'input') return checkboxFor(from);
  if (!ALLOWED_ELEMENTS.has(name)) return undefined;
  const made = document.createElement(name);
  if (name === 'a') setLink(made as HTMLAnchorElement, from.getAttribute('href'));
  for (const attribute of ['colspan', 'rowspan', 'start'] as const) {
    const value = from.getAttribute(attribute);
    if (value && /^\d{1,4}$/.test(value)) made.setAttribute(attribute, value);
  }
  const align = from.getAttribute('align');
  if (align === 'right' || align === 'center') made.className = `to-${align}`;
  return made;
}

function setLink(link: HTMLAnchorElement, url: string | null): void {
  if (!url || !/^(?:https?:|mailto:)/i.test(url)) return;
  link.href = url;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}

/** Shows images that are data URLs. Replaces all others with a link that contains their alt text. */
function imageFor(from: Element): Element {
  const url = from.getAttribute('src') ?? '';
  const words = from.getAttribute('alt') || 'picture';
  if (/^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i.test(url)) {
    const picture = document.createElement('img');
    picture.src = url;
    picture.alt = words;
    return picture;
  }
  const inLink = from.closest('a') !== null;
  const made = document.createElement(inLink ? 'span' : 'a');
  if (made instanceof HTMLAnchorElement) setLink(made, url);
  made.className = 'picture';
  made.textContent = words;
  return made;
}

function checkboxFor(from: Element): Element | undefined {
  if (from.getAttribute('type') !== 'checkbox') return undefined;
  const made = document.createElement('input');
  made.type = 'checkbox';
  made.checked = from.hasAttribute('checked');
  made.disabled = true;
  return made;
}
