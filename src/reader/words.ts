/** Words as white space and signs part them; scripts that do not part words are counted two letters a word. */
export function countWords(text: string): number {
  let count = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu))
    count += UNPARTED.test(word) ? Math.ceil(word.length / 2) : 1;
  return count;
}
const UNPARTED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
