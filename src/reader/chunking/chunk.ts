/** Splits Markdown at its headings (docs/reference/wire/reader.md, Chunking). */

export interface ChunkOptions {
  /**
   * The strategy, as set by the caller. If it starts with `s`, each chunk starts with its parent headings. If its last
   * character is a digit from 1 to 9, that is the deepest heading level that starts a chunk; otherwise it is 4.
   */
  readonly strategy: string;
  /** Title of the page: the first line of each repeated heading block. */
  readonly title: string;
}

/** A section that starts with a heading line, or the text before the first heading (level 0). */
interface Section {
  readonly text: string;
  readonly level: number;
}

const HEADING = /^(#{1,6}) /;
const FENCE = /^(?:[ >]|[*+:-] {3}|\d+[.)] {3})*(`{3,}|~{3,})(.*)$/;

/** The chunks in order, trimmed and not empty. Headings are `#` lines outside code fences. */
export function chunkMarkdown(content: string, { strategy, title }: ChunkOptions): string[] {
  const contextual = strategy.startsWith('s');
  const depth = Number(/[1-9]$/.exec(strategy)?.[0] ?? 4);
  const chunks: Section[][] = [];
  const ancestors: Section[] = [];
  let open: Section[] = [];
  for (const section of splitAtHeadings(content)) {
    if (section.level > 0) {
      while (ancestors.length > 0 && ancestors.at(-1)!.level >= section.level) ancestors.pop();
      if (section.level <= depth) {
        chunks.push(open);
        open = [contextual ? withParentHeadings(section, ancestors, title) : section];
      } else open.push(section);
      ancestors.push({ text: headingLine(section.text), level: section.level });
    } else open.push(section);
  }
  const texts = chunks.map((sections) => sections.map((section) => section.text.trim()).join('\n\n'));
  texts.push(open.map((section) => section.text.trim()).join('\n'));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

const headingLine = (text: string): string => {
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
};

/** The first section of a chunk, preceded by the title and its parent headings, without duplicates. */
function withParentHeadings(section: Section, ancestors: readonly Section[], title: string): Section {
  const own = headingLine(section.text);
  const lines = new Set<string>();
  if (title !== '') lines.add(`# ${title}`);
  for (const ancestor of ancestors) lines.add(ancestor.text);
  lines.add(own);
  const body = section.text.trimStart().slice(own.length).trim();
  const header = [...lines].join('\n');
  return { text: body === '' ? header : `${header}\n\n${body}`, level: section.level };
}

/** Splits before every heading line. A heading on the very last line does not count as a heading. */
function splitAtHeadings(content: string): Section[] {
  const text = content.trimEnd();
  const sections: Section[] = [];
  let start = 0;
  let level = 0;
  let fence = '';
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
        if (at > start) sections.push({ text: text.slice(start, at), level });
        start = at;
        level = newline < 0 ? 0 : heading[1]!.length;
      }
    }
    at = end + 1;
  }
  if (start < text.length) sections.push({ text: text.slice(start), level });
  return sections;
}
