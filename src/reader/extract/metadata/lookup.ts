/** Looks up a page's metadata in the sources of sources.ts. Each source is read on first use. */
import { decodeHTML } from 'entities/decode';
import { attribute, type Document, type Element, following, hasAttribute, type Node, TEXT } from '#html/node.ts';
import { type Byline, readByline, shortText } from './byline.ts';
import { dateInUrl } from './date.ts';
import { collectDeclarations, type Declarations } from './declarations.ts';
import { relTokens } from './head-links.ts';
import { isOrIsInside, itemValue, pageItems } from './items.ts';
import { type LinkedData, readLinkedData } from './linked-data.ts';
import { type Microformats, readMicroformats } from './microformats.ts';
import { lettersAndDigits, NO_SITE_NAMES, type SiteNames } from './site-name.ts';
import { FACT_SOURCES, type Fact } from './sources.ts';
import { isFrontPage } from './urls.ts';

const MAX_LINE_CHARACTERS = 1000;

/** A text of the page as one line of bounded length, without invisible characters. */
export const boundedLine = (text: string) =>
  text
    .slice(0, 20_000)
    .replace(/[\u200b\u2060\ufeff\u00ad]/g, '')
    .replace(/[\s\u001d]+/g, ' ')
    .trim()
    .slice(0, MAX_LINE_CHARACTERS);

