/** Splits the Markdown of a page into passages: at headings, then between paragraphs, then between sentences. */

export interface PassageRange {
  readonly start: number;
  readonly end: number;
  /** The headings above it, outermost first, joined by ` > `. */
  readonly heading: string;
}

/**
 * Target and maximum size of a passage, and the size below which it is merged with the next one, in estimated tokens.
 */
const TARGET_TOKENS = 200;
const MAX_TOKENS = 300;
const MIN_TOKENS = 40;
const MAX_HEADING_UNITS = 200;

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const FENCE = /^[ >\t]*(`{3,}|~{3,})/;
const DENSE = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;
/** Where a long paragraph may be split, best first. */
const BREAKS = [/[.!?…][)"'”’]*\s|[。！？]/g, /\n/g, /[,;:]\s|[，、；：]/g, /\s/g];

/**
 * Estimates the number of tokens: four letters of an alphabet, or one letter of a script without spaces, count as one
 * token.
 */
const estimateTokens = (text: string): number => text.length / 4 + 0.75 * (text.match(DENSE)?.length ?? 0);

interface Block {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  /** The level of a heading line; 0 for text. */
  readonly level: number;
  readonly title: string;
}

/** Returns at most `limit` passages, in order. Only blank lines are omitted. */
export function cutPassages(markdown: string, limit: number): PassageRange[] {
  const cuts: PassageRange[] = [];
  const above: { level: number; title: string }[] = [];
  let open: { start: number; end: number; tokens: number; heading: string; bare: boolean } | undefined;
  const close = () => {
    if (open) cuts.push({ start: open.start, end: open.end, heading: open.heading });
    open = undefined;
  };
  const path = () =>
    above
      .map(({ title }) => title)
      .join(' > ')
      .slice(0, MAX_HEADING_UNITS);
  for (const block of readBlocks(markdown)) {
    if (cuts.length >= limit) break;
    const { level, start, end, tokens } = block;
    if (level > 0) {
      if (open && !open.bare && open.tokens >= MIN_TOKENS) close();
      while (above.length > 0 && above.at(-1)!.level >= level) above.pop();
      above.push({ level, title: block.title });
      if (open) open = { ...open, end, tokens: open.tokens + tokens, ...(open.bare && { heading: path() }) };
      else open = { start, end, tokens, heading: path(), bare: true };
      continue;
    }
    if (open && !open.bare && (open.tokens >= TARGET_TOKENS || open.tokens + tokens > MAX_TOKENS)) close();
    if (open) open = { ...open, end, tokens: open.tokens + tokens, bare: false };
    else open = { start, end, tokens, heading: path(), bare: false };
  }
  close();
  return cuts.slice(0, limit);
}

/** Yields heading lines and paragraphs. Long paragraphs are yielded in parts. */
function* readBlocks(markdown: string): Generator<Block> {
  let fence = '';
  let start = -1;
  let end = -1;
  const paragraph = function* (): Generator<Block> {
    if (start >= 0) yield* splitParagraph(markdown, start, end);
    start = -1;
  };
  for (let at = 0; at < markdown.length; ) {
    const newline = markdown.indexOf('\n', at);
    const lineEnd = newline < 0 ? markdown.length : newline;
    const line = markdown.slice(at, lineEnd);
    const mark = FENCE.exec(line)?.[1];
    const heading = fence === '' ? HEADING.exec(line) : null;
    if (mark && fence === '') fence = mark;
    else if (mark?.startsWith(fence) && fence !== '') fence = '';
    if (heading) {
      yield* paragraph();
      const title = heading[2]!.trim();
      yield { start: at, end: lineEnd, tokens: estimateTokens(line), level: heading[1]!.length, title };
    } else if (line.trim() === '' && fence === '') yield* paragraph();
    else {
      if (start < 0) start = at;
      end = lineEnd;
    }
    at = lineEnd + 1;
  }
  yield* paragraph();
}

function* splitParagraph(markdown: string, from: number, to: number): Generator<Block> {
  let start = from;
  while (start < to) {
    const rest = markdown.slice(start, Math.min(to, start + MAX_TOKENS * 4));
    const tokens = estimateTokens(rest);
    const whole = start + rest.length >= to;
    const end = whole && tokens <= MAX_TOKENS ? to : start + findBreak(rest, tokens);
    yield { start, end, tokens: estimateTokens(markdown.slice(start, end)), level: 0, title: '' };
    start = end;
    while (start < to && /\s/.test(markdown[start]!)) start += 1;
  }
}

/** Finds the last suitable position at which to split a text so that its first part has about the target size. */
function findBreak(text: string, tokens: number): number {
  const units = Math.max(2, Math.floor(text.length * Math.min(1, TARGET_TOKENS / tokens)));
  const part = text.slice(0, units);
  for (const pattern of BREAKS) {
    let last = 0;
    for (const match of part.matchAll(pattern)) last = match.index + match[0].length;
    if (last > units / 2) return last;
  }
  // Never split a surrogate pair.
  return /[\ud800-\udbff]/.test(part.at(-1)!) ? units - 1 : units;
}
