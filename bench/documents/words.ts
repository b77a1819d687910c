/** Compares the words of an answer with those of the truth, without regard to their order. */
import type { Truth } from './folder.ts';

export interface WordShares {
  readonly recall: number;
  readonly precision: number;
}

const WORD = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\p{L}\p{N}]+/gu;

const wordsOf = (text: string): string[] =>
  text.normalize('NFKC').replaceAll('\u00ad', '').toLowerCase().match(WORD) ?? [];

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const sharedBy = (one: ReadonlyMap<string, number>, two: ReadonlyMap<string, number>): number =>
  [...one].reduce((sum, [word, count]) => sum + Math.min(count, two.get(word) ?? 0), 0);

/** Markdown without the targets of its links, its tags and its escapes. */
const plainText = (markdown: string): string =>
  markdown
    .replace(/\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"\n]*")?\)/g, ']')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replace(/\\(?=[^\p{L}\p{N}\s])/gu, '');

/**
 * Repeated lines may be absent, so their words are not required. Words of asides and of the name of the file, which is
 * the title of a file without one, are allowed.
 */
export function compareWords(markdown: string, name: string, { text, repeats = [], aside = {} }: Truth): WordShares {
  const running = new Set(repeats.map((line) => line.replace(/\s+/g, ' ').trim()));
  const isRunning = (line: string) => running.has(line.replace(/\d+/g, '#').replace(/\s+/g, ' ').trim());
  const wanted = wordsOf(
    text
      .split('\n')
      .filter((line) => !isRunning(line))
      .join('\n'),
  );
  const given = wordsOf(plainText(markdown));
  const have = countsOf(given);
  const allowed = countsOf(wordsOf([text, name, ...Object.values(aside)].join('\n')));
  return {
    recall: wanted.length === 0 ? 1 : sharedBy(countsOf(wanted), have) / wanted.length,
    precision: given.length === 0 ? 1 : sharedBy(have, allowed) / given.length,
  };
}
