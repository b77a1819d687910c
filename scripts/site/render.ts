/** Renders documentation Markdown as HTML with heading ids and page links, and collects search entries. */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { attribute, type Element, elements, find, isElement, setAttribute, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { innerHtml } from '#html/serialize.ts';
import type { Heading } from './pages.ts';

/** A section or table row that the search can find. */
export interface SearchEntry {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** The level of the heading; 0 for a table row. */
  readonly level: number;
}

export interface Rendered {
  readonly title: string;
  readonly summary: string;
  readonly html: string;
  readonly headings: Heading[];
  readonly entries: SearchEntry[];
}

/** Renders one file. `linkTo` maps a relative path to a URL, or to `undefined` if the site has no page for it. */
export function renderMarkdown(markdown: string, linkTo: (target: string) => string | undefined): Rendered {
  const html = micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true });
  const document = parseDocument(html);
  const body = find(document, 'body')!;
  const headings = numberHeadings(body);
  const rows = numberRows(body, new Set(headings.map(({ id }) => id)));
  for (const link of elements(body, 'a')) rewriteLink(link, linkTo);
  for (const block of elements(body, 'pre')) setAttribute(block, 'tabindex', '0');
  // An empty cell is no header. Markdown has no other way to write the corner of a table.
  for (const cell of [...elements(body, 'th')]) if (textOf(cell).trim() === '') cell.name = 'td';
  const title = headings.find(({ level }) => level === 1)?.text ?? '';
  const paragraph = find(body, 'p');
  return {
    title,
    summary: paragraph ? collapseSpaces(textOf(paragraph)) : '',
    html: innerHtml(body),
    headings,
    entries: [...sections(body), ...rows],
  };
}

const HEADING = /^h([1-6])$/;
const levelOf = (element: Element) => Number(HEADING.exec(element.name)?.[1] ?? 0);
const collapseSpaces = (text: string) => text.replace(/\s+/g, ' ').trim();

function numberHeadings(body: Element): Heading[] {
  const taken = new Map<string, number>();
  return [...elements(body)].filter(levelOf).map((element) => {
    const text = collapseSpaces(textOf(element));
    const slug = slugOf(text);
    const times = taken.get(slug) ?? 0;
    taken.set(slug, times + 1);
    const id = times ? `${slug}-${times}` : slug;
    setAttribute(element, 'id', id);
    return { id, text, level: levelOf(element) };
  });
}

/** Creates the same heading ids as code hosting sites, so that links work both in the repository and on the site. */
const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** Makes table rows that start with code (options, settings, errors) linkable and searchable by that name. */
function numberRows(body: Element, taken: Set<string>): SearchEntry[] {
  return [...elements(body, 'tr')].flatMap((row) => {
    const cells = [...elements(row, 'td')];
    const names = cells.slice(0, 3).flatMap((cell) => [...elements(cell, 'code')].map((code) => textOf(code)));
    const [name] = names;
    if (cells.length < 2 || name === undefined || !/^[\w.-]+$/.test(name)) return [];
    const id = name;
    if (!taken.has(id)) {
      taken.add(id);
      setAttribute(row, 'id', id);
    }
    return [
      {
        id,
        title: names.slice(0, 3).join(', '),
        text: cells.map((cell) => collapseSpaces(textOf(cell))).join(' · '),
        level: 0,
      },
    ];
  });
}

function rewriteLink(link: Element, linkTo: (target: string) => string | undefined): void {
  const href = attribute(link, 'href') ?? '';
  if (href.startsWith('#')) return;
  if (/^[a-z][a-z\d+.-]*:/i.test(href)) {
    setAttribute(link, 'rel', 'noreferrer');
    return;
  }
  const [target = '', fragment] = href.split('#', 2);
  const url = linkTo(decodeURI(target));
  if (url !== undefined) setAttribute(link, 'href', fragment ? `${url}#${fragment}` : url);
  // A repository file that is not a page of the site: the link is removed, but its text remains.
  else link.attributes = [];
}

/** Yields the text under each heading. */
function* sections(body: Element): Generator<SearchEntry> {
  let current: (Omit<SearchEntry, 'text'> & { texts: string[] }) | undefined;
  const entryOf = ({ texts, ...section }: NonNullable<typeof current>) => ({ ...section, text: texts.join(' ') });
  for (let node = body.first; node; node = node.next) {
    if (!isElement(node)) continue;
    const level = levelOf(node);
    if (level) {
      if (current) yield entryOf(current);
      current = { id: attribute(node, 'id') ?? '', title: collapseSpaces(textOf(node)), level, texts: [] };
    } else if (node.name !== 'table') current?.texts.push(collapseSpaces(textOf(node)));
  }
  if (current) yield entryOf(current);
}
