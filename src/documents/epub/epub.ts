/** EPUB books: a page for each chapter in reading order. */
import { openZip } from '../archive/zip.ts';
import {
  DocumentError,
  type DocumentFile,
  type DocumentKind,
  type DocumentPage,
  type ParsedDocument,
  type ParseOptions,
} from '../document.ts';
import { createDraw } from '../office/pictures.ts';
import { isoTime } from '../office/properties.ts';
import { CUT_OFF, TOO_LONG } from '../office/result.ts';
import { chapterHtml } from './chapter.ts';
import { readBook, resolveName } from './package.ts';

/** Maximum size of the resulting HTML of all chapters. */
const MAX_HTML_BYTES = 32 * 1024 * 1024;

export const kind: DocumentKind = {
  async parse(_file: DocumentFile, bytes: Uint8Array, { page }: ParseOptions): Promise<ParsedDocument> {
    const zip = openZip(bytes);
    const { chapters, metadata, modified } = readBook(zip);
    const only = page !== undefined && chapters[page - 1] ? page : undefined;
    const draw = createDraw((picture) => zip.salvage(picture)?.bytes);
    const pages: DocumentPage[] = [];
    const broken: number[] = [];
    const notes: string[] = [];
    let leftBytes = MAX_HTML_BYTES;
    let hiddenCount = 0;
    for (const [at, { name }] of chapters.entries()) {
      const number = at + 1;
      if (only !== undefined && only !== number) continue;
      const content = zip.salvage(name);
      if (!content?.complete) broken.push(number);
      if (!content) continue;
      const chapter = chapterHtml(content.bytes, {
        number,
        picture: (reference, alternative) => draw(resolveName(name, reference), alternative),
      });
      leftBytes -= Buffer.byteLength(chapter.html);
      if (leftBytes < 0) {
        notes.push(TOO_LONG);
        break;
      }
      hiddenCount += chapter.hiddenCount;
      pages.push({ number, html: chapter.html, ...(chapter.title && { name: chapter.title }) });
    }
    if (pages.length === 0) throw new DocumentError('damaged', 'None of the chapters of the book can be read');
    if (!zip.complete) notes.push(CUT_OFF);
    if (broken.length > 0) notes.push(brokenNote(broken));
    const { title = '', language, date } = metadata;
    return {
      title,
      pages,
      pageCount: chapters.length,
      metadata,
      publishedTime: isoTime(modified) ?? isoTime(date),
      lang: language?.split(',', 1)[0],
      notes,
      hiddenCount,
      picturesLeftOut: draw.leftOut(),
    };
  },
};

/** Maximum number of damaged chapters that a note lists. */
const MAX_LISTED_CHAPTERS = 10;

function brokenNote(numbers: readonly number[]): string {
  const named = numbers.slice(0, MAX_LISTED_CHAPTERS).join(', ');
  const more = numbers.length > MAX_LISTED_CHAPTERS ? ` and ${numbers.length - MAX_LISTED_CHAPTERS} more` : '';
  return `Chapters that could not be read in full: ${named}${more}`;
}
