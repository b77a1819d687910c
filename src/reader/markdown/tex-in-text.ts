/**
 * Finds formulas that a page leaves to a script, written as TeX between `\(` and `\)`, `\[` and `\]`, `$$` or `$`, so
 * that they are not escaped like words.
 */

export interface TexPiece {
  readonly text: string;
  /** `inline` or `display` for a formula, without its delimiters; null for the text between formulas. */
  readonly formula: 'inline' | 'display' | null;
}

const START = /\\[([]|\$[^\s$\d]|\$\$/;

/** Whether a text may contain a formula in TeX. */
export const mayContainTex = (text: string): boolean => (text.includes('$') || text.includes('\\')) && START.test(text);

const OPENERS = /\\\(|\\\[|\$\$?/g;
const CLOSERS: Readonly<Record<string, string>> = { '\\(': '\\)', '\\[': '\\]', $$: '$$', $: '$' };
const MAX_FORMULA_CHARACTERS = 4000;

/** The pieces of a text in order; null if it contains no formula. */
export function findTex(text: string): TexPiece[] | null {
  const pieces: TexPiece[] = [];
  /** Next position of each closing delimiter, searched once instead of from every opening delimiter. */
  const next: Record<string, number> = {};
  let done = 0;
  OPENERS.lastIndex = 0;
  for (let found = OPENERS.exec(text); found; found = OPENERS.exec(text)) {
    const open = found[0];
    const close = CLOSERS[open]!;
    const start = found.index + open.length;
    let end = next[close] ?? -2;
    if (end !== -1 && end < start) end = next[close] = text.indexOf(close, start);
    if (end < 0 || end - start > MAX_FORMULA_CHARACTERS) continue;
    const content = text.slice(start, end);
    if (!isTex(content) || (open === '$' && !isTightlyDelimited(content, text[end + 1] ?? ''))) continue;
    if (found.index > done) pieces.push({ text: text.slice(done, found.index), formula: null });
    pieces.push({ text: content.trim(), formula: open === '\\[' || open === '$$' ? 'display' : 'inline' });
    done = end + close.length;
    OPENERS.lastIndex = done;
  }
  if (done === 0) return null;
  if (done < text.length) pieces.push({ text: text.slice(done), formula: null });
  return pieces;
}

/** Whether content looks like TeX rather than words: commands, scripts, groups, relations; or a single letter. */
const isTex = (content: string): boolean =>
  /\\[A-Za-z]|[\^_{}=<>]|^\s*[A-Za-z]\s*$/.test(content) && /\S/.test(content);

/** Prices contain dollar signs too. A formula has no space directly inside its dollar signs and no digit after them. */
const isTightlyDelimited = (content: string, after: string): boolean =>
  /^\S(?:.*\S)?$/s.test(content) && !/\d/.test(after);
