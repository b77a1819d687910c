/**
 * Escapes exactly what would otherwise change the structure of the Markdown, and nothing more, so that running text
 * remains readable.
 *
 * - At the start of a block, and of a line after a hard break: text that would be a heading, quote, list item, task,
 *   rule, underline, fence or definition.
 * - `*`, `_` and `~` only where some parser could take them as opening or closing emphasis under CommonMark's flanking
 *   rules, and the same paragraph contains a matching delimiter (including generated ones). `snake_case`, `2 * 3` and
 *   URLs are not changed. Inside emphasis written with `_`, every `_` is escaped.
 * - A backtick always; a backslash before punctuation; `<` before a possible tag; `&` before a possible entity; `]`
 *   before `(` or `[`; every bracket inside a link's text; `!` before a link; `$` next to generated math; `|` in a
 *   table (tables.ts).
 */

import { characterAfter, characterBefore, type Flanking, flankingByParser } from './flanking.ts';

export const IN_LINK = 1;
export const IN_UNDERSCORES = 2;

/** A piece of page text in a paragraph. */
export interface TextPiece {
  readonly at: number;
  readonly context: number;
}

export interface ParagraphFacts {
  /** Delimiter characters that the conversion itself added to the paragraph. */
  readonly generatedMarks: string;
  readonly math: boolean;
  /** Whether `~` is a special character. */
  readonly strike: boolean;
  /** Whether text in brackets could be a reference to a definition. */
  readonly references: boolean;
}

/** Whether a text may need any escape other than at the start of a line. */
export const MAY_NEED_ESCAPE = /[\\`*_[\]<~$!&]/;

const CANDIDATES = /[\\`[\]<$!&]|\*+|_+|~+/g;
const DELIMITER_RUNS = /\*+|_+|~+/g;
const ENTITY = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/y;
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/;
const isDelimiter = (character: string): boolean => character === '*' || character === '_' || character === '~';

/** Next to other delimiters, some parsers are more lenient than the rules. */
function flankingOf(mark: string, before: string, after: string): Flanking {
  const all = flankingByParser(mark, before, after);
  return {
    opens: isDelimiter(after) || all.some(({ opens }) => opens),
    closes: isDelimiter(before) || all.some(({ closes }) => closes),
  };
}

/** Escapes pieces of page text in place; the other pieces are generated Markdown. */
export function escapePieces(pieces: string[], risky: readonly TextPiece[], facts: ParagraphFacts): void {
  const pairedMarks = findPairedMarks(pieces, risky, facts.generatedMarks);
  for (const { at, context } of risky) {
    const piece = pieces[at]!;
    const before = characterBefore(pieces, at);
    const after = characterAfter(pieces, at);
    if (!piece.includes('://')) pieces[at] = escapePiece(piece, before, after, context, pairedMarks, facts);
    else {
      const words = piece.split(' ');
      const last = words.length - 1;
      pieces[at] = words
        .map((word, index) =>
          escapePiece(
            word,
            index === 0 ? before : ' ',
            index === last ? after : ' ',
            context,
            word.includes('://') ? '' : pairedMarks,
            facts,
          ),
        )
        .join(' ');
    }
  }
}

/** The characters among `*`, `_` and `~` with a possible opener and, after it, a possible closer. */
function findPairedMarks(pieces: readonly string[], risky: readonly TextPiece[], generatedMarks: string): string {
  let opened = generatedMarks;
  let pairedMarks = generatedMarks;
  for (const { at } of risky) {
    const piece = pieces[at]!;
    for (const { 0: run, index } of piece.matchAll(DELIMITER_RUNS)) {
      const mark = run[0]!;
      if (pairedMarks.includes(mark)) continue;
      const before = piece[index - 1] ?? characterBefore(pieces, at);
      const after = piece[index + run.length] ?? characterAfter(pieces, at);
      const { opens, closes } = flankingOf(mark, before, after);
      if (closes && opened.includes(mark)) pairedMarks += mark;
      if (opens) opened += mark;
    }
  }
  return pairedMarks;
}

function escapePiece(
  piece: string,
  before: string,
  after: string,
  context: number,
  pairedMarks: string,
  facts: ParagraphFacts,
): string {
  const inLink = (context & IN_LINK) !== 0;
  return piece.replace(CANDIDATES, (found, index: number) => {
    const next = piece[index + found.length] ?? after;
    switch (found[0]) {
      case '`':
        return '\\`';
      case '\\':
        return ASCII_PUNCTUATION.test(next) ? '\\\\' : found;
      case '[':
        return inLink || facts.references || next === '^' ? '\\[' : found;
      case ']':
        return inLink || next === '(' || next === '[' ? '\\]' : found;
      case '<':
        return /[A-Za-z/!?]/.test(next) ? '\\<' : found;
      case '!':
        return next === '[' && index + 1 === piece.length ? '\\!' : found;
      case '&':
        ENTITY.lastIndex = index;
        return ENTITY.test(piece) ? '\\&' : found;
      case '$':
        return facts.math ? '\\$' : found;
    }
    const mark = found[0]!;
    if (mark === '_' && (context & IN_UNDERSCORES) !== 0) return found.replaceAll('_', '\\_');
    if (!pairedMarks.includes(mark) || (mark === '~' && !facts.strike)) return found;
    const previous = piece[index - 1] ?? before;
    if (mark === '~' && found.length > 2 && previous !== '~' && next !== '~') return found;
    const { opens, closes } = flankingOf(mark, previous, next);
    return opens || closes ? found.replaceAll(mark, `\\${mark}`) : found;
  });
}

const BLOCK_START =
  /^(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|([-*])[ \t]*(?:\1[ \t]*)+$|_[ \t]*(?:_[ \t]*){2,}$|=+\s*$|~{3}|\[[ xX]\](?=\s)|\[(?:[^\]\\]|\\.)*\]:)/;
const ORDERED_START = /^(\d{1,9})(?=[.)](?:\s|$))/;
const MAY_START = /^[#>\-+*_=~[\d]/;

/** Escapes the first characters of a block's text that would start another kind of block. */
export function escapeBlockStart(text: string): string {
  if (!MAY_START.test(text)) return text;
  return BLOCK_START.test(text) ? `\\${text}` : text.replace(ORDERED_START, '$1\\');
}

/** Escapes text between the brackets of a link or image. */
export const escapeLinkText = (text: string): string => text.replace(/[[\]\\]/g, '\\$&');