/** Decodes character references in data, which are often escaped twice. */
const decodeReferences = (text: string) =>
  /&(?:#\w{2,6}|amp|quot|apos|lt|gt|nbsp);/i.test(text.slice(0, MAX_LINE_CHARACTERS))
    ? decodeHTML(text.slice(0, 2_000))
    : text;

/** The permalinks that documentation generators add after a heading. */
const PERMALINK = /(?:\s+#|\s*[¶§🔗])+$/u;

/** The text of a heading. Reads a bounded number of nodes. */
export function headingText(heading: Element): string {
  let text = '';
  let node: Node | null = following(heading, heading);
  for (let count = 0; node && count < 500 && text.length < MAX_LINE_CHARACTERS * 2; count++) {
    if (node.type === TEXT) text += node.value;
    node = following(node, heading);
  }
  return boundedLine(text).replace(PERMALINK, '');
}

/** The values of one source. */
export interface SourceValues {
  kind: string;
  name: string;
  values: readonly SourceValue[];
}

export interface SourceValue {
  value: string;
  /** Whether the source is written for people, not for programs. */
  isText: boolean;
}

/** For each piece of metadata, the kind and the name of each source. */
const SOURCES_BY_FACT = new Map(
  Object.entries(FACT_SOURCES).map(([fact, sources]) => [
    fact,
    sources.map((source) => {
      const at = source.indexOf(' ');
      return { kind: source.slice(0, at), name: source.slice(at + 1) };
    }),
  ]),
);

/** Types of pages that start with their topic, followed by replies. */
const THREADS = ['discussionforumposting', 'qapage', 'question'];

/** Labels that publishing systems use for the author in Twitter cards. */
const WRITTEN_BY = new Set(
  (
    'verfasst von,geschrieben von,écrit par,escrito por,scritto da,geschreven door,skrevet av,skriven av,napisane przez,' +
    'автор,написано автором,執筆者,作者,글쓴이,yazan'
  ).split(','),
);

/** The name under which sources.ts lists a meta element. */
const keyOf = (name: string) => (name.startsWith('dc:') || name.startsWith('dcterms:') ? name.replace(':', '.') : name);

export class FactLookup {
  readonly declarations: Declarations;
  readonly linkedData: LinkedData;
  readonly url: string;
  /** Types that the page declares in JSON-LD and microdata, in lower case. */
  readonly types: Set<string>;
  /** Set as soon as the site name is known, because names in bylines are compared with it. */
  site: SiteNames = NO_SITE_NAMES;
  language = '';
  title = '';
  readonly #isThread: boolean;
  readonly #document: Document;
  readonly #named = new Map<string, string[]>();
  #byline: Byline | undefined;
  #microformats: Microformats | undefined;

  constructor(document: Document, url: string) {
    this.declarations = collectDeclarations(document);
    this.linkedData = readLinkedData(this.declarations.scripts, url);
    this.url = url;
    this.types = new Set([...this.linkedData.types, ...this.declarations.types]);
    this.#isThread = THREADS.some((type) => this.types.has(type));
    this.#document = document;
    for (const [name, values] of this.declarations.metas) {
      const key = name.length > 100 ? '' : keyOf(name.toLowerCase());
      if (!this.#named.has(key)) this.#named.set(key, values);
    }
  }

  /** The values of each source, the most trusted first; sources without values are skipped. */
  *valuesBySource(fact: Fact): Generator<SourceValues> {
    for (const { kind, name } of SOURCES_BY_FACT.get(fact)!) {
      const found = this.#read(kind, name);
      if (found.length === 0) continue;
      const sourceValues = found.map((one) => (typeof one === 'string' ? { value: one, isText: false } : one));
      const values = sourceValues.filter(({ value }) => value !== '');
      if (values.length) yield { kind, name, values };
    }
  }

  /** Yields the same values, one at a time. */
  *values(fact: Fact): Generator<string> {
    for (const { values } of this.valuesBySource(fact)) for (const { value } of values) yield value;
  }

  #read(kind: string, name: string): readonly (string | SourceValue)[] {
    const { declarations, url } = this;
    switch (kind) {
      case 'ld':
        return this.#linked(name as keyof LinkedData);
      case 'meta':
        return this.#named.get(name)?.slice(0, 50) ?? [];
      case 'item':
        return pageItems(declarations.items.get(name) ?? [], this.#isThread).map(itemValue);
      case 'link':
        return this.#linksOf(name);
      case 'html':
        return declarations.root ? [attribute(declarations.root, name) ?? ''] : [];
      case 'http-equiv':
        return declarations.contentLanguage === null ? [] : [declarations.contentLanguage];
      case 'label':
        return this.#labeled(name);
      case 'class':
        return this.#classed(name);
      case 'byline':
        return this.#inByline(name as keyof Byline);
      case 'rel':
        return isFrontPage(url) ? [] : authorsOf(declarations.authorLinks);
      case 'time':
        return isFrontPage(url) ? [] : ownTime(declarations.times);
      default:
        return [dateInUrl(url) ?? ''];
    }
  }

  #linksOf(rel: string): string[] {
    const has = (link: Element) => relTokens(attribute(link, 'rel') ?? '').includes(rel);
    return this.declarations.links.filter(has).map((link) => attribute(link, 'href') ?? '');
  }

  #linked(key: keyof LinkedData): readonly string[] {
    const value = this.linkedData[key];
    if (typeof value === 'string') return [decodeReferences(value)];
    return Array.isArray(value) ? value.map(decodeReferences) : [];
  }

  /** Twitter cards pair a text with a label in the language of the page. */
  #labeled(label: string): string[] {
    return ['1', '2'].flatMap((number) => {
      const labelText = this.#named.get(`twitter:label${number}`)?.[0]?.trim().toLowerCase() ?? '';
      const isWanted = labelText === label || (label === 'written by' && WRITTEN_BY.has(labelText));
      return isWanted ? (this.#named.get(`twitter:data${number}`)?.slice(0, 1) ?? []) : [];
    });
  }

  #classed(name: string): SourceValue[] {
    if (!this.declarations.hasEntry) return [];
    this.#microformats ??= readMicroformats(this.#document);
    return (this.#microformats.get(name) ?? []).map(itemValue);
  }

  #inByline(key: keyof Byline): readonly string[] {
    if (!this.#byline) {
      const heading = isFrontPage(this.url) ? undefined : this.#titleElement();
      const { site, language } = this;
      this.#byline = heading ? readByline(heading, { site, language }) : { authors: [] };
    }
    const value = this.#byline[key];
    return typeof value === 'string' ? [value] : (value ?? []);
  }

  /** The element in which the page displays its title. */
  #titleElement(): Element | undefined {
    const { headings, subheadings } = this.declarations;
    const title = lettersAndDigits(this.title);
    const isTitle = (heading: Element) => lettersAndDigits(headingText(heading)) === title;
    return (
      headings.find(isTitle) ??
      subheadings.find(isTitle) ??
      headings.find((heading) => lettersAndDigits(headingText(heading)).includes(title)) ??
      (headings.length === 1 ? headings[0] : undefined)
    );
  }
}

/** The author named by the `rel="author"` links, if all of them name the same one; a listing has several. */
function authorsOf(links: readonly Element[]): string[] {
  const names = new Set(links.map((link) => shortText(link) ?? '').filter(Boolean));
  return names.size === 1 ? [...names] : [];
}

/** Maximum number of `<time>` elements in a dateline; a page with more is a list of dated items. */
const MAX_DATELINE_TIMES = 4;

const ASIDE_ELEMENTS = new Set(['nav', 'aside', 'footer']);
const ASIDE_CLASS =
  /(?:^|\s)(?:comments?|comment-list|related(?:-posts)?|recent-posts|sidebar|widget(?:-area)?)(?=\s|$)/i;

/** The page's own time, outside of parts that do not belong to its content. */
function ownTime(times: readonly Element[]): string[] {
  const isAside = (element: Element) =>
    ASIDE_ELEMENTS.has(element.name) ||
    (element.name !== 'body' && ASIDE_CLASS.test((attribute(element, 'class') ?? '').slice(0, 300)));
  const time =
    times.find((one) => hasAttribute(one, 'pubdate')) ??
    (times.length < MAX_DATELINE_TIMES ? times.find((one) => !isOrIsInside(one, isAside)) : undefined);
  return time ? [attribute(time, 'datetime') ?? ''] : [];
}
