/** Training labels: for each block of a page, whether it is content according to the page's gold text. */

export interface Gold {
  text?: string;
  with?: string[];
  without?: string[];
}

export interface Labels {
  /** 1 for content, 0 for boilerplate; rows of weight 0 are ignored. */
  answer: Float32Array;
  weight: Float32Array;
}

export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** Number of consecutive words that must occur in the gold text. */
const GRAM = 4;
/** Maximum distance, in words, of the content words that are matched together with a short block. */
const REACH = 400;

/** Marks the words that are part of a sequence of GRAM words of the gold text. */
function covered(words: string[], grams: ReadonlySet<string>): Uint8Array {
  const marks = new Uint8Array(words.length);
  for (let at = 0; at + GRAM <= words.length; at++) {
    if (grams.has(words.slice(at, at + GRAM).join(' '))) marks.fill(1, at, at + GRAM);
  }
  return marks;
}

/**
 * Labels the blocks by a gold text: a block is content if most of its words occur in the gold text. A short block is
 * matched together with the nearest content words around it. The weights are divided by the number of gold words, so
 * that all pages have the same weight.
 */
export function labelByText(blocks: string[][], gold: string[], pageWeight: number): Labels {
  const grams = new Set<string>();
  for (let at = 0; at + GRAM <= gold.length; at++) grams.add(gold.slice(at, at + GRAM).join(' '));
  const sequence = blocks.flat();
  const owner = blocks.flatMap((words, block) => words.map(() => block));
  const marks = covered(sequence, grams);
  const hits = new Float64Array(blocks.length);
  for (let at = 0; at < sequence.length; at++) hits[owner[at]!]! += marks[at]!;
  const isContent = (block: number) => hits[block]! * 2 >= blocks[block]!.length;
  let start = 0;
  for (let block = 0; block < blocks.length; block++) {
    const words = blocks[block]!;
    const end = start + words.length;
    if (words.length > 0 && words.length < 2 * GRAM && !isContent(block)) {
      const before: string[] = [];
      for (let at = start - 1; at >= Math.max(0, start - REACH) && before.length < GRAM - 1; at--) {
        if (marks[at] && isContent(owner[at]!)) before.unshift(sequence[at]!);
      }
      const after: string[] = [];
      for (let at = end; at < Math.min(sequence.length, end + REACH) && after.length < GRAM - 1; at++) {
        if (marks[at] && isContent(owner[at]!)) after.push(sequence[at]!);
      }
      const again = covered([...before, ...words, ...after], grams).slice(before.length, before.length + words.length);
      const found = again.reduce((sum, one) => sum + one, 0);
      if (found * 2 >= words.length) hits[block] = found;
    }
    start = end;
  }
  const norm = Math.max(gold.length, 0.2 * sequence.length, 30);
  return {
    answer: Float32Array.from(blocks, (words, block) => (words.length > 0 && isContent(block) ? 1 : 0)),
    weight: Float32Array.from(blocks, (words) => (words.length > 0 ? (pageWeight * (words.length + 1.5)) / norm : 0)),
  };
}

/** Labels the blocks by required and forbidden snippets. Blocks without a snippet are ignored. */
export function labelBySnippets(blocks: string[][], gold: Gold, snippetWeight: number): Labels {
  const labels: Labels = { answer: new Float32Array(blocks.length), weight: new Float32Array(blocks.length) };
  const texts = blocks.map((words) => ` ${words.join(' ')} `);
  for (const [snippets, answer] of [
    [gold.with ?? [], 1],
    [gold.without ?? [], 0],
  ] as const) {
    for (const snippet of snippets) {
      const needle = ` ${wordsOf(snippet).join(' ')} `;
      const found = texts.flatMap((text, block) => (needle.trim() && text.includes(needle) ? [block] : []));
      for (const block of found) {
        labels.answer[block] = answer;
        labels.weight[block] = snippetWeight / found.length;
      }
    }
  }
  return labels;
}
