/** Comments on cells (ECMA-376 part 1, 18.7). */
import { escapeText } from '#html/serialize.ts';
import { attribute, child, children, textOf, type XmlElement } from '../../xml/xml.ts';
import { type Comment, comment, type PageComments } from '../annotations.ts';
import { cellKeyOf, type Region } from './sheet.ts';
import { regionOf, type SheetReader } from './sheet-reader.ts';

const MAX_COMMENTS = 100_000;

/** Programs that do not support threads of comments see this text before the comments. */
const THREAD_NOTICE = /^\[Threaded comment\][\s\S]*?\bComment:\s*/;

/**
 * Adds comments to their cells. Returns the HTML of comments on cells without content. Those on hidden cells are left
 * out. `root` is the part with the comments of a sheet.
 */
export function addComments(
  { rows }: SheetReader,
  root: XmlElement | undefined,
  comments: PageComments,
  region: (region: Region) => Region | undefined,
): string {
  if (!comments.shown || !root) return '';
  const authors = children(child(root, 'x:authors'), 'x:author').map(textOf);
  const byCell = new Map<number, { readonly ref: string; readonly about: Comment }>();
  for (const one of children(child(root, 'x:commentList'), 'x:comment').slice(0, MAX_COMMENTS)) {
    const ref = attribute(one, 'ref') ?? '';
    const written = regionOf(ref);
    const seen = written && region(written);
    const author = authors[Number(attribute(one, 'authorId'))] ?? '';
    if (seen)
      byCell.set(cellKeyOf(seen.top, seen.left), { ref, about: commentOf(author, textOf(child(one, 'x:text'))) });
  }
  for (const { index, columns, html } of byCell.size > 0 ? rows : []) {
    for (const [at, column] of columns.entries()) {
      const key = cellKeyOf(index, column);
      const found = byCell.get(key);
      if (!found) continue;
      html[at] += comments.html(found.about);
      byCell.delete(key);
    }
  }
  return [...byCell.values()]
    .filter(({ about }) => about.text !== '')
    .map(({ ref, about }) => `<p>${escapeText(ref)}: ${comments.html(about).trim()}</p>\n`)
    .join('');
}

/** Excel repeats the author at the start of the text. In threads, the author is only an id. */
function commentOf(author: string, text: string): Comment {
  const name = /^tc=\{/.test(author) ? '' : author;
  const plain = text.replace(THREAD_NOTICE, '');
  return comment(name, name !== '' && plain.startsWith(`${name}:`) ? plain.slice(name.length + 1) : plain);
}
