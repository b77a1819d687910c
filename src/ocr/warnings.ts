/** Says in words what the reader of an answer should know about its text recognition. */
import type { OcrResult } from './ocr.ts';

/** Number of doubted numbers that are named. */
const MOST_NAMED = 10;

/** One sentence for the numbers that were read differently, and the notes of all pages, each once. */
export function ocrWarnings(results: readonly Pick<OcrResult, 'doubts' | 'notes'>[]): string[] {
  const doubts = results.flatMap((result) => result.doubts);
  const named = doubts.slice(0, MOST_NAMED).map(({ chosen, other }) => `${chosen} (or ${other})`);
  const rest = doubts.length > MOST_NAMED ? ', ...' : '';
  const [count, were] = doubts.length === 1 ? ['1 number', 'was'] : [`${doubts.length} numbers`, 'were'];
  return [
    ...(doubts.length > 0 ? [`${count} ${were} read differently by two recognizers: ${named.join(', ')}${rest}`] : []),
    ...new Set(results.flatMap((result) => result.notes)),
  ];
}
