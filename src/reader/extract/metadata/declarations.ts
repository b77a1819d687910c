/** The declarations of a page, collected in one pass over its tree and not yet evaluated. */
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

export interface Declarations {
  root: Element | null;
  title: Element | null;
  /** The first h1 elements, and the first of the other headings. */
  headings: Element[];
  subheadings: Element[];
  /** The `content` of each meta element, by the element's name as written. */
  metas: Map<string, string[]>;
  /** The first meta element with a name that ends in `description`. */
  description: string | null;
  /** `http-equiv="content-language"`. */
  contentLanguage: string | null;
  /** The links of the head. */
  links: Element[];
  /** Texts of JSON-LD scripts. */
  scripts: string[];
  /** The first elements with each microdata or RDFa property that describes a page. */
  items: Map<string, Element[]>;
  types: Set<string>;
  times: Element[];
  /** Whether any `<time>` belongs to an entry, by its microformats class. */
  hasEntry: boolean;
  /** Links with `rel="author"`. */
  authorLinks: Element[];
}

const PAGE_PROPERTIES = new Set(
  (
    'author creator datePublished dateCreated uploadDate dateModified headline image thumbnailUrl inLanguage ' +
    'date created issued modified'
  ).split(' '),
);
const MAX_HEADINGS = 10;
const MAX_SUBHEADINGS = 30;
const MAX_PER_KIND = 6;

export function collectDeclarations(document: Document): Declarations {
  const found: Declarations = {
    root: null,
    title: null,
    headings: [],
    subheadings: [],
    metas: new Map(),
    description: null,
    contentLanguage: null,
    links: [],
    scripts: [],
    items: new Map(),
    types: new Set(),
    times: [],
    hasEntry: false,
    authorLinks: [],
  };
  let node: Node | null = following(document, document);
  while (node) {
    if (node.type === ELEMENT && node.namespace === 'html') collectElement(node, found);
    node = following(node, document);
  }
  return found;
}

function collectElement(element: Element, found: Declarations): void {
  switch (element.name) {
    case 'html':
      found.root ??= element;
      break;
    case 'title':
      found.title ??= element;
      break;
    case 'h1':
      if (found.headings.length < MAX_HEADINGS) found.headings.push(element);
      break;
    case 'h2':
    case 'h3':
      if (found.subheadings.length < MAX_SUBHEADINGS) found.subheadings.push(element);
      break;
    case 'meta':
      collectMeta(element, found);
      break;
    case 'link':
      if (isElement(element.parent) && element.parent.name === 'head') found.links.push(element);
      break;
    case 'time':
      addTime(element, found);
      break;
    case 'script':
      if (/^application\/ld\+json/i.test((attribute(element, 'type') ?? '').trim()))
        found.scripts.push(textOf(element));
      break;
  }
  const { attributes } = element;
  for (let at = 0; at < attributes.length; at++) {
    const { name } = attributes[at]!;
    // Checking the length first rules out most names, and is far faster than comparing each with all.
    if (name.length === 8) collectProperty(name, attributes[at]!.value, element, found);
    else if (name === 'rel' && element.name === 'a') addAuthorLink(attributes[at]!.value, element, found);
  }
}

function collectProperty(name: string, value: string, element: Element, found: Declarations): void {
  if (name === 'itemprop') addItem(value, element, found);
  else if (name === 'itemtype') found.types.add(value.slice(value.lastIndexOf('/') + 1).toLowerCase());
  else if (name === 'property' && element.name !== 'meta')
    addItem(value.slice(value.lastIndexOf(':') + 1), element, found);
}

function addTime(element: Element, found: Declarations): void {
  if (found.times.length < MAX_PER_KIND && attribute(element, 'datetime')) found.times.push(element);
  found.hasEntry ||= /\bdt-(?:published|updated)\b/.test(
    (attribute(element, 'class') ?? '').slice(0, MAX_LIST_CHARACTERS),
  );
}

function addAuthorLink(rel: string, element: Element, found: Declarations): void {
  if (found.authorLinks.length < MAX_PER_KIND && /\bauthor\b/i.test(rel.slice(0, MAX_LIST_CHARACTERS)))
    found.authorLinks.push(element);
}

/** Longer values are not lists of properties. */
const MAX_LIST_CHARACTERS = 200;

function addItem(names: string, element: Element, found: Declarations): void {
  if (names.length > MAX_LIST_CHARACTERS) return;
  for (const name of names.includes(' ') ? names.split(/\s+/) : [names]) {
    if (!PAGE_PROPERTIES.has(name)) continue;
    const items = found.items.get(name);
    if (!items) found.items.set(name, [element]);
    else if (items.length < MAX_PER_KIND) items.push(element);
  }
}

function collectMeta(element: Element, found: Declarations): void {
  const content = attribute(element, 'content');
  if (!content) return;
  const name = attribute(element, 'name') || attribute(element, 'property');
  if (!name) {
    if (/^content-language$/i.test(attribute(element, 'http-equiv') ?? '')) found.contentLanguage ??= content;
    return;
  }
  const values = found.metas.get(name);
  if (values) values.push(content);
  else found.metas.set(name, [content]);
  if (found.description === null && /description$/i.test(name)) found.description = content.trim();
}
