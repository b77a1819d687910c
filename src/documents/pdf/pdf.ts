/** PDF files: text in the order of reading by our own analysis of what PDF.js finds on each page. */
import type { DocumentFile, DocumentKind, DocumentPage, ParsedDocument, ParseOptions } from '../document.ts';
import { DocumentFault } from '../document.ts';
import { toBlocks } from './blocks.ts';
import { toHtml } from './html.ts';
import { isoDate, metadataOf, titleOf } from './info.ts';
import { toSegments } from './lines.ts';
import { bodySizeOf, looksOf } from './looks.ts';
import { library, open } from './open.ts';
import { type PageText, readPage } from './page.ts';
import { drawPage } from './picture.ts';
import { toRegions } from './regions.ts';

const MAX_PAGES = 2_000;

async function parse(_file: DocumentFile, bytes: Uint8Array, { page }: ParseOptions): Promise<ParsedDocument> {
  const pdf = await library();
  const { document, close } = await open(bytes, { maxImagePixels: 1 });
  try {
    const { numPages } = document;
    const wanted =
      page !== undefined && page >= 1 && page <= numPages ? [page] : numbers(Math.min(numPages, MAX_PAGES));
    const texts: PageText[] = [];
    const notes: string[] = [];
    const failed: number[] = [];
    for (const number of wanted) {
      try {
        texts.push(await readPage(document, number, pdf));
      } catch {
        failed.push(number);
      }
    }
    if (texts.length === 0) throw new DocumentFault('damaged', 'No page of the PDF can be read');
    if (failed.length > 0)
      notes.push(`${failed.length === 1 ? 'Page' : 'Pages'} ${failed.join(', ')} could not be read`);
    if (page === undefined && numPages > MAX_PAGES)
      notes.push(`Only the first ${MAX_PAGES} pages of ${numPages} were read`);
    const info = (await document.getMetadata()).info as Record<string, unknown>;
    const looks = looksOf(bodySizeOf(texts.flatMap(({ pieces }) => pieces)));
    return {
      title: titleOf(info),
      pages: texts.map(
        (text): DocumentPage => ({
          number: text.number,
          html: toHtml(toRegions(toSegments(text.pieces), looks).flatMap((region) => toBlocks(region, looks))),
          scanned: text.scanned,
        }),
      ),
      pageCount: numPages,
      metadata: metadataOf(info),
      publishedTime: isoDate(info.ModDate) ?? isoDate(info.CreationDate),
      lang: typeof info.Language === 'string' && info.Language !== '' ? info.Language : undefined,
      notes,
      hiddenCount: texts.reduce((sum, { hidden }) => sum + hidden, 0),
    };
  } finally {
    await close();
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

export const kind: DocumentKind = {
  parse,
  picture: (_file, bytes, options) => drawPage(bytes, options),
};
