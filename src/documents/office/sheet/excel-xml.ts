/** Excel 2003 XML (SpreadsheetML): a workbook in one XML file, with one page per sheet. */
import { escapeText } from '#html/serialize.ts';
import { DocumentError, type DocumentKind, type DocumentPage } from '../../document.ts';
import { readXml } from '../../xml/read.ts';
import { PageComments } from '../annotations.ts';
import { HtmlOutput, maxHtmlBytes } from '../html-output.ts';
import { readCoreProperties } from '../properties.ts';
import { corePropertiesOf } from '../properties-2003.ts';
import { addComments, type CellComment } from './comments.ts';
import { ExcelXmlReader, type ExcelXmlSheet } from './excel-xml-reader.ts';
import { addLinks } from './links.ts';
import { regionOf } from './reference.ts';
import type { Region } from './sheet.ts';
import { writeSheet } from './sheet-html.ts';
import { tooLarge } from './sheet-notes.ts';

const MAX_NODES = 60_000_000;

export const kind: DocumentKind = {
  async parse(_file, bytes, { page, annotations }) {
    const output = new HtmlOutput();
    const comments = new PageComments(annotations);
    const pages: DocumentPage[] = [];
    const notes: string[] = [];
    let seen = 0;
    let hiddenCount = 0;
    const take = (sheet: ExcelXmlSheet) => {
      seen++;
      const { region } = sheet.reader.finish();
      if (sheet.hidden) {
        hiddenCount++;
        return;
      }
      hiddenCount += sheet.reader.hiddenCount;
      const html = sheetHtml(sheet, region, output, comments);
      if (sheet.cut || output.full) notes.push(tooLarge(sheet.name));
      pages.push({ number: pages.length + 1, html, name: sheet.name });
    };
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reader = new ExcelXmlReader(take, maxHtmlBytes(bytes.length), !buffer.includes('ConditionalFormatting'));
    const complete = readXml(bytes, reader, { lenient: true, maxNodes: MAX_NODES });
    reader.finish();
    if (seen === 0) throw new DocumentError('damaged', 'The file is damaged or is not an Excel workbook');
    if (!complete) notes.push('The file is damaged; only the readable part is included');
    const { title, metadata, publishedTime } = readCoreProperties(corePropertiesOf(reader.properties));
    const isPage = page !== undefined && page <= pages.length;
    return {
      title,
      pages: isPage ? pages.filter(({ number }) => number === page) : pages,
      pageCount: pages.length,
      metadata,
      publishedTime,
      notes,
      hiddenCount,
    };
  },
};

function sheetHtml(
  { name, reader, links, comments: found }: ExcelXmlSheet,
  region: (region: Region) => Region | undefined,
  output: HtmlOutput,
  comments: PageComments,
): string {
  addLinks(reader.rows, links, region);
  const shown = [...found].flatMap(([ref, about]): CellComment[] => {
    const seen = region(regionOf(ref)!);
    return seen ? [{ ref, row: seen.top, column: seen.left, about }] : [];
  });
  const remarks = comments.shown ? addComments(reader.rows, shown, comments) : '';
  const merges = reader.merges.map(region).filter((merge) => merge !== undefined);
  writeSheet({ rows: reader.rows, merges, tables: [] }, output);
  output.write(remarks + comments.takeNotes());
  const html = output.takeHtml();
  return html === '' ? '' : `<h2>${escapeText(name)}</h2>\n${html}`;
}
