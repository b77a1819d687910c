/** XML: feeds, sitemaps and outlines become lists of entries; all other XML is shown as source. */
import { ownValue } from '#own-value.ts';
import type { DocumentKind, ParsedDocument } from '../document.ts';
import { readAtom } from './atom.ts';
import { writeFeed } from './feed.ts';
import { readJsonFeed } from './json-feed.ts';
import { readRss } from './rss.ts';
import { readOpml, readSitemap } from './sitemap.ts';
import { asSource, decodedText } from './text.ts';
import { childOf, parseTolerantXml, rootName, type XmlNode } from './tolerant-xml.ts';

export const kind: DocumentKind = {
  async parse(file, bytes) {
    const text = decodedText(bytes, file.contentType);
    const read = ownValue(READERS, rootName(text) ?? '');
    const root = read && parseTolerantXml(text);
    const list = root && read?.(root);
    // A root that has a feed's name but no title and no entries is probably something else.
    if (list && (list.title !== '' || list.pages[0]?.html !== '')) return list;
    return readJsonFeed(text) ?? asSource(text);
  },
};

/** Readers by the name of the root element. */
const READERS: Readonly<Record<string, (root: XmlNode) => ParsedDocument | undefined>> = {
  rss: (root) => writeFeed(readRss(root)),
  // RDF is used for more than feeds.
  RDF: (root) => (childOf(root, 'channel', 'item') ? writeFeed(readRss(root)) : undefined),
  feed: (root) => (root.name === 'atom:feed' || childOf(root, 'entry') ? writeFeed(readAtom(root)) : undefined),
  urlset: (root) => writeFeed(readSitemap(root)),
  sitemapindex: (root) => writeFeed(readSitemap(root)),
  opml: readOpml,
};
