/** Explains a result: which step removed which part, and the source element of each block of the Markdown. */
import type { PageBox } from '#documents/marks.ts';
import type { Article } from './article.ts';
import { MACHINE_ONLY_ELEMENTS, type Removal, type RemovalLog, readableText } from './extract/content/removal-log.ts';
import { extractionVersion } from './extract/version.ts';
import type { MarkdownOptions } from './markdown/to-markdown.ts';
import type { MarkdownTrace, TracedBlock } from './markdown/trace.ts';
import { lineStarts } from './places/placed-blocks.ts';
import { type Places, placeOf } from './places/take-places.ts';

export interface Explanation {
  /** Version of the extraction that produced this result. */
  version: string;
  /** Kind of page, as recognized from its structure, with a confidence of 0 to 1. */
  kind?: string;
  kindConfidence?: number;
  /** Confidence in the choice of the content, 0 to 1. */
  confidence: number;
  /** How the content was chosen: see `Article`. */
  source: Article['source'];
  /** At most 500. */
  removed: Removal[];
  /** Number of removals, including those beyond the 500 listed. */
  removedCount: number;
  /** At most 2,000, in the order of the Markdown. */
  blocks: ExplainedBlock[];
  blockCount: number;
}

/** A block of the Markdown and its source element. */
export interface ExplainedBlock {
  /** First line of the block in `content`, counted from 1. */
  line: number;
  lines: number;
  /** Matches exactly the source element in the original document. */
  selector: string;
  /** Start of the first line of the block; at most 100 characters. */
  text: string;
  /** The page, slide, sheet or chapter of a document. */
  page?: number;
  /** The rectangle on that page, for PDFs. */
  box?: PageBox;
}

const MAX_BLOCKS = 2_000;

/** The Markdown before and after truncation. */
export interface WrittenMarkdown {
  readonly trace: MarkdownTrace;
  readonly markdown: string;
  /** The text before the Markdown in the result. */
  readonly head: string;
  /** Content of the result: `head` and the Markdown, possibly truncated. */
  readonly content: string;
  readonly options: Pick<MarkdownOptions, 'retainImages' | 'retainLinks'>;
}

export function explain(
  removals: RemovalLog,
  article: Article,
  written: WrittenMarkdown | undefined,
  places?: Places,
): Explanation {
  const { kind, kindConfidence, confidence, source } = article;
  const { blocks, count } = written ? explainBlocks(removals, written, places) : { blocks: [], count: 0 };
  if (written) recordLeftOut(removals, written);
  return {
    version: extractionVersion(),
    ...(kind && { kind }),
    ...(kindConfidence !== undefined && { kindConfidence: rounded(kindConfidence) }),
    confidence: rounded(confidence),
    source,
    removed: removals.list(),
    removedCount: removals.count,
    blocks,
    blockCount: count,
  };
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** Returns the blocks that are in the result. Those that were cut off are recorded as removed. */
function explainBlocks(
  removals: RemovalLog,
  { trace, markdown, head, content }: WrittenMarkdown,
  places: Places | undefined,
) {
  const whole = head + markdown;
  const starts = lineStarts(whole);
  const before = lineStarts(head).length - 1;
  const last = lineStarts(content.trimEnd()).length;
  const blocks: ExplainedBlock[] = [];
  let count = 0;
  for (const block of trace.blocks) {
    const line = block.line + before;
    const start = starts[line]!;
    const end = (starts[line + block.lines] ?? whole.length + 1) - 1;
    if (end > content.length) recordCut(removals, block, whole.slice(Math.max(start, content.length), end));
    if (start >= content.length) continue;
    count += 1;
    const selector = blocks.length < MAX_BLOCKS && block.source && removals.selectorOf(block.source);
    if (!selector) continue;
    const text = content.slice(start, Math.min(start + MAX_TEXT_CHARACTERS, end)).split('\n', 1)[0]!;
    const place = places && block.source ? placeOf(block.source, places) : {};
    blocks.push({ line: line + 1, lines: Math.min(block.lines, last - line), selector, text, ...place });
  }
  return { blocks, count };
}

const MAX_TEXT_CHARACTERS = 100;

function recordCut(removals: RemovalLog, { source }: TracedBlock, text: string): void {
  if (source) removals.add({ step: 'cut', rule: 'beyond maxTokens', node: source, text });
}

/** Records elements that have no output in the Markdown although they are visible. */
function recordLeftOut(removals: RemovalLog, { trace, options }: WrittenMarkdown): void {
  for (const element of trace.leftOut) {
    if (MACHINE_ONLY_ELEMENTS.has(element.name)) continue;
    const text = readableText(element);
    if (text.trim() === '' && !SHOWN_WITHOUT_TEXT.has(element.name)) continue;
    removals.add({ step: 'markdown', rule: ruleFor(element.name, options), node: element, text });
  }
}

/** Elements that are visible although they contain no text. */
const SHOWN_WITHOUT_TEXT = new Set(['img', 'video', 'audio', 'iframe', 'embed', 'object']);

function ruleFor(name: string, { retainImages, retainLinks }: WrittenMarkdown['options']): string {
  if (name === 'a')
    return retainLinks === 'none' ? 'retainLinks is none' : 'a footnote back link or a permalink of a heading';
  if (name === 'img') {
    if (retainImages === 'none') return 'retainImages is none';
    return retainImages.startsWith('alt') ? 'a picture without alt text' : 'a picture without a URL';
  }
  if (SHOWN_WITHOUT_TEXT.has(name)) return 'a player or frame that retainMedia does not include';
  return `text in <${name}> is not extracted`;
}
