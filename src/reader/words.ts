/**
 * Counts words separated by white space and punctuation. In scripts without word breaks, two letters count as one word.
 */
export function countWords(text: string): number {
  let count = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu))
    count += WITHOUT_BREAKS.test(word) ? Math.ceil(word.length / 2) : 1;
  return count;
}
const WITHOUT_BREAKS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
