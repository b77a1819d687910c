/** Reads the structure tree of a tagged file: which pieces form a block, and which blocks are headings. */
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import type { DrawnContent, Piece } from './drawn-content.ts';

export interface Tag {
  /** Number of the block; all text of one paragraph, heading or item has the same one. */
  readonly block: number;
  /** 1 to 6 for a heading, otherwise 0. */
  readonly level: number;
  /** Whether it is tagged as a paragraph, which is never a heading, regardless of its style. */
  readonly isText: boolean;
  readonly isQuote: boolean;
}

export interface Tags {
  /** The tags by marked content id. */
  readonly texts: ReadonlyMap<number, Tag>;
  /** Alt text of images, by marked content id. */
  readonly figures: ReadonlyMap<number, string>;
}

const NONE: Tags = { texts: new Map(), figures: new Map() };

interface Node {
  readonly role?: string;
  readonly type?: string;
  readonly id?: string;
  readonly alt?: string;
  readonly children?: readonly Node[];
}

const BLOCKS = new Set(
  'P H H1 H2 H3 H4 H5 H6 Title LI LBody Lbl TD TH Caption Note FENote Code BlockQuote TOCI Aside'.split(' '),
);
const MAX_NODES = 50_000;
/** A block with this share of a long page's text comes from a program that does not tag paragraphs. */
const WHOLE_PAGE = 0.6;
const LONG_PAGE = 1_200;

/** Empty if the file has no tags or implausible ones. */
export async function tagsOf(document: PDFDocumentProxy, page: PDFPageProxy, content: DrawnContent): Promise<Tags> {
  if (!content.pieces.some(({ mark }) => mark !== null) && !content.fills.some(({ mark }) => mark !== null))
    return NONE;
  const info = (await document.getMarkInfo().catch(() => null)) as { Marked?: boolean } | null;
  if (!info?.Marked) return NONE;
  const tree = (await page.getStructTree().catch(() => null)) as Node | null;
  if (!tree) return NONE;
  const texts = new Map<number, Tag>();
  const figures = new Map<number, string>();
  let block = 0;
  let seen = 0;
  const todo: { node: Node; tag: Tag | null; alt: string }[] = [{ node: tree, tag: null, alt: '' }];
  for (let next = todo.pop(); next && seen < MAX_NODES; next = todo.pop()) {
    const { node, tag, alt } = next;
    seen += 1;
    if (node.type === 'content') {
      const mark = Number(/_mc(\d+)$/.exec(node.id ?? '')?.[1] ?? Number.NaN);
      if (tag && Number.isInteger(mark) && !texts.has(mark)) texts.set(mark, tag);
      if (alt !== '' && Number.isInteger(mark)) figures.set(mark, alt);
      continue;
    }
    const role = node.role ?? '';
    const own = BLOCKS.has(role) ? tagOfRole(role, tag, () => ++block) : tag;
    const ownAlt = role === 'Figure' ? (node.alt ?? '').trim() : alt;
    for (const child of (node.children ?? []).toReversed()) todo.push({ node: child, tag: own, alt: ownAlt });
  }
  return { texts: isBelievable(texts, content.pieces) ? texts : new Map(), figures };
}

/** A list item forms one block with its marker and text; a paragraph in an item or a cell forms its own. */
function tagOfRole(role: string, outer: Tag | null, nextBlock: () => number): Tag {
  if ((role === 'LBody' || role === 'Lbl') && outer) return outer;
  const level = role === 'Title' ? 1 : role === 'H' ? 2 : Number(/^H([1-6])$/.exec(role)?.[1] ?? 0);
  const isText = role === 'P' || role === 'LI' || role === 'Code';
  return { block: nextBlock(), level, isText, isQuote: role === 'BlockQuote' || outer?.isQuote === true };
}

function isBelievable(tags: ReadonlyMap<number, Tag>, pieces: readonly Piece[]): boolean {
  const letters = new Map<number, number>();
  let all = 0;
  let headings = 0;
  for (const { mark, text } of pieces) {
    const tag = mark === null ? undefined : tags.get(mark);
    all += text.length;
    if (!tag) continue;
    letters.set(tag.block, (letters.get(tag.block) ?? 0) + text.length);
    if (tag.level > 0) headings += text.length;
  }
  if (headings > 0.5 * all && all > LONG_PAGE) return false;
  return all < LONG_PAGE || Math.max(0, ...letters.values()) < WHOLE_PAGE * all;
}
