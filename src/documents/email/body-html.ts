/** Converts the body of a message to plain HTML. */
import { attribute, descendants, type Element, isElement, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { escapeText, innerHtml } from '#html/serialize.ts';
import { type CleanHtml, cleanHtml } from '../text/clean-html.ts';

/** The highest heading in a body: above it are the title and the names of attachments. */
const HEADING_LEVEL = 3;

export function cleanBody(source: string): CleanHtml {
  const fragment = parseFragment(source);
  const tables = [...descendants(fragment)].filter((node): node is Element => isElement(node) && node.name === 'table');
  for (const table of tables) if (isLayout(table)) unfold(table);
  return cleanHtml(innerHtml(fragment), { base: undefined, headingLevel: HEADING_LEVEL });
}

const CELLS: ReadonlySet<string> = new Set(['td', 'th']);
const PARTS: ReadonlySet<string> = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'td', 'th']);
const MAX_LOOKED_AT = 2_000;

/** Mail programs arrange whole messages with tables. A table of data has several columns and no table inside. */
function isLayout(table: Element): boolean {
  if (/^(?:presentation|none)$/i.test(attribute(table, 'role') ?? '')) return true;
  let looked = 0;
  let columns = 0;
  let inRow = 0;
  for (const node of descendants(table)) {
    if (++looked > MAX_LOOKED_AT) return false;
    if (!isElement(node)) continue;
    if (node.name === 'table') return true;
    if (node.name === 'tr') inRow = 0;
    else if (CELLS.has(node.name) && textOf(node).trim() !== '') columns = Math.max(columns, ++inRow);
  }
  return columns < 2;
}

/** Turns the elements of a table into blocks; tables inside it are not changed. */
function unfold(table: Element): void {
  const waiting: Element[] = [table];
  for (let element = waiting.pop(); element; element = waiting.pop()) {
    for (let child = element.first; child; child = child.next) {
      if (isElement(child) && PARTS.has(child.name) && child.name !== 'table') waiting.push(child);
    }
    element.name = 'div';
  }
}

const MAX_QUOTES = 10;

/** Plain text: empty lines separate paragraphs, and lines that begin with `>` are quotes. */
export function plainBody(text: string, depth = 0): string {
  const out: string[] = [];
  let lines: string[] = [];
  let quoted: string[] = [];
  const endParagraph = () => {
    if (lines.length > 0) out.push(`<p>${lines.map((line) => escapeText(line.trim())).join('<br>')}</p>`);
    lines = [];
  };
  const endQuote = () => {
    if (quoted.length > 0) out.push(`<blockquote>${plainBody(quoted.join('\n'), depth + 1)}</blockquote>`);
    quoted = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const isQuoted = line.startsWith('>') && depth < MAX_QUOTES;
    if (isQuoted) {
      endParagraph();
      quoted.push(line.slice(line[1] === ' ' ? 2 : 1));
      continue;
    }
    endQuote();
    if (line.trim() === '') endParagraph();
    else lines.push(line);
  }
  endParagraph();
  endQuote();
  return out.join('\n');
}
