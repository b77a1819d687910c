/**
 * Converts a tree to Markdown in one walk. Each element's handler (elements/) adds to the open block's inline content
 * (inline.ts) and to the block writer (blocks.ts). Nothing in the conversion recurses; its time is linear in the size
 * of the tree and the output.
 */
import { type Child, type Document, ELEMENT, type Element, type Node, TEXT, type Text } from '#html/node.ts';
import { areSeparateWords } from './adjacent-words.ts';
import { ELEMENTS } from './elements/index.ts';
import { textWithFormulas } from './elements/math.ts';
import { findFootnotes } from './footnotes.ts';
import { oneLine, withoutControlCharacters } from './one-line.ts';
import { type PageOffsets, shiftPages } from './page-offsets.ts';
import { createPageTools } from './page-tools.ts';
import {
  ConversionState,
  type LeaveHandler,
  type MarkdownOptions,
  SKIP,
  type UncaptionedImage,
  type WrittenImage,
  type WrittenLink,
} from './state.ts';
import { mayContainTex } from './tex-in-text.ts';
import type { MarkdownTrace } from './trace.ts';

export type { MarkdownOptions, UncaptionedImage, WrittenImage, WrittenLink } from './state.ts';

export interface MarkdownResult {
  readonly markdown: string;
  /** The images that were written to the Markdown, with their numbers. */
  readonly images: readonly WrittenImage[];
  /** Pictures that still need a caption. */
  readonly uncaptioned: readonly UncaptionedImage[];
  /** The links that were written to the Markdown; for citations, `id` is the number in the text. */
  readonly links: readonly WrittenLink[];
  /** Set only if requested: the sources of the blocks, and the skipped elements. */
  readonly trace?: MarkdownTrace | undefined;
  /** The pages of a document, with offsets into the Markdown. */
  readonly pages?: PageOffsets | undefined;
}

/** The content of a tree as trimmed Markdown, without control characters other than line feed and tab. */
export function toMarkdown(root: Document | Element, options: MarkdownOptions): MarkdownResult {
  const state = new ConversionState(options, findFootnotes(root, options), createPageTools(root));
  walk(root, state);
  state.trace?.at(null, false);
  state.flush();
  if (options.pages) state.startPages();
  state.blocks.finishPages();
  const { pageStarts, length } = state.blocks;
  const { definitions, images, links, uncaptioned, trace } = state;
  let markdown = state.blocks.toString();
  if (definitions.length > 0) markdown += `\n\n${definitions.join('\n')}`;
  const title = options.title === undefined ? '' : state.clean(oneLine(options.title));
  if (title !== '') {
    const first = `${titleLine(title, options)}\n\n`;
    trace?.shift(first.split('\n').length - 1);
    markdown = first + markdown;
  }
  const added = title === '' ? 0 : titleLine(title, options).length + 2;
  // Replaces characters one by one, so that offsets remain valid.
  const text = withoutControlCharacters(markdown).trimStart();
  const shift = added - (markdown.length - text.length);
  trace?.shift(1 - markdown.slice(0, markdown.length - text.length).split('\n').length);
  return {
    markdown: text.trimEnd(),
    images,
    links,
    uncaptioned: [...uncaptioned.values()],
    ...(trace && { trace }),
    ...(options.pages && { pages: shiftPages({ starts: pageStarts, end: length }, shift) }),
  };
}

const titleLine = (title: string, { headingStyle }: MarkdownOptions): string =>
  headingStyle === 'setext' ? `${title}\n===============` : `# ${title}`;

function walk(root: Document | Element, state: ConversionState): void {
  const leaves: (LeaveHandler | null)[] = [];
  const { trace } = state;
  const { pages } = state.options;
  let page: number | undefined;
  let lastText: Text | null = null;
  let node: Child | null = root.type === ELEMENT ? root : root.first;
  while (node) {
    trace?.at(node, false);
    const own = pages?.of.get(node);
    if (own !== undefined && own !== page) {
      page = own;
      state.startPages(own);
    }
    if (node.type === TEXT) {
      if (lastText && areSeparateWords(lastText, node)) state.inline.gap();
      lastText = node;
      if (state.gfm && mayContainTex(node.value)) textWithFormulas(state, node.value);
      else state.inline.text(state.clean(node.value));
    } else if (node.type === ELEMENT) {
      const enter = ELEMENTS.get(node.name);
      const leave = state.pageTools.has(node) ? SKIP : enter ? enter(state, node) : null;
      if (leave === SKIP) trace?.elementSkipped(node);
      else {
        if (node.first) {
          leaves.push(leave);
          node = node.first;
          continue;
        }
        trace?.at(node, true);
        leave?.(state, node);
      }
    }
    node = advance(node, root, state, leaves);
  }
}

/** The next node after a node with completed children. Calls the end handlers of the elements that it leaves. */
function advance(done: Child, root: Node, state: ConversionState, leaves: (LeaveHandler | null)[]): Child | null {
  let node: Child = done;
  while (node !== root) {
    if (node.next) return node.next;
    const parent: Node | null = node.parent;
    if (!parent || parent.type !== ELEMENT || leaves.length === 0) return null;
    const leave = leaves.pop();
    if (leave) {
      state.trace?.at(parent, true);
      leave(state, parent);
    }
    node = parent;
  }
  return null;
}
