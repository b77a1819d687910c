/** Splits a text into chunks of a maximum length, at the best boundary in reach. Together, they are the whole text. */

export type Range = readonly [start: number, end: number];

/** Where a chunk may end, best first: paragraph, line, sentence, word. */
const BOUNDARIES = [/\n[^\S\n]*\n\s*/g, /\n\s*/g, /[.!?…][)"'”’\]]*\s+|[。！？]/g, /\s+/g];
/** A better boundary is not used if it would leave less than this part of the maximum length. */
const MIN_FILL = 0.3;

export function chunkText(text: string, maxLength: number): Range[] {
  const ranges: Range[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.length - start <= maxLength ? text.length : start + endOfChunk(text, start, maxLength);
    ranges.push([start, end]);
    start = end;
  }
  return ranges;
}

function endOfChunk(text: string, start: number, maxLength: number): number {
  const reach = text.slice(start, start + maxLength);
  for (const boundary of BOUNDARIES) {
    const end = [...reach.matchAll(boundary)].map(({ 0: match, index }) => index + match.length).at(-1) ?? 0;
    if (end >= maxLength * MIN_FILL) return end;
  }
  // A surrogate pair stays together.
  return maxLength > 1 && /[\ud800-\udbff]$/.test(reach) ? maxLength - 1 : maxLength;
}
