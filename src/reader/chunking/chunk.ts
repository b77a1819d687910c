/** Splits Markdown at its headings (docs/reference/wire/reader.md, Chunking). */
import { PAGE_MARKER } from '../markdown/page-marker.ts';

export interface ChunkOptions {
  /**
   * The strategy, as set by the caller. If it starts with `s`, each chunk starts with its parent headings. If its last
   * character is a digit from 1 to 9, that is the deepest heading level that starts a chunk; otherwise it is 4.
   */
  readonly strategy: string;
  /** Title of the page: the first line of each repeated heading block. */
  readonly title: string;
  /** Whether the content has markers of pages. A marker above a heading stays with it. */
  readonly pageMarkers?: boolean | undefined;
}

/** A chunk, and the range of the content that it contains. */
export interface Chunk {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A section that starts with a heading line, or the text before the first heading (level 0). */
interface Section {
  readonly text: string;
  /** The page markers directly above its heading. */
  readonly markers: string;
  readonly level: number;
  /** The range of the content, including the markers. */
  readonly start: number;
  readonly end: number;
}

const HEADING = /^(#{1,6}) /;
const FENCE = /^(?:[ >]|[*+:-] {3}|\d+[.)] {3})*(`{3,}|~{3,})(.*)$/;

/** The chunks in order, trimmed and not empty. Headings are `#` lines outside code fences. */
export function chunkMarkdown(content: string, { strategy, title, pageMarkers = false }: ChunkOptions): Chunk[] {
  const contextual = strategy.startsWith('s');
  const depth = Number(/[1-9]$/.exec(strategy)?.[0] ?? 4);
  const chunks: Section[][] = [];
  const ancestors: Ancestor[] = [];
  let open: Section[] = [];
  for (const section of splitAtHeadings(content, pageMarkers)) {
    if (section.level > 0) {
      while (ancestors.length > 0 && ancestors.at(-1)!.level >= section.level) ancestors.pop();
      if (section.level <= depth) {
        chunks.push(open);
        open = [contextual ? withParentHeadings(section, ancestors, title) : section];
      } else open.push(section);
      ancestors.push({ line: headingLine(section.text), level: section.level });
    } else open.push(section);
  }
  const all = chunks.map((sections) => chunkOf(sections, '\n\n'));
  all.push(chunkOf(open, '\n'));
  return all.filter(({ text }) => text !== '');
}

interface Ancestor {
  readonly line: string;
  readonly level: number;
}

function chunkOf(sections: readonly Section[], separator: string): Chunk {
  const texts = sections.map(({ markers, text }) => (markers === '' ? text.trim() : `${markers}\n\n${text.trim()}`));
  return { text: texts.join(separator).trim(), start: sections[0]?.start ?? 0, end: sections.at(-1)?.end ?? 0 };
}

const headingLine = (text: string): string => {
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
};

/** The first section of a chunk, preceded by the title and its parent headings, without duplicates. */
function withParentHeadings(section: Section, ancestors: readonly Ancestor[], title: string): Section {
  const own = headingLine(section.text);
  const lines = new Set<string>();
  if (title !== '') lines.add(`# ${title}`);
  for (const ancestor of ancestors) lines.add(ancestor.line);
  lines.add(own);
  const body = section.text.trimStart().slice(own.length).trim();
  const header = [...lines].join('\n');
  return { ...section, text: body === '' ? header : `${header}\n\n${body}` };
}

/**
 * Splits before every heading line, or before the page markers directly above it. A heading on the very last line does
 * not count as a heading.
 */
function splitAtHeadings(content: string, pageMarkers: boolean): Section[] {
  const text = content.trimEnd();
  const sections: Section[] = [];
  let open = { start: 0, textStart: 0, markers: '', level: 0 };
  let fence = '';
  // The markers since the last line of text.
  let markers: string[] = [];
  let markersStart = 0;
  const close = (end: number) => {
    const { start, textStart, markers: above, level } = open;
    if (end > start) sections.push({ text: text.slice(textStart, end), markers: above, level, start, end });
  };
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    const mark = FENCE.exec(line);
    if (fence !== '') {
      if (mark && mark[1]!.startsWith(fence) && mark[2]!.trim() === '') fence = '';
    } else if (mark && !(mark[1]!.startsWith('`') && mark[2]!.includes('`'))) fence = mark[1]!;
    else {
      const heading = HEADING.exec(line);
      if (heading) {
        const start = markers.length > 0 ? markersStart : at;
        close(start);
        const level = newline < 0 ? 0 : heading[1]!.length;
        open = { start, textStart: at, markers: markers.join('\n\n'), level };
      }
    }
    if (pageMarkers && fence === '' && PAGE_MARKER.test(line)) {
      if (markers.length === 0) markersStart = at;
      markers.push(line);
    } else if (line.trim() !== '') markers = [];
    at = end + 1;
  }
  close(text.length);
  return sections;
}
