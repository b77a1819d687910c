/**
 * What a page says about itself: title, description, dates, names, every meta and head link. Cheap: one pass over
 * the tree, and no content is judged.
 */
import {
  attribute,
  type Document,
  ELEMENT,
  type Element,
  following,
  isElement,
  type Node,
  textOf,
} from '#html/node.ts';
import type { Declared } from '../article.ts';
import { type LinkedData, readLinkedData } from './linked-data.ts';
import { resolveUrl } from './links.ts';
import { chooseTitle } from './title.ts';

export interface PageMetadata extends Declared {
  /** The text of the `<title>` element. */
  documentTitle: string;
  /** Types that the page claims in JSON-LD, microdata and Open Graph, in lower case without prefix. */
  types: Set<string>;
}

const LONGEST_TITLE = 1000;

const oneLine = (text: string) =>
  text
    .slice(0, 20_000)
    .replace(/[\u200b\u2060\ufeff\u00ad]/g, '')
    .replace(/[\s\u001d]+/g, ' ')
    .trim()
    .slice(0, LONGEST_TITLE);

/** What the single pass over the tree gathers. */
interface Found {
  root: Element | null;
  title: Element | null;
  headings: Element[];
  metas: Map<string, string[]>;
  description: string | null;
  links: Element[];
  scripts: string[];
  items: Map<string, Element>;
  types: Set<string>;
  time: Element | null;
}

function gather(document: Document): Found {
  const found: Found = {
    root: null,
    title: null,
    headings: [],
    metas: new Map(),
    description: null,
    links: [],
    scripts: [],
    items: new Map(),
    types: new Set(),
    time: null,
  };
  let node: Node | null = following(document, document);
  while (node) {
    if (node.type === ELEMENT && node.namespace === 'html') look(node, found);
    node = following(node, document);
  }
  return found;
}

function look(element: Element, found: Found): void {
  switch (element.name) {
    case 'html':
      found.root ??= element;
      break;
    case 'title':
      found.title ??= element;
      break;
    case 'h1':
      if (found.headings.length < 10) found.headings.push(element);
      break;
    case 'meta':
      lookAtMeta(element, found);
      break;
    case 'link':
      if (isElement(element.parent) && element.parent.name === 'head') found.links.push(element);
      break;
    case 'time':
      if (!found.time && attribute(element, 'datetime')) found.time = element;
      break;
    case 'script':
      if (/^application\/ld\+json/i.test((attribute(element, 'type') ?? '').trim()))
        found.scripts.push(textOf(element));
      break;
  }
  const property = attribute(element, 'itemprop');
  if (property !== null && !found.items.has(property)) found.items.set(property, element);
  const type = attribute(element, 'itemtype');
  if (type !== null) found.types.add(type.slice(type.lastIndexOf('/') + 1).toLowerCase());
}

function lookAtMeta(element: Element, found: Found): void {
  const content = attribute(element, 'content');
  if (!content) return;
  const name = attribute(element, 'name') || attribute(element, 'property');
  if (!name) return;
  const values = found.metas.get(name);
  if (values) values.push(content);
  else found.metas.set(name, [content]);
  if (found.description === null && /description$/i.test(name)) found.description = content.trim();
}

/** Head links by rel, then by absolute address; `stylesheet` and `shortcut` are left out (contract, section 5). */
function externalLinks(links: Element[], url: string): PageMetadata['external'] {
  const external = new Map<string, Map<string, Record<string, string>>>();
  for (const link of links) {
    const rel = attribute(link, 'rel');
    const href = attribute(link, 'href');
    if (!rel || !href) continue;
    const address = resolveUrl(href, url) ?? href;
    const others = link.attributes.filter((entry) => entry.name !== 'rel' && entry.name !== 'href');
    const facts = Object.fromEntries(others.map((entry) => [entry.name, entry.value]));
    for (const one of new Set(rel.toLowerCase().split(/\s+/))) {
      if (!one || one === 'stylesheet' || one === 'shortcut') continue;
      let byAddress = external.get(one);
      if (!byAddress) {
        byAddress = new Map();
        external.set(one, byAddress);
      }
      byAddress.set(address, facts);
    }
  }
  return Object.fromEntries([...external].map(([rel, byAddress]) => [rel, Object.fromEntries(byAddress)]));
}

/** What documentation systems put behind a heading as a link to it. */
const PERMALINK = /(?:\s+#|\s*[¶§🔗])+$/u;

const itemValue = (item: Element | undefined): string | undefined =>
  item && oneLine(attribute(item, 'content') || attribute(item, 'datetime') || textOf(item));

/** A person's or organisation's name, never an address of a profile. */
const nameOnly = (value: string | undefined): string | undefined =>
  value && !/^https?:\/\//i.test(value) && value.length <= 200 ? oneLine(value) : undefined;

/**
 * What the page says about itself. `baseUrl` is what relative addresses resolve against. Sources in order of trust:
 * JSON-LD, Open Graph and other metas, microdata, elements.
 */
export function extractMetadata(document: Document, baseUrl: string, url = baseUrl): PageMetadata {
  const found = gather(document);
  const data: LinkedData = readLinkedData(found.scripts);
  const meta = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = found.metas.get(name)?.[0]?.trim();
      if (value) return value;
    }
    return undefined;
  };
  const documentTitle = found.title ? oneLine(textOf(found.title)) : '';
  const siteName = nameOnly(meta('og:site_name', 'application-name') ?? data.siteName);
  const headings = found.headings.map((heading) => oneLine(textOf(heading)).replace(PERMALINK, '')).filter(Boolean);
  const declared = [meta('og:title'), data.headline, meta('twitter:title')].map((one) => oneLine(one ?? ''));
  const title = chooseTitle({
    declared: declared.filter(Boolean),
    documentTitle,
    headings,
    siteNames: siteName ? [siteName] : [],
    url,
  });
  const publishedTime =
    data.published ??
    meta(
      'article:published_time',
      'og:article:published_time',
      'datePublished',
      'parsely-pub-date',
      'dc.date.issued',
    ) ??
    itemValue(found.items.get('datePublished')) ??
    meta('pubdate', 'publishdate', 'date', 'dc.date', 'DC.date.issued', 'sailthru.date') ??
    (found.time ? (attribute(found.time, 'datetime') ?? undefined) : undefined);
  const author =
    nameOnly(data.author) ??
    nameOnly(meta('author', 'article:author', 'parsely-author', 'dc.creator', 'twitter:creator')) ??
    nameOnly(itemValue(found.items.get('author')));
  const lang = found.root ? (attribute(found.root, 'lang') ?? undefined) : undefined;
  const metadata = new Map<string, string>();
  if (lang) metadata.set('lang', lang);
  for (const [name, values] of found.metas) metadata.set(name, values.join(','));
  if (author && !metadata.has('author')) metadata.set('author', author);
  for (const [name, value] of Object.entries(data.page)) metadata.set(`jsonld:${name}`, oneLine(value));
  const types = new Set([...data.types, ...found.types]);
  const ogType = meta('og:type');
  if (ogType) types.add(`og:${ogType.toLowerCase()}`);
  return {
    title,
    documentTitle,
    description: found.description ?? '',
    ...(lang && { lang }),
    ...(publishedTime && { publishedTime: oneLine(publishedTime) }),
    ...(author && { author }),
    ...(siteName && { siteName }),
    metadata: Object.fromEntries(metadata),
    external: externalLinks(found.links, baseUrl),
    types,
  };
}
