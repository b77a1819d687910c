/** JSON Feed (jsonfeed.org, versions 1 and 1.1). */
import type { ParsedDocument } from '../document.ts';
import { cleanHtml, oneLine, plainParagraphs } from './clean-html.ts';
import { isoDate } from './date.ts';
import { type FeedEntry, writeFeed } from './feed.ts';
import { ENTRY_HEADINGS, enclosureLabel } from './rss.ts';
import { firstHttpUrl, safeUrl } from './url.ts';

/** The version URL that marks a JSON feed. No other text contains it in this form. */
const VERSION = /"version"\s{0,20}:\s{0,20}"https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org\\?\/version/;
/** Characters at the start and the end of a file that are searched for the version. */
const START = 64 * 1024;

/** Returns `undefined` if the text is not a JSON feed. */
export function readJsonFeed(text: string): ParsedDocument | undefined {
  if (!VERSION.test(text.slice(0, START)) && !VERSION.test(text.slice(-START))) return undefined;
  let feed: unknown;
  try {
    feed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(feed) || !Array.isArray(feed.items)) return undefined;
  const base = firstHttpUrl(stringIn(feed, 'home_page_url'), stringIn(feed, 'feed_url'));
  const hidden = { count: 0 };
  const language = stringIn(feed, 'language');
  return writeFeed({
    title: oneLine(stringIn(feed, 'title')),
    metadata: {
      description: oneLine(stringIn(feed, 'description')),
      link: base ?? '',
      language,
      author: authorsOf(feed),
    },
    publishedTime: '',
    lang: language,
    entries: entriesOf(feed.items, base, hidden),
    hidden,
    form: 'articles',
  });
}

function* entriesOf(
  items: readonly unknown[],
  base: string | undefined,
  hidden: { count: number },
): Generator<FeedEntry> {
  for (const item of items) {
    if (!isObject(item)) continue;
    const { html, hiddenCount } = htmlOf(item, base);
    hidden.count += hiddenCount;
    yield {
      title: oneLine(stringIn(item, 'title')),
      url: safeUrl(
        stringIn(item, 'url') || stringIn(item, 'external_url') || (firstHttpUrl(stringIn(item, 'id')) ?? ''),
        base,
      ),
      date: isoDate(stringIn(item, 'date_published') || stringIn(item, 'date_modified')),
      author: authorsOf(item),
      html,
      links: listIn(item, 'attachments').flatMap((attachment) => {
        const url = safeUrl(stringIn(attachment, 'url'), base);
        const size = attachment.size_in_bytes;
        const label = enclosureLabel(stringIn(attachment, 'mime_type'), typeof size === 'number' ? size : '');
        return url === undefined ? [] : [{ url, label }];
      }),
    };
  }
}

function htmlOf(item: Json, base: string | undefined) {
  const options = { base, headingLevel: ENTRY_HEADINGS };
  const plain =
    stringIn(item, 'summary') || (stringIn(item, 'content_html') === '' ? stringIn(item, 'content_text') : '');
  if (plain !== '') return { html: plainParagraphs(plain), hiddenCount: 0 };
  return cleanHtml(stringIn(item, 'content_html'), options);
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringIn = (object: Json, name: string): string => (typeof object[name] === 'string' ? object[name].trim() : '');

const listIn = (object: Json, name: string): Json[] =>
  Array.isArray(object[name]) ? object[name].filter(isObject) : [];

const authorsOf = (object: Json): string =>
  [...listIn(object, 'authors'), object.author]
    .filter(isObject)
    .map((author) => oneLine(stringIn(author, 'name')))
    .filter((name) => name !== '')
    .join(', ');
