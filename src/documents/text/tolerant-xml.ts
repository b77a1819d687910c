/**
 * A tolerant XML parser for feeds: accepts bare ampersands, HTML entities, values without quotes and mismatched end
 * tags. Any input becomes a tree. Document type declarations are ignored, so entities cannot expand.
 */
import { decodeHTMLStrict } from 'entities';
import { ownValue } from '#own-value.ts';

export interface XmlNode {
  /**
   * The name with the prefix from NAMESPACES, regardless of the prefix in the file. Names in other namespaces keep the
   * file's prefix.
   */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (XmlNode | string)[];
}

interface Open extends XmlNode {
  readonly attributes: Record<string, string>;
  readonly children: (XmlNode | string)[];
  readonly raw: string;
  readonly scope: Scope;
}

/** Maps prefixes of the file to those in NAMESPACES; '' is the default namespace. */
type Scope = ReadonlyMap<string, string>;

const NAMESPACES: Readonly<Record<string, string>> = {
  'http://www.w3.org/2005/Atom': 'atom',
  'http://purl.org/atom/ns#': 'atom',
  'http://purl.org/rss/1.0/': '',
  'http://my.netscape.com/rdf/simple/0.9/': '',
  'http://channel.netscape.com/rdf/simple/0.9/': '',
  'http://backend.userland.com/rss2': '',
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#': 'rdf',
  'http://purl.org/rss/1.0/modules/content/': 'content',
  'http://purl.org/dc/elements/1.1/': 'dc',
  'http://purl.org/dc/terms/': 'dcterms',
  'http://search.yahoo.com/mrss/': 'media',
  'http://www.itunes.com/dtds/podcast-1.0.dtd': 'itunes',
  'http://www.w3.org/1999/xhtml': 'xhtml',
  'http://www.sitemaps.org/schemas/sitemap/0.9': '',
  'https://www.sitemaps.org/schemas/sitemap/0.9': '',
  'http://www.google.com/schemas/sitemap/0.84': '',
  'http://www.google.com/schemas/sitemap-image/1.1': 'image',
  'http://www.google.com/schemas/sitemap-video/1.1': 'video',
  'http://www.google.com/schemas/sitemap-news/0.9': 'news',
};

/** Deeper elements become text of their ancestor at this depth. */
const MAX_DEPTH = 500;
const MAX_PREFIXES = 100;
/** Single-line feed fields. An unclosed element ends where the next one begins. */
const LINES = new Set(['title', 'link', 'guid', 'pubDate', 'author', 'category', 'loc', 'lastmod']);
const FIELDS = new Set([...LINES, 'description', 'content:encoded', 'item', 'enclosure', 'url']);
const NAME = /[A-Za-z_][\w.:-]*/y;
const ATTRIBUTE = /[\s/]*([^\s=>/<"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y;

/** The root element; `undefined` if there is none. */
export function parseTolerantXml(source: string): XmlNode | undefined {
  const top: Open = { name: '', raw: '', attributes: {}, children: [], scope: new Map() };
  const open = [top];
  /** Number of open elements by name, so that unmatched end tags cost nothing. */
  const counts = new Map<string, number>();
  const inner = () => open.at(-1)!;
  const seek = seeker(source);
  for (let at = 0; at < source.length; ) {
    const lt = source.indexOf('<', at);
    const end = lt < 0 ? source.length : lt;
    if (end > at) inner().children.push(decodeHTMLStrict(source.slice(at, end)));
    if (lt < 0) break;
    const next = source[lt + 1];
    if (next === '!' || next === '?') {
      const piece = declaration(source, lt, seek);
      if (piece.text) inner().children.push(piece.text);
      at = piece.end;
    } else if (next === '/') {
      const gt = seek('>', lt);
      close(open, counts, source.slice(lt + 2, gt).trim());
      at = gt + 1;
    } else {
      const tag = startTag(source, lt, seek);
      if (!tag) {
        inner().children.push('<');
        at = lt + 1;
        continue;
      }
      at = tag.end;
      if (FIELDS.has(tag.raw) && LINES.has(inner().raw)) close(open, counts, inner().raw);
      if (open.length > MAX_DEPTH) continue;
      const element = elementOf(tag, inner().scope);
      inner().children.push(element);
      if (tag.isEmpty) continue;
      open.push(element);
      counts.set(tag.raw, (counts.get(tag.raw) ?? 0) + 1);
    }
  }
  return top.children.find((child) => typeof child !== 'string');
}

function close(open: Open[], counts: Map<string, number>, raw: string): void {
  if (!counts.get(raw)) return;
  for (let last = open.pop()!; ; last = open.pop()!) {
    counts.set(last.raw, counts.get(last.raw)! - 1);
    if (last.raw === raw) return;
  }
}

type Seek = (mark: string, from: number) => number;

/**
 * Finds the next occurrence of a mark, or the end of the source. The last result is remembered, so that repeated
 * searches for a distant or absent mark cost nothing.
 */
function seeker(source: string): Seek {
  const found = new Map<string, { from: number; at: number }>();
  return (mark, from) => {
    const known = found.get(mark);
    if (known && known.from <= from && from <= known.at) return known.at;
    const at = source.indexOf(mark, from);
    const place = at < 0 ? source.length : at;
    found.set(mark, { from, at: place });
    return place;
  };
}

/** Reads a comment, processing instruction, document type or CDATA section. */
function declaration(source: string, lt: number, seek: Seek): { end: number; text?: string } {
  if (source.startsWith('<!--', lt)) return { end: seek('-->', lt + 4) + 3 };
  if (source.startsWith('<![CDATA[', lt)) {
    const end = seek(']]>', lt + 9);
    return { end: end + 3, text: source.slice(lt + 9, end) };
  }
  const gt = seek('>', lt);
  // The internal subset of a document type may contain tags.
  if (source[lt + 1] === '!' && seek('[', lt) < gt) return { end: seek('>', seek(']', lt)) + 1 };
  return { end: gt + 1 };
}

interface Tag {
  readonly raw: string;
  readonly attributes: Record<string, string>;
  readonly isEmpty: boolean;
  readonly end: number;
}

function startTag(source: string, lt: number, seek: Seek): Tag | undefined {
  NAME.lastIndex = lt + 1;
  const raw = NAME.exec(source)?.[0];
  if (raw === undefined) return undefined;
  const attributes: Record<string, string> = Object.create(null);
  let at = NAME.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(source);
    if (!found) break;
    at = ATTRIBUTE.lastIndex;
    attributes[found[1]!] ??= decodeHTMLStrict(found[2] ?? found[3] ?? found[4] ?? '');
  }
  const gt = seek('>', at);
  const lost = seek('<', at);
  // A tag that is not closed before the next begins.
  if (lost < gt) return { raw, attributes, isEmpty: false, end: lost };
  return { raw, attributes, isEmpty: source[gt - 1] === '/', end: gt + 1 };
}

function elementOf({ raw, attributes }: Tag, outer: Scope): Open {
  const scope = scopeOf(attributes, outer);
  const named: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(attributes))
    if (!name.startsWith('xmlns')) named[nameOf(name, scope, true)] = value;
  return { name: nameOf(raw, scope, false), raw, attributes: named, children: [], scope };
}

