/** Finds prose among the string literals of a script, without running or parsing it. Time is linear in its length. */

/** Shorter strings are labels. */
const MIN_CHARACTERS = 80;
/** Words, or pairs of characters in scripts without spaces, that a sentence has at least. */
const MIN_WORDS = 10;
/** Share of the characters that are letters, marks or spaces in any language. */
const MIN_LETTER_SHARE = 0.8;
/** Characters of a string that are judged; code and data show early. */
const JUDGED_CHARACTERS = 4_000;
/** Longest run without a space in prose: longer ones are URLs, keys or encoded data. CJK text has none. */
const MAX_RUN = 120;
/** State is often JSON within a string; deeper nesting does not occur. */
const MAX_NESTING = 2;

export const TAGS = /<(?:p|br|div|h[1-6]|li|ul|ol|blockquote|section|article|table)\b[^<>]{0,500}>/i;

/** Calls `found` with each string literal that reads like prose or HTML with prose, in order. Stops if it returns false. */
export function eachProse(script: string, found: (text: string) => boolean): void {
  const sources = [{ text: script, level: 0, at: 0 }];
  for (let source = sources.at(-1); source; source = sources.at(-1)) {
    const next = nextLiteral(source.text, source.at);
    if (!next) {
      sources.pop();
      continue;
    }
    source.at = next.end;
    const { value } = next;
    if (value === undefined || value.length < MIN_CHARACTERS) continue;
    if (isProse(value)) {
      if (!found(value)) return;
    } else if (source.level < MAX_NESTING && /^[\w:$]{0,20}[[{]/.test(value)) {
      sources.push({ text: value, level: source.level + 1, at: 0 });
    }
  }
}

interface Literal {
  /** `undefined` if it is too short, or no JSON string. */
  readonly value: string | undefined;
  readonly end: number;
}

/** The next literal in double quotes from `from`. */
function nextLiteral(text: string, from: number): Literal | undefined {
  const start = text.indexOf('"', from);
  if (start < 0) return undefined;
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) return undefined;
  const isLong = end - start > MIN_CHARACTERS;
  return { value: isLong ? parsed(text.slice(start, end + 1)) : undefined, end: end + 1 };
}

function parsed(literal: string): string | undefined {
  try {
    // Scripts escape more than JSON does, such as `\x3c` and `\'`.
    return JSON.parse(literal.replace(/\\(?:x([\da-f]{2})|')/gi, (_, code?: string) => (code ? `\\u00${code}` : "'")));
  } catch {
    return undefined;
  }
}

function isProse(value: string): boolean {
  const start = value.slice(0, JUDGED_CHARACTERS);
  const text = TAGS.test(start) ? start.replace(/<[^<>]*>?/g, ' ') : start;
  if (!TAGS.test(start) && /[{}<>]|;\s*\n|=>/.test(start)) return false;
  if (!/[.!?…。！？।]/.test(text)) return false;
  const letters = text.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0;
  if (letters < text.length * MIN_LETTER_SHARE) return false;
  const wide = text.match(/[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]/gu)?.length ?? 0;
  if (wide * 2 > letters) return wide >= 2 * MIN_WORDS;
  const words = text.trim().split(/\s+/);
  return words.length >= MIN_WORDS && words.every((word) => word.length <= MAX_RUN);
}
