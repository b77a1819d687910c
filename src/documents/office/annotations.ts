/**
 * Writes annotations of a document: comments, insertions and deletions. In the text they are CriticMarkup, which marks
 * comments as `{>>…<<}`, insertions as `{++…++}` and deletions as `{--…--}`.
 */
import { escapeText } from '#html/serialize.ts';
import type { Annotations } from '../document.ts';

export interface Comment {
  /** '' if unknown. */
  readonly author: string;
  /** In one line. */
  readonly text: string;
}

/** Longer comments are cut off. */
const MAX_LENGTH = 10_000;

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);

export const comment = (author: string, text: string): Comment => ({ author: oneLine(author), text: oneLine(text) });

export const criticComment = ({ author, text }: Comment): string =>
  `{>>${text}${author === '' ? '' : ` (${author})`}<<}`;

export const INSERTED = ['{++', '++}'] as const;
export const DELETED = ['{--', '--}'] as const;

/** The text of a footnote for a comment. */
export const noteOfComment = ({ author, text }: Comment): string => (author === '' ? text : `${author}: ${text}`);

/** The text of a footnote for a change. */
export function noteOfChange(kind: 'inserted' | 'deleted', author: string, text: string): string {
  const what = kind === 'inserted' ? 'Inserted' : 'Deleted';
  return `${what}${author === '' ? '' : ` by ${author}`}: ${oneLine(text)}`;
}

/**
 * Writes comments of pages that are built as HTML: in the text, or as references to a list of footnotes at the end of
 * the page. Numbers continue over the pages of a document.
 */
export class PageComments {
  readonly #mode: Annotations;
  #count = 0;
  #items: string[] = [];

  constructor(mode: Annotations = 'none') {
    this.#mode = mode;
  }

  get shown(): boolean {
    return this.#mode !== 'none';
  }

  /** HTML to add to the annotated text. */
  html(about: Comment): string {
    if (!this.shown || about.text === '') return '';
    if (this.#mode === 'inline') return ` ${escapeText(criticComment(about))}`;
    const number = ++this.#count;
    this.#items.push(`<li id="an-${number}">${escapeText(noteOfComment(about))}</li>`);
    return `<sup><a href="#an-${number}" id="anref-${number}">${number}</a></sup>`;
  }

  /** The footnotes of the page; '' if there are none. */
  takeNotes(): string {
    const items = this.#items;
    this.#items = [];
    return items.length === 0 ? '' : `\n<ol>${items.join('\n')}</ol>`;
  }
}