function scopeOf(attributes: Readonly<Record<string, string>>, outer: Scope): Scope {
  let scope: Map<string, string> | undefined;
  for (const [name, uri] of Object.entries(attributes)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    const prefix = name.slice(6);
    const canonicalPrefix = ownValue(NAMESPACES, uri.trim()) ?? prefix;
    if (outer.get(prefix) === canonicalPrefix || outer.size >= MAX_PREFIXES) continue;
    scope ??= new Map(outer);
    scope.set(prefix, canonicalPrefix);
  }
  return scope ?? outer;
}

function nameOf(raw: string, scope: Scope, isAttribute: boolean): string {
  const colon = raw.indexOf(':');
  const prefix = colon < 0 ? '' : raw.slice(0, colon);
  const canonicalPrefix = colon < 0 && isAttribute ? '' : (scope.get(prefix) ?? prefix);
  const local = raw.slice(colon + 1);
  return canonicalPrefix === '' ? local : `${canonicalPrefix}:${local}`;
}

/** Characters at the start of a file that are searched for its root element. */
const START = 64 * 1024;

/** The name of the first tag without its prefix, searched only near the beginning. */
export function rootName(source: string): string | undefined {
  const start = source
    .slice(0, START)
    .replace(/<!--.*?(?:-->|$)|<\?.*?(?:\?>|$)|<!doctype[^[>]*(?:\[.*?(?:\]|$))?/gis, '');
  return /<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)/.exec(start)?.[1];
}

/** Child elements, all or those with one of the names. */
export const childrenOf = (node: XmlNode | undefined, ...names: string[]): XmlNode[] =>
  (node?.children ?? []).filter(
    (child): child is XmlNode => typeof child !== 'string' && (names.length === 0 || names.includes(child.name)),
  );

/** The first non-empty child with one of these names, tried in the given order. */
export function childOf(node: XmlNode | undefined, ...names: string[]): XmlNode | undefined {
  for (const name of names) {
    const found = childrenOf(node, name).find(
      ({ children, attributes }) => children.length > 0 || Object.keys(attributes).length > 0,
    );
    if (found) return found;
  }
  return undefined;
}

/** The trimmed text of an element; '' if `node` is `undefined`. */
export function textIn(node: XmlNode | undefined): string {
  const pieces: string[] = [];
  const waiting: (XmlNode | string)[] = node ? [node] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') pieces.push(next);
    else for (let at = next.children.length - 1; at >= 0; at--) waiting.push(next.children[at]!);
  }
  return pieces.join('').trim();
}

/** The text of the first such child that is not empty. */
export function textOfChild(node: XmlNode | undefined, ...names: string[]): string {
  for (const name of names) {
    for (const child of childrenOf(node, name)) {
      const text = textIn(child);
      if (text !== '') return text;
    }
  }
  return '';
}
