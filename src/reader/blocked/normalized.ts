/** Text in the form that the patterns expect, and its weight. */

/** Lower case, straight apostrophes, single spaces, no soft hyphens; compatibility forms as their plain characters. */
export const normalized = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc\u00b4`]/g, "'")
    .replace(/\u0307|[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** Where scripts begin whose characters stand for a syllable or a word. */
const FIRST_CJK = 0x2e80;
const CJK_LETTERS = 2.5;

/** Weight of a text in letters of an alphabet: a CJK character counts as 2.5, white space as nothing. */
export function weigh(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0xa0) continue;
    letters += code >= FIRST_CJK && code < 0xd800 ? CJK_LETTERS : 1;
  }
  return letters;
}
