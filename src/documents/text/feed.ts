/** A common model of feeds and sitemaps of any format, and its HTML. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { ParsedDocument } from '../document.ts';

export interface FeedLink {
  readonly url: string;
  /** Further information about the link: a type, a language. */
  readonly label: string;
}

export interface FeedEntry {
  readonly title: string;
  readonly url: string | undefined;
  /** ISO 8601 if it could be parsed. */
  readonly date: string;
  readonly author: string;
  /** Clean HTML. */
  readonly html: string;
  readonly links: readonly FeedLink[];
}

export interface Feed {
  readonly title: string;
  /** Each value is a single line; empty values are left out. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly publishedTime: string;
  readonly lang: string;
  /** The entries are read lazily while writing, so that reading stops when the output is full. */
  readonly entries: Iterable<FeedEntry>;
  readonly hidden: { count: number };
  /** `articles`: each entry has a heading. `addresses`: entries are list items. */
  readonly form: 'articles' | 'addresses';
}

/** Maximum size of the resulting HTML, in bytes. */
const MAX_HTML_BYTES = 32 * 1024 * 1024;

export function writeFeed({ title, metadata, publishedTime, lang, entries, hidden, form }: Feed): ParsedDocument {
  const { html, whole, newest } = write(entries, form);
  return {
    title,
    pages: [{ number: 1, html }],
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== '')),
    publishedTime: isTime(publishedTime) ? publishedTime : isTime(newest) ? newest : undefined,
    lang: lang === '' ? undefined : lang,
    notes: whole ? [] : ['The list is too long: its end is left out'],
    hiddenCount: hidden.count,
  };
}

function write(entries: Iterable<FeedEntry>, form: Feed['form']) {
  const parts: string[] = [];
  let bytes = 0;
  let newest = '';
  let whole = true;
  for (const entry of entries) {
    const part = form === 'articles' ? article(entry) : address(entry);
    bytes += Buffer.byteLength(part);
    if (bytes > MAX_HTML_BYTES) {
      whole = false;
      break;
    }
    if (isTime(entry.date) && Date.parse(entry.date) > (Date.parse(newest) || 0)) newest = entry.date;
    parts.push(part);
  }
  const html = parts.join('\n');
  return { html: form === 'articles' || html === '' ? html : `<ul>\n${html}\n</ul>`, whole, newest };
}

function article({ title, url, date, author, html, links }: FeedEntry): string {
  const heading = title !== '' ? title : (bareAddress(url) ?? date) || 'Untitled';
  const facts = [date === '' ? '' : time(date), escapeText(author)].filter((fact) => fact !== '').join(' · ');
  const list = links.map((link) => `<li>${linkTo(link.url, link.label)}</li>`).join('');
  return [
    `<h2>${linkTo(url, heading)}</h2>`,
    facts === '' ? '' : `<p>${facts}</p>`,
    html,
    list === '' ? '' : `<ul>${list}</ul>`,
  ]
    .filter((piece) => piece !== '')
    .join('\n');
}

function address({ title, url, date, html, links }: FeedEntry): string {
  const list = links.map((link) => `<li>${escapeText(link.label)}: ${linkTo(link.url, link.url)}</li>`).join('');
  const when = date === '' ? '' : ` (${time(date)})`;
  return `<li>${linkTo(url, title || url || 'Untitled')}${when}${html}${list === '' ? '' : `<ul>${list}</ul>`}</li>`;
}

const linkTo = (url: string | undefined, text: string): string =>
  url === undefined ? escapeText(text) : `<a href="${escapeAttribute(url)}">${escapeText(text)}</a>`;

const time = (date: string): string =>
  isTime(date) ? `<time datetime="${escapeAttribute(date)}">${escapeText(date)}</time>` : escapeText(date);

const isTime = (date: string): boolean => /^\d{4}-\d\d-\d\d/.test(date) && !Number.isNaN(Date.parse(date));

const bareAddress = (url: string | undefined): string | undefined => url?.replace(/^https?:\/\/(?:www\.)?|\/$/g, '');
