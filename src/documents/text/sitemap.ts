/** Sitemaps and sitemap indexes (sitemaps.org 0.9), with images, news, videos and languages; OPML lists of feeds. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { ParsedDocument } from '../document.ts';
import { plainLine } from './clean-html.ts';
import { isoDate } from './date.ts';
import type { Feed, FeedEntry, FeedLink } from './feed.ts';
import { childOf, childrenOf, textOfChild, type XmlNode } from './tolerant-xml.ts';
import { safeUrl } from './url.ts';

export function readSitemap(root: XmlNode): Feed {
  const isIndex = /(?:^|:)sitemapindex$/.test(root.name);
  return {
    title: isIndex ? 'Sitemap Index' : 'Sitemap',
    metadata: {},
    publishedTime: '',
    lang: '',
    entries: entriesOf(childrenOf(root, isIndex ? 'sitemap' : 'url')),
    hidden: { count: 0 },
    form: 'addresses',
  };
}

function* entriesOf(nodes: readonly XmlNode[]): Generator<FeedEntry> {
  for (const node of nodes) {
    const url = safeUrl(textOfChild(node, 'loc'), undefined);
    if (url === undefined) continue;
    const news = childOf(node, 'news:news');
    yield {
      title: plainLine(textOfChild(news, 'news:title')),
      url,
      date: isoDate(textOfChild(node, 'lastmod') || textOfChild(news, 'news:publication_date')),
      author: '',
      html: '',
      links: [...languagesOf(node), ...picturesOf(node), ...videosOf(node)],
    };
  }
}

const languagesOf = (node: XmlNode): FeedLink[] =>
  childrenOf(node, 'xhtml:link').flatMap(({ attributes }) =>
    linkOf(attributes.href, attributes.hreflang || 'Other form'),
  );

const picturesOf = (node: XmlNode): FeedLink[] =>
  childrenOf(node, 'image:image').flatMap((image) =>
    linkOf(textOfChild(image, 'image:loc'), labeled('Image', textOfChild(image, 'image:title', 'image:caption'))),
  );

const videosOf = (node: XmlNode): FeedLink[] =>
  childrenOf(node, 'video:video').flatMap((video) =>
    linkOf(
      textOfChild(video, 'video:content_loc', 'video:player_loc', 'video:thumbnail_loc'),
      labeled('Video', textOfChild(video, 'video:title')),
    ),
  );

const labeled = (kind: string, title: string): string => (title === '' ? kind : `${kind} (${plainLine(title)})`);

function linkOf(address: string | undefined, label: string): FeedLink[] {
  const url = safeUrl(address ?? '', undefined);
  return url === undefined ? [] : [{ url, label }];
}

/** An outline as nested lists. */
export function readOpml(root: XmlNode): ParsedDocument {
  const head = childOf(root, 'head');
  const pieces: string[] = [];
  const waiting: (XmlNode | string)[] = childrenOf(childOf(root, 'body'), 'outline').reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') {
      pieces.push(next);
      continue;
    }
    const inner = childrenOf(next, 'outline');
    pieces.push(`<li>${outlineOf(next)}${inner.length > 0 ? '<ul>' : ''}`);
    waiting.push(inner.length > 0 ? '</ul></li>' : '</li>', ...inner.reverse());
  }
  const modified = isoDate(textOfChild(head, 'dateModified', 'dateCreated'));
  const author = plainLine(textOfChild(head, 'ownerName'));
  return {
    title: plainLine(textOfChild(head, 'title')),
    pages: [{ number: 1, html: pieces.length === 0 ? '' : `<ul>${pieces.join('')}</ul>` }],
    metadata: { ...(author && { author }), ...(modified && { updated: modified }) },
    publishedTime: /^\d{4}-\d\d-\d\d/.test(modified) ? modified : undefined,
    notes: [],
    hiddenCount: 0,
  };
}

function outlineOf({ attributes }: XmlNode): string {
  const text = plainLine(attributes.text || attributes.title || '');
  const feed = safeUrl(attributes.xmlUrl ?? '', undefined);
  const page = safeUrl(attributes.htmlUrl || attributes.url || '', undefined) ?? feed;
  const name = escapeText(text || page || 'Untitled');
  const linked = page === undefined ? name : `<a href="${escapeAttribute(page)}">${name}</a>`;
  return feed === undefined || feed === page ? linked : `${linked} (<a href="${escapeAttribute(feed)}">feed</a>)`;
}
