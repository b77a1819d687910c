/** Comments on cells. */
import { escapeText } from '#html/serialize.ts';
import { attribute, child, children, textOf, type XmlElement } from '../../xml/xml.ts';
import { type Comment, comment, type PageComments } from '../annotations.ts';
import type { Row } from './cell.ts';
import { regionOf } from './reference.ts';
import { cellKeyOf, type Region } from './sheet.ts';

export const MAX_COMMENTS = 100_000;

export interface CellComment {
  /** As in the file: `D9`. */
  readonly ref: string;
  /** The position among the visible cells. */
  readonly row: number;
  readonly column: number;
  readonly about: Comment;
}

/** Adds comments to their cells. Returns the HTML of comments on cells without content. */
export function addComments(rows: readonly Row[], found: readonly CellComment[], comments: PageComments): string {
  const byCell = new Map(found.map((one) => [cellKeyOf(one.row, one.column), one]));
  for (const { index, columns, html } of byCell.size > 0 ? rows : []) {
    for (const [at, column] of columns.entries()) {
      const key = cellKeyOf(index, column);
      const here = byCell.get(key);
      if (!here) continue;
      html[at] += comments.html(here.about);
      byCell.delete(key);
    }
  }
  return [...byCell.values()]
    .filter(({ about }) => about.text !== '')
    .map(({ ref, about }) => `<p>${escapeText(ref)}: ${comments.html(about).trim()}</p>\n`)
    .join('');
}

/**
 * The comments in a part of a package (ECMA-376 part 1, 18.7), without those on hidden cells. `region` converts positions
 * to visible ones.
 */
export function commentsInPart(
  root: XmlElement | undefined,
  region: (region: Region) => Region | undefined,
): CellComment[] {
  const authors = children(child(root, 'x:authors'), 'x:author').map(textOf);
  return children(child(root, 'x:commentList'), 'x:comment')
    .slice(0, MAX_COMMENTS)
    .flatMap((one) => {
      const ref = attribute(one, 'ref') ?? '';
      const written = regionOf(ref);
      const seen = written && region(written);
      if (!seen) return [];
      const author = authors[Number(attribute(one, 'authorId'))] ?? '';
      return [{ ref, row: seen.top, column: seen.left, about: cellComment(author, textOf(child(one, 'x:text'))) }];
    });
}

/** Programs that do not support threads of comments see this text before the comments. */
const THREAD_NOTICE = /^\[Threaded comment\][\s\S]*?\bComment:\s*/;

/** Excel repeats the author at the start of the text. In threads, the author is only an id. */
export function cellComment(author: string, text: string): Comment {
  const name = /^tc=\{/.test(author) ? '' : author;
  const plain = text.replace(THREAD_NOTICE, '');
  return comment(name, name !== '' && plain.startsWith(`${name}:`) ? plain.slice(name.length + 1) : plain);
}
