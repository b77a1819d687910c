/**
 * Word lists, looked up by word. In a list, `word` matches that word alone, `word*` a prefix, `*word` a suffix and
 * `*word*` any position. A pattern with a star has at least three letters. Patterns after `!` exclude the words that
 * they match.
 */

interface Pattern {
  letters: string;
  mask: number;
  /** Whether the pattern excludes words. */
  not: boolean;
  atStart: boolean;
  atEnd: boolean;
}

/** Number of letters in the key under which patterns are indexed. */
const KEY = 3;

/**
 * Returns a function that maps a word to a mask of the lists that contain it, with the bit `1 << index` for each list.
 */
export function createWordPatterns(lists: readonly string[]): (word: string) => number {
  const whole = new Map<string, number>();
  const byKey = new Map<string, Pattern[]>();
  for (const [index, list] of lists.entries()) {
    for (const entry of list.trim().split(/\s+/)) {
      if (!/[!*]/.test(entry)) whole.set(entry, (whole.get(entry) ?? 0) | (1 << index));
      else {
        const pattern = readPattern(entry, 1 << index);
        const key = pattern.letters.slice(0, KEY);
        byKey.set(key, [...(byKey.get(key) ?? []), pattern]);
      }
    }
  }
  return (word) => {
    let mask = whole.get(word) ?? 0;
    let without = 0;
    for (let at = 0; at + KEY <= word.length; at++) {
      for (const pattern of byKey.get(word.slice(at, at + KEY)) ?? []) {
        if (!fits(pattern, word, at)) continue;
        if (pattern.not) without |= pattern.mask;
        else mask |= pattern.mask;
      }
    }
    return mask & ~without;
  };
}

function readPattern(entry: string, mask: number): Pattern {
  const not = entry.startsWith('!');
  const starred = not ? entry.slice(1) : entry;
  const letters = starred.replaceAll('*', '');
  return { letters, mask, not, atStart: !starred.startsWith('*'), atEnd: !starred.endsWith('*') };
}

const fits = ({ letters, atStart, atEnd }: Pattern, word: string, at: number): boolean =>
  word.startsWith(letters, at) && !(atStart && at > 0) && !(atEnd && at + letters.length !== word.length);
