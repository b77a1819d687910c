/** A page's Markdown cut into passages: at headings, then between paragraphs, then between sentences. */

export interface Cut {
  readonly start: number;
  readonly end: number;
  /** The headings that it stands below, outermost first, parted by ` > `. */
  readonly heading: string;
}

/** What a passage should have, at most has, and what is too little to stand alone, in tokens as they are estimated. */
const GOAL_TOKENS = 200;
const MOST_TOKENS = 300;
const LEAST_TOKENS = 40;
const MAX_HEADING_UNITS = 200;

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const FENCE = /^[ >\t]*(`{3,}|~{3,})/;
const DENSE = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;
/** Where a long paragraph may be cut, best first. */
const BREAKS = [/[.!?…][)"'”’]*\s|[。！？]/g, /\n/g, /[,;:]\s|[，、；：]/g, /\s/g];

/** Some four letters of alphabets are a token, each letter of scripts without spaces is one. */
const tokensOf = (text: string): number => text.length / 4 + 0.75 * (text.match(DENSE)?.length ?? 0);

interface Block {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  /** Set for a heading line. */
  readonly level: number;
  readonly title: string;
}

/** Passages in order, at most `most`; they leave out nothing but blank lines. */
export function cutPassages(markdown: string, most: number): Cut[] {
  const cuts: Cut[] = [];
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
  for (const block of blocksOf(markdown)) {
    if (cuts.length >= most) break;
    const { level, start, end, tokens } = block;
    if (level > 0) {
      if (open && !open.bare && open.tokens >= LEAST_TOKENS) close();
      while (above.length > 0 && above.at(-1)!.level >= level) above.pop();
      above.push({ level, title: block.title });
      if (open) open = { ...open, end, tokens: open.tokens + tokens, ...(open.bare && { heading: path() }) };
      else open = { start, end, tokens, heading: path(), bare: true };
      continue;
    }
    if (open && !open.bare && (open.tokens >= GOAL_TOKENS || open.tokens + tokens > MOST_TOKENS)) close();
    if (open) open = { ...open, end, tokens: open.tokens + tokens, bare: false };
    else open = { start, end, tokens, heading: path(), bare: false };
  }
  close();
  return cuts.slice(0, most);
}

/** Heading lines and paragraphs; a paragraph that is too long for a passage in parts. */
function* blocksOf(markdown: string): Generator<Block> {
  let fence = '';
  let start = -1;
  let end = -1;
  const paragraph = function* (): Generator<Block> {
    if (start >= 0) yield* partsOf(markdown, start, end);
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
      yield { start: at, end: lineEnd, tokens: tokensOf(line), level: heading[1]!.length, title };
    } else if (line.trim() === '' && fence === '') yield* paragraph();
    else {
      if (start < 0) start = at;
      end = lineEnd;
    }
    at = lineEnd + 1;
  }
  yield* paragraph();
}

function* partsOf(markdown: string, from: number, to: number): Generator<Block> {
  let start = from;
  while (start < to) {
    const rest = markdown.slice(start, Math.min(to, start + MOST_TOKENS * 4));
    const tokens = tokensOf(rest);
    const whole = start + rest.length >= to;
    const end = whole && tokens <= MOST_TOKENS ? to : start + breakOf(rest, tokens);
    yield { start, end, tokens: tokensOf(markdown.slice(start, end)), level: 0, title: '' };
    start = end;
    while (start < to && /\s/.test(markdown[start]!)) start += 1;
  }
}

/** The last good place to cut a text so that its first part is a passage. */
function breakOf(text: string, tokens: number): number {
  const units = Math.max(2, Math.floor(text.length * Math.min(1, GOAL_TOKENS / tokens)));
  const part = text.slice(0, units);
  for (const pattern of BREAKS) {
    let last = 0;
    for (const match of part.matchAll(pattern)) last = match.index + match[0].length;
    if (last > units / 2) return last;
  }
  // Not between the halves of a surrogate pair.
  return /[\ud800-\udbff]/.test(part.at(-1)!) ? units - 1 : units;
}
