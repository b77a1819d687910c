/** OpenDocument spreadsheets, including flat files: one page per sheet. The file contains numbers as formatted text. */
import { escapeText } from '#html/serialize.ts';
import { DocumentError, type DocumentKind, type DocumentPage } from '../../document.ts';
import { readXml } from '../../xml/read.ts';
import { descendants, find, textOf } from '../../xml/xml.ts';
import { PageComments } from '../annotations.ts';
import { cellHtml, HtmlOutput, maxHtmlBytes } from '../html-output.ts';
import { type OdfFile, openOdf } from '../odf.ts';
import { createDraw, type Draw } from '../pictures.ts';
import { addComments } from './comments.ts';
import { OdsReader, type OdsSheet, type Shape } from './ods-reader.ts';
import { writeSheet } from './sheet-html.ts';
import { tooLarge } from './sheet-notes.ts';

const MAX_NODES = 60_000_000;

export const kind: DocumentKind = {
  async parse({ password }, bytes, { page, annotations }) {
    const file = openOdf(bytes, { password });
    const comments = new PageComments(annotations);
    const writer = createWriter(file, page, comments);
    const reader = new OdsReader(writer.take, maxHtmlBytes(bytes.length), comments.shown);
    if (file.styles) readXml(file.styles, reader, { lenient: true });
    const complete = readXml(file.content, reader, { lenient: true, maxNodes: MAX_NODES });
    reader.finish();
    const { pages, shown, seen, hiddenCount, notes, picturesLeftOut } = writer.done();
    if (seen === 0) throw new DocumentError('damaged', 'The file is damaged or is not an OpenDocument spreadsheet');
    if (!complete || !file.complete) notes.push('The file is damaged; only the readable part is included');
    const requested = page !== undefined && page <= shown ? pages.filter(({ number }) => number === page) : pages;
    return { ...file.about, pages: requested, pageCount: shown, notes, hiddenCount, picturesLeftOut };
  },
};

function createWriter(file: OdfFile, page: number | undefined, comments: PageComments) {
  const output = new HtmlOutput();
  const draw = createDraw((name) => file.bytes(name));
  const pages: DocumentPage[] = [];
  const notes: string[] = [];
  let shown = 0;
  let seen = 0;
  let hiddenCount = 0;
  return {
    take(sheet: OdsSheet): void {
      seen++;
      if (sheet.hidden) {
        hiddenCount++;
        return;
      }
      shown++;
      hiddenCount += sheet.hiddenCount;
      // Earlier pages are kept, because the requested page may not exist.
      if (page !== undefined && shown > page) return;
      const remarks = addComments(sheet.rows, sheet.comments, comments);
      writeSheet({ rows: sheet.rows, merges: sheet.merges, tables: [] }, output);
      for (const shape of sheet.shapes) {
        const html = shapeHtml(shape, file, draw);
        if (html !== '') output.write(`<p>${html}</p>\n`);
      }
      output.write(remarks + comments.takeNotes());
      if (sheet.cut || output.full) {
        notes.push(tooLarge(sheet.name));
      }
      const html = output.takeHtml();
      pages.push({
        number: shown,
        html: html === '' ? '' : `<h2>${escapeText(sheet.name)}</h2>\n${html}`,
        name: sheet.name,
      });
    },
    done: () => ({ pages, shown, seen, hiddenCount, notes, picturesLeftOut: draw.leftOut() }),
  };
}

/** An image, the title of a chart, or the text of a box. */
function shapeHtml({ href, data, alternative, text }: Shape, file: OdfFile, draw: Draw): string {
  if (data !== '') return draw(Buffer.from(data, 'base64'), alternative);
  const object = href === undefined || /^[a-z]+:/i.test(href) ? undefined : file.object(href);
  if (object) {
    const title = find(object, 'chart:title');
    const name = title ? cellHtml([...descendants(title, 'text:p')].map(textOf).join(' ')) : '';
    return name === '' ? cellHtml(alternative) : `Chart: ${name}`;
  }
  if (text !== '') return text;
  return href === undefined ? cellHtml(alternative) : draw(href, alternative);
}
