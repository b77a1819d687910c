/** The elements of a document as XHTML, which parsers of HTML and of XML read. */
import type { ContentElement, TableCell } from '#reader/index.ts';

/** How pictures are written. */
export type WritePicture = (element: ContentElement) => string;

const imageTag: WritePicture = ({ url = '', text }) => `<img src="${escapeXml(url)}" alt="${escapeXml(text)}"/>`;

/** The pages of a document in `<div class="page">`; the elements alone if there are no pages. */
export function pagesXhtml(elements: readonly ContentElement[], picture: WritePicture = imageTag): string {
  const pages: { number: number | undefined; elements: ContentElement[] }[] = [];
  for (const element of elements) {
    const last = pages.at(-1);
    if (last && last.number === element.page) last.elements.push(element);
    else pages.push({ number: element.page, elements: [element] });
  }
  return pages
    .map(({ number, elements: some }) => {
      const html = elementsXhtml(some, picture);
      return number === undefined ? html : `<div class="page">${html}</div>`;
    })
    .join('\n');
}

export function elementsXhtml(elements: readonly ContentElement[], picture: WritePicture = imageTag): string {
  const out: string[] = [];
  for (let at = 0; at < elements.length; at++) {
    const element = elements[at]!;
    if (element.kind !== 'list item') {
      out.push(elementXhtml(element, picture));
      continue;
    }
    const from = at;
    while (elements[at + 1]?.kind === 'list item') at += 1;
    out.push(listXhtml(elements.slice(from, at + 1)));
  }
  return out.join('\n');
}

function elementXhtml(element: ContentElement, picture: WritePicture): string {
  const text = escapeXml(element.text).replaceAll('\n', '<br/>');
  switch (element.kind) {
    case 'heading':
      return `<h${element.level}>${text}</h${element.level}>`;
    case 'code':
      return `<pre><code>${escapeXml(element.text)}</code></pre>`;
    case 'quote':
      return `<blockquote><p>${text}</p></blockquote>`;
    case 'table':
      return tableXhtml(element.rows ?? []);
    case 'picture':
      return picture(element);
    default:
      return `<p>${text}</p>`;
  }
}

/** Depth of the deepest list that is written as one. */
const MAX_DEPTH = 10;

function listXhtml(items: readonly ContentElement[]): string {
  const depthOf = ({ level = 1 }: ContentElement) => Math.min(level, MAX_DEPTH);
  const depth = Math.min(...items.map(depthOf));
  const out: string[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at]!;
    const isOwn = depthOf(item) === depth;
    const from = isOwn ? at + 1 : at;
    let to = from;
    while (to < items.length && depthOf(items[to]!) > depth) to += 1;
    out.push(`<li>${isOwn ? escapeXml(item.text) : ''}${to > from ? listXhtml(items.slice(from, to)) : ''}</li>`);
    at = to;
  }
  const tag = items[0]!.isNumbered ? 'ol' : 'ul';
  return `<${tag}>${out.join('')}</${tag}>`;
}

/** The rows at the top whose cells are all headers are the head. */
export function tableXhtml(rows: readonly (readonly TableCell[])[]): string {
  const first = rows.findIndex((cells) => !cells.every(({ isHeader }) => isHeader));
  const heads = first < 0 ? rows.length : first;
  const part = (tag: string, some: typeof rows) =>
    some.length === 0 ? '' : `<${tag}>${some.map(rowXhtml).join('')}</${tag}>`;
  return `<table>${part('thead', rows.slice(0, heads))}${part('tbody', rows.slice(heads))}</table>`;
}

const rowXhtml = (cells: readonly TableCell[]): string =>
  `<tr>${cells
    .map(({ text, isHeader, colspan, rowspan }) => {
      const tag = isHeader ? 'th' : 'td';
      const spans = `${colspan > 1 ? ` colspan="${colspan}"` : ''}${rowspan > 1 ? ` rowspan="${rowspan}"` : ''}`;
      return `<${tag}${spans}>${escapeXml(text)}</${tag}>`;
    })
    .join('')}</tr>`;

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text and attribute values. XML has no other named references. */
export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (unit) => REFERENCES[unit]!);
