/** Cleans the HTML in feed entries: elements on an allowlist are kept, and all others are removed or unwrapped. */
import { hidesText } from '#html/css/inline-style.ts';
import {
  attribute,
  type Child,
  COMMENT,
  type Document,
  descendants,
  detach,
  type Element,
  following,
  isElement,
  TEXT,
  unwrap,
} from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { escapeText, innerHtml } from '#html/serialize.ts';
import { ownValue } from '#own-value.ts';
import { safeUrl } from './url.ts';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const DROPPED = words(
  'script style iframe object embed applet form input button select textarea noscript template link meta base head title ' +
    'svg canvas audio video source track map area frame frameset noframes dialog',
);
const BLOCKS = words('p div ul ol dl table blockquote pre h1 h2 h3 h4 h5 h6 hr figure');
const KEPT = words(
  'p ul ol li dl dt dd table caption thead tbody tfoot tr th td blockquote pre code h1 h2 h3 h4 h5 h6 hr br figure ' +
    'figcaption a img em strong b i u s del ins sub sup mark q cite kbd samp var abbr time ruby rt rp div',
);
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'title'],
  img: ['src', 'alt', 'title'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan'],
  ol: ['start'],
  time: ['datetime'],
  abbr: ['title'],
};

export interface CleanHtml {
  readonly html: string;
  readonly hiddenCount: number;
}

/** `headingLevel` is the highest allowed heading level. URLs become absolute if there is a base. */
export function cleanHtml(
  source: string,
  { base, headingLevel }: { base: string | undefined; headingLevel: number },
): CleanHtml {
  if (!/[<&]/.test(source)) return { html: plainParagraphs(source), hiddenCount: 0 };
  const fragment = parseFragment(source);
  let hiddenCount = 0;
  for (let node = following(fragment, fragment), next: Child | null; node; node = next) {
    const hidden = isElement(node) && isHidden(node);
    const dropped = hidden || node.type === COMMENT || (isElement(node) && (DROPPED.has(node.name) || isPixel(node)));
    next = following(node, fragment, dropped);
    if (hidden) hiddenCount++;
    if (dropped) detach(node);
    else if (isElement(node)) keep(node, base);
  }
  lowerHeadings(fragment, headingLevel);
  const html = innerHtml(fragment).trim();
  return { html: html === '' || hasBlocks(fragment) ? html : `<p>${html}</p>`, hiddenCount };
}

/** The text of a piece of HTML in one line. Unknown tags are kept as text: a title may be about `<div>`. */
export function plainLine(source: string): string {
  if (!/[<&]/.test(source)) return oneLine(source);
  const inline =
    /<\/?(?:a|b|i|u|s|em|strong|sub|sup|span|br|code|font|small|q|cite|abbr|mark|wbr|tt)(?:\s[^<>]*)?\/?>/gi;
  const bare = source.replace(inline, (tag) => (/^<br/i.test(tag) ? ' ' : ''));
  if (!/&/.test(bare)) return oneLine(bare);
  let text = '';
  for (const node of descendants(parseFragment(bare.replaceAll('<', '&lt;'))))
    if (node.type === TEXT) text += node.value;
  return oneLine(text);
}

export const oneLine = (text: string): string => text.replace(/[\s\0-\x1f]+/g, ' ').trim();

/** Plain text as paragraphs; empty lines separate them. */
export const plainParagraphs = (text: string): string =>
  text
    .split(/\n[ \t]*\n/)
    .map((part) => part.replace(/\s+/g, ' ').trim())
    .filter((part) => part !== '')
    .map((part) => `<p>${escapeText(part)}</p>`)
    .join('\n');

function keep(element: Element, base: string | undefined): void {
  if (!KEPT.has(element.name) || element.namespace !== 'html') {
    unwrap(element);
    return;
  }
  const allowed = ownValue(ATTRIBUTES, element.name) ?? [];
  element.attributes = element.attributes.filter(({ name }) => allowed.includes(name));
  const name = element.name === 'a' ? 'href' : element.name === 'img' ? 'src' : undefined;
  if (!name) return;
  const address = safeUrl(attribute(element, name) ?? '', base, element.name === 'img');
  if (address === undefined) unwrap(element);
  else element.attributes = [{ name, value: address }, ...element.attributes.filter((entry) => entry.name !== name)];
}

const isHidden = (element: Element): boolean =>
  element.attributes.some(({ name, value }) => name === 'hidden' || (name === 'style' && hidesText(value)));

/** Tracking pixels show nothing. */
const isPixel = (element: Element): boolean =>
  element.name === 'img' && ['width', 'height'].some((name) => /^[01](?:px)?$/.test(attribute(element, name) ?? ''));

function lowerHeadings(fragment: Document, level: number): void {
  const headings = [...descendants(fragment)].filter(
    (node): node is Element => isElement(node) && /^h[1-6]$/.test(node.name),
  );
  const highest = headings.reduce((least, { name }) => Math.min(least, Number(name[1])), 6);
  const shift = Math.max(0, level - highest);
  for (const heading of headings) heading.name = `h${Math.min(6, Number(heading.name[1]) + shift)}`;
}

const hasBlocks = (fragment: Document): boolean => {
  for (const node of descendants(fragment)) if (isElement(node) && BLOCKS.has(node.name)) return true;
  return false;
};
