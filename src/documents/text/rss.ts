/** RSS 0.9x, 1.0 and 2.0, with the common modules: content, Dublin Core, Media RSS, iTunes. */

import { cleanHtml, plainLine } from './clean-html.ts';
import { isoDate } from './date.ts';
import type { Feed, FeedEntry, FeedLink } from './feed.ts';
import { childOf, childrenOf, textIn, textOfChild, type XmlNode } from './tolerant-xml.ts';
import { firstHttpUrl, safeUrl } from './url.ts';
import { xmlToHtml } from './xml-html.ts';

/** Highest heading level inside an entry, below the entry's own level 2. */
export const ENTRY_HEADINGS = 3;

export function readRss(root: XmlNode): Feed {
  const channel = childOf(root, 'channel') ?? root;
  const base = firstHttpUrl(
    channel.attributes['xml:base'],
    root.attributes['xml:base'],
    ...childrenOf(channel, 'link', 'atom:link').map(urlOf),
  );
  const hidden = { count: 0 };
  const updated = isoDate(textOfChild(channel, 'lastBuildDate', 'pubDate', 'dc:date', 'dcterms:modified'));
  const language = textOfChild(channel, 'language', 'dc:language');
  return {
    title: plainLine(textOfChild(channel, 'title', 'dc:title')),
    metadata: {
      description: plainLine(textOfChild(channel, 'description', 'itunes:summary', 'itunes:subtitle')),
      link: base ?? '',
      language,
      author: plainLine(textOfChild(channel, 'itunes:author', 'dc:creator', 'managingEditor')),
      updated,
      generator: plainLine(textOfChild(channel, 'generator')),
      copyright: plainLine(textOfChild(channel, 'copyright', 'dc:rights')),
    },
    publishedTime: updated,
    lang: language,
    entries: entriesOf(root, channel, base, hidden),
    hidden,
    form: 'articles',
  };
}

/** In RSS 1.0 and 0.90, items are siblings of their channel. */
function* entriesOf(
  root: XmlNode,
  channel: XmlNode,
  base: string | undefined,
  hidden: { count: number },
): Generator<FeedEntry> {
  const items = childrenOf(channel, 'item');
  for (const item of items.length > 0 || root === channel ? items : childrenOf(root, 'item')) {
    yield entryOf(item, firstHttpUrl(item.attributes['xml:base']) ?? base, hidden);
  }
}

function entryOf(item: XmlNode, base: string | undefined, hidden: { count: number }): FeedEntry {
  const { html, hiddenCount } = cleanHtml(sourceOf(item), { base, headingLevel: ENTRY_HEADINGS });
  hidden.count += hiddenCount;
  return {
    title: plainLine(textOfChild(item, 'title', 'media:title', 'dc:title')),
    url: linkOf(item, base),
    date: isoDate(textOfChild(item, 'pubDate', 'dc:date', 'dcterms:issued', 'date')),
    author: plainLine(textOfChild(item, 'dc:creator', 'author', 'itunes:author')).replace(/^\S+@\S+ \((.+)\)$/, '$1'),
    html,
    links: enclosuresOf(item, base),
  };
}

const TEXTS = [
  'description',
  'itunes:summary',
  'media:description',
  'content:encoded',
  'content',
  'body',
  'xhtml:body',
];

/** HTML, which should be escaped but often is not. */
function sourceOf(item: XmlNode): string {
  const node = TEXTS.flatMap((name) => childrenOf(item, name)).find((each) => textIn(each) !== '');
  if (!node) return '';
  return childrenOf(node).length > 0 ? xmlToHtml(node) : textIn(node);
}

const urlOf = (link: XmlNode): string =>
  (link.attributes.rel ?? 'alternate') === 'alternate' ? (link.attributes.href ?? textIn(link)) : '';

/** The link of an entry, otherwise its guid if that is a URL. */
function linkOf(item: XmlNode, base: string | undefined): string | undefined {
  const links = childrenOf(item, 'link', 'atom:link').map(urlOf);
  const guid = childOf(item, 'guid');
  const permanent = guid?.attributes.isPermaLink !== 'false' ? textOfChild(item, 'guid') : '';
  const about = item.attributes['rdf:about'] ?? '';
  const plain = [...links, /^https?:/i.test(permanent) ? permanent : '', about].find((url) => url !== '');
  return safeUrl(plain ?? '', base);
}

function enclosuresOf(item: XmlNode, base: string | undefined): FeedLink[] {
  const media = [item, ...childrenOf(item, 'media:group')].flatMap((holder) => childrenOf(holder, 'media:content'));
  const seen = new Set<string>();
  return [...childrenOf(item, 'enclosure'), ...media].flatMap(({ attributes }) => {
    const url = safeUrl(attributes.url ?? '', base);
    if (url === undefined || seen.has(url)) return [];
    seen.add(url);
    return [
      {
        url,
        label: enclosureLabel(
          attributes.type ?? attributes.medium ?? '',
          attributes.length ?? attributes.fileSize ?? '',
        ),
      },
    ];
  });
}

/** `audio/mpeg, 12.3 MB` */
export function enclosureLabel(type: string, bytes: string | number): string {
  const size = Number(bytes);
  const amount = !(size >= 1_000) ? '' : size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
  return [type.trim() || 'Enclosure', amount].filter((part) => part !== '').join(', ');
}
