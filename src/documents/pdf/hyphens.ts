/** Tells hyphens that mark a line break from those of compounds such as `well-known`, which may break there too. */

export interface Hyphens {
  /** Whether the hyphen at the end of a line belongs to the word. `next` is the beginning of the next line. */
  belongs(line: string, next: string): boolean;
}

/** Knows nothing about the document. */
export const NO_HYPHENS: Hyphens = { belongs: () => false };

const COMPOUND = /(?<=\p{L})-(?=\p{L})/u;
const WORDS = /\p{L}+(?:-\p{L}+)+/gu;
const LAST_WORD = /(\p{L}+)-$/u;
const FIRST_WORD = /^\p{L}+/u;
/** Some programs break words with the character for hyphens, which is on no keyboard. */
const BROKEN = /\p{Ll}\u2010$/u;

const MAX_COMPOUNDS = 50_000;
/** Number of lines that show that the program breaks words with a character of its own. */
const MIN_BROKEN = 2;

/** Compounds are those that the document has within its lines. */
export function hyphensOf(lines: Iterable<string>): Hyphens {
  const compounds = new Set<string>();
  let broken = 0;
  for (const line of lines) {
    if (BROKEN.test(line)) broken += 1;
    if (!COMPOUND.test(line)) continue;
    for (const [word] of line.matchAll(WORDS)) {
      const parts = word.toLowerCase().split('-');
      for (let at = 1; at < parts.length && compounds.size < MAX_COMPOUNDS; at++)
        compounds.add(`${parts[at - 1]}-${parts[at]}`);
    }
  }
  return {
    belongs(line, next) {
      const last = LAST_WORD.exec(line)?.[1];
      const first = FIRST_WORD.exec(next)?.[0];
      if (last === undefined || first === undefined) return false;
      return broken >= MIN_BROKEN || compounds.has(`${last}-${first}`.toLowerCase());
    },
  };
}
