/** Atom (RFC 4287) and its predecessor Atom 0.3. */

import { isUrl } from '#is-url.ts';
import { cleanHtml, plainLine } from './clean-html.ts';
import { isoDate } from './date.ts';
import type { Feed, FeedEntry, FeedLink } from './feed.ts';
import { ENTRY_HEADINGS, enclosureLabel } from './rss.ts';
import { childOf, childrenOf, textIn, textOfChild, type XmlNode } from './tolerant-xml.ts';
import { firstHttpUrl, safeUrl } from './url.ts';
import { xmlToHtml } from './xml-html.ts';

/** Names with the Atom prefix, and without it for feeds that lack the namespace. */
const atom = (...names: string[]): string[] => names.flatMap((name) => [`atom:${name}`, name]);

export function readAtom(feed: XmlNode): Feed {
  const self = childrenOf(feed, ...atom('link')).find(({ attributes }) => attributes.rel === 'self')?.attributes.href;
  const home = linkOf(feed, undefined);
  const base = firstHttpUrl(feed.attributes['xml:base'], home, self);
  const updated = isoDate(textOfChild(feed, ...atom('updated', 'modified')));
  const language = feed.attributes['xml:lang'] ?? '';
  const hidden = { count: 0 };
  return {
    title: lineOf(childOf(feed, ...atom('title'))),
    metadata: {
      description: lineOf(childOf(feed, ...atom('subtitle', 'tagline'))),
      link: home ?? '',
      language,
      author: authorOf(feed),
      updated,
      generator: plainLine(textOfChild(feed, ...atom('generator'))),
      copyright: lineOf(childOf(feed, ...atom('rights', 'copyright'))),
    },
    publishedTime: updated,
    lang: language,
    entries: entriesOf(feed, base, hidden),
    hidden,
    form: 'articles',
  };
}

function* entriesOf(feed: XmlNode, base: string | undefined, hidden: { count: number }): Generator<FeedEntry> {
  for (const entry of childrenOf(feed, ...atom('entry'))) {
    const here = entryBase(entry.attributes['xml:base'], base);
    const { html, hiddenCount } = htmlOf(entry, here);
    hidden.count += hiddenCount;
    yield {
      title:
        lineOf(childOf(entry, ...atom('title'))) ||
        plainLine(textOfChild(childOf(entry, 'media:group'), 'media:title')),
      url: linkOf(entry, here) ?? safeUrl(firstHttpUrl(textOfChild(entry, ...atom('id'))) ?? '', here),
      date: isoDate(textOfChild(entry, ...atom('published', 'issued', 'updated', 'modified', 'created'), 'dc:date')),
      author: authorOf(entry),
      html,
      links: enclosuresOf(entry, here),
    };
  }
}

const entryBase = (own: string | undefined, outer: string | undefined): string | undefined =>
  own !== undefined && isUrl(own, outer) ? firstHttpUrl(new URL(own, outer).href) : outer;

function linkOf(holder: XmlNode, base: string | undefined): string | undefined {
  const links = childrenOf(holder, ...atom('link'));
  const found = links.find(({ attributes }) => (attributes.rel ?? 'alternate') === 'alternate');
  return safeUrl(found?.attributes.href ?? '', base);
}

const authorOf = (holder: XmlNode): string =>
  childrenOf(holder, ...atom('author'))
    .map((author) => plainLine(textOfChild(author, ...atom('name', 'email'))))
    .filter((name) => name !== '')
    .join(', ');

/** The text of a text construct of any of Atom's three types, in one line. */
function lineOf(node: XmlNode | undefined): string {
  const type = node?.attributes.type ?? 'text';
  const text = textIn(node);
  // Many feeds declare HTML as plain text.
  return type === 'xhtml' ? text.replace(/\s+/g, ' ') : plainLine(text);
}

/** The summary; without a summary, the content. */
function htmlOf(entry: XmlNode, base: string | undefined): { html: string; hiddenCount: number } {
  const options = { base, headingLevel: ENTRY_HEADINGS };
  for (const node of [childOf(entry, ...atom('summary')), childOf(entry, ...atom('content'))]) {
    const source = node === undefined ? '' : sourceOf(node);
    const clean = cleanHtml(source, options);
    if (clean.html !== '') return clean;
  }
  return cleanHtml(textOfChild(childOf(entry, 'media:group'), 'media:description'), options);
}

function sourceOf(node: XmlNode): string {
  const type = (node.attributes.type ?? 'text').toLowerCase();
  if (type === 'xhtml' || type === 'application/xhtml+xml') return xmlToHtml(node);
  if (type === 'html' || type === 'text/html' || type === 'text' || type === 'text/plain') return textIn(node);
  return type.startsWith('text/') ? textIn(node) : '';
}

const enclosuresOf = (entry: XmlNode, base: string | undefined): FeedLink[] =>
  childrenOf(entry, ...atom('link')).flatMap(({ attributes }) => {
    const url = attributes.rel === 'enclosure' ? safeUrl(attributes.href ?? '', base) : undefined;
    return url === undefined ? [] : [{ url, label: enclosureLabel(attributes.type ?? '', attributes.length ?? '') }];
  });
