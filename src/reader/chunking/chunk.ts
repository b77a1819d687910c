/** Markdown cut at its headings (contract, section 6.8). */

export interface ChunkOptions {
  /**
   * As the caller wrote it: text that starts with `s` gives each chunk the headings above it, everything else plain
   * pieces; its last character, when it is 1-9, is the deepest heading level that starts a chunk, else 4.
   */
  readonly strategy: string;
  /** The page's title, the first line of each header block. */
  readonly title: string;
}

/** A part of the content that starts with a heading line, or the part before the first one (level 0). */
interface Piece {
  readonly text: string;
  readonly level: number;
}

const HEADING = /^(#{1,6}) /;
const FENCE = /^(?:[ >]|[*+:-] {3}|\d+[.)] {3})*(`{3,}|~{3,})(.*)$/;

/** Chunks in order, trimmed, none empty. Headings are `#` lines outside code fences. */
export function chunkMarkdown(content: string, { strategy, title }: ChunkOptions): string[] {
  const contextual = strategy.startsWith('s');
  const depth = Number(/[1-9]$/.exec(strategy)?.[0] ?? 4);
  const chunks: Piece[][] = [];
  const ancestors: Piece[] = [];
  let open: Piece[] = [];
  for (const piece of cut(content)) {
    if (piece.level > 0) {
      while (ancestors.length > 0 && ancestors.at(-1)!.level >= piece.level) ancestors.pop();
      if (piece.level <= depth) {
        chunks.push(open);
        open = [contextual ? withHeader(piece, ancestors, title) : piece];
      } else open.push(piece);
      ancestors.push({ text: headingLine(piece.text), level: piece.level });
    } else open.push(piece);
  }
  const texts = chunks.map((pieces) => pieces.map((piece) => piece.text.trim()).join('\n\n'));
  texts.push(open.map((piece) => piece.text.trim()).join('\n'));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

const headingLine = (text: string): string => {
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
};

/** The opening piece of a chunk under the title and the headings it stands below, none of them twice. */
function withHeader(piece: Piece, ancestors: readonly Piece[], title: string): Piece {
  const own = headingLine(piece.text);
  const lines = new Set<string>();
  if (title !== '') lines.add(`# ${title}`);
  for (const ancestor of ancestors) lines.add(ancestor.text);
  lines.add(own);
  const body = piece.text.trimStart().slice(own.length).trim();
  const header = [...lines].join('\n');
  return { text: body === '' ? header : `${header}\n\n${body}`, level: piece.level };
}

/** Cuts before every heading line. A heading that is the very last line of all counts as no heading. */
function cut(content: string): Piece[] {
  const text = content.trimEnd();
  const pieces: Piece[] = [];
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
        if (at > start) pieces.push({ text: text.slice(start, at), level });
        start = at;
        level = newline < 0 ? 0 : heading[1]!.length;
      }
    }
    at = end + 1;
  }
  if (start < text.length) pieces.push({ text: text.slice(start), level });
  return pieces;
}
