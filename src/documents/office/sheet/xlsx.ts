/** Office Open XML workbooks (ECMA-376 part 1, 18), also in their binary form (MS-XLSB): one page per sheet. */
import { escapeText } from '#html/serialize.ts';
import { DocumentError, type DocumentKind, type DocumentPage } from '../../document.ts';
import { readXml, type XmlHandler, type XmlInput } from '../../xml/read.ts';
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { PageComments } from '../annotations.ts';
import { HtmlOutput, maxHtmlBytes } from '../html-output.ts';
import { safeHref } from '../inline.ts';
import { openPackage, type Package } from '../package.ts';
import { createDraw, type Draw } from '../pictures.ts';
import { readProperties } from '../properties.ts';
import { binaryTree, colorsCells, readBinary } from './binary/binary-xml.ts';
import { addComments, commentsInPart } from './comments.ts';
import { drawingHtml } from './drawing.ts';
import { addLinks } from './links.ts';
import { regionOf } from './reference.ts';
import type { Region, TableRegion } from './sheet.ts';
import { writeSheet } from './sheet-html.ts';
import { quoted, tooLarge } from './sheet-notes.ts';
import { SheetLimitError, SheetReader, type Workbook } from './sheet-reader.ts';
import { readSharedStrings } from './strings.ts';
import { readStyles } from './styles.ts';

/** Maximum number of elements, attributes and texts of one sheet. Cells have their own limit. */
const MAX_NODES = 60_000_000;

export const kind: DocumentKind = {
  async parse(_file, bytes, { page, annotations }) {
    const source = openPackage(bytes);
    const part = workbookPart(source);
    const root = treeOf(source, part);
    if (root?.name !== 'x:workbook')
      throw new DocumentError('damaged', 'The workbook of the Excel file is missing or damaged');
    const sheets = sheetsOf(source, part, root);
    const shown = sheets.filter(({ hidden }) => !hidden);
    const requested = page !== undefined && page <= shown.length ? [shown[page - 1]!] : shown;
    const date1904 = /^(?:1|true)$/.test(attributeOf(child(root, 'x:workbookPr'), 'date1904') ?? '');
    const book: Workbook = {
      strings: sharedStrings(source, part),
      styles: readStyles(treeOf(source, related(source, part, 'styles')), date1904),
      leftBytes: maxHtmlBytes(bytes.length),
    };
    const reading: Reading = {
      source,
      book,
      output: new HtmlOutput(),
      draw: createDraw((name) => source.bytes(name)),
      notes: new Set(),
      shownNames: new Set(shown.map(({ name }) => name)),
      comments: new PageComments(annotations),
    };
    const read = requested.map((sheet) => readSheet(sheet, reading));
    if (!source.complete) reading.notes.add('The file is cut off; only the readable part is included');
    const { title, metadata, publishedTime, language } = readProperties(source);
    return {
      title,
      pages: read.map(
        ({ html }, at): DocumentPage => ({
          number: shown.indexOf(requested[at]!) + 1,
          html,
          name: requested[at]!.name,
        }),
      ),
      pageCount: shown.length,
      metadata,
      publishedTime,
      lang: language,
      notes: [...reading.notes],
      picturesLeftOut: reading.draw.leftOut(),
      hiddenCount: sheets.length - shown.length + read.reduce((sum, { hiddenCount }) => sum + hiddenCount, 0),
    };
  },
};

interface SheetPart {
  readonly name: string;
  readonly hidden: boolean;
  /** Name of the part; `undefined` if it is missing. */
  readonly part: string | undefined;
}

interface Reading {
  readonly source: Package;
  readonly book: Workbook;
  readonly output: HtmlOutput;
  readonly draw: Draw;
  readonly notes: Set<string>;
  /** Names of the sheets that are not hidden. */
  readonly shownNames: ReadonlySet<string>;
  readonly comments: PageComments;
}

const attributeOf = (element: XmlElement | undefined, name: string): string | undefined =>
  element && attribute(element, name);

const workbookPart = (source: Package): string =>
  source.relationships('').find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';

const isBinary = (part: string): boolean => part.toLowerCase().endsWith('.bin');

/** The root element of a part in either form. */
function treeOf(source: Package, part: string | undefined): XmlElement | undefined {
  if (part === undefined || !isBinary(part)) return source.xml(part);
  const bytes = source.bytes(part);
  return bytes && binaryTree(bytes);
}

const related = (source: Package, part: string, type: string): string | undefined =>
  source.relationships(part).find((relationship) => relationship.type === type && !relationship.external)?.target;

function sheetsOf(source: Package, part: string, root: XmlElement): SheetPart[] {
  const relationships = new Map(source.relationships(part).map((relationship) => [relationship.id, relationship]));
  return children(child(root, 'x:sheets'), 'x:sheet').map((sheet) => {
    const relationship = relationships.get(attribute(sheet, 'r:id') ?? '');
    return {
      name: (attribute(sheet, 'name') ?? '').trim(),
      // Macro and dialog sheets have no content.
      hidden:
        /hidden/i.test(attribute(sheet, 'state') ?? '') ||
        /^(?:xlMacrosheet|dialogsheet)$/.test(relationship?.type ?? ''),
      part: relationship?.target,
    };
  });
}

function sharedStrings(source: Package, part: string): string[] {
  const name = related(source, part, 'sharedStrings') ?? 'xl/sharedStrings.xml';
  const strings = source.part(name)?.source;
  if (strings === undefined) return [];
  return readSharedStrings((handler) => readPart(name, strings, handler));
}

/** Calls the handler with the content of a part in either form. Returns false if the part is damaged. */
function readPart(name: string, source: XmlInput, handler: XmlHandler): boolean {
  if (isBinary(name) && typeof source !== 'string') return readBinary(source, handler);
  return readXml(source, handler, { lenient: true, maxNodes: MAX_NODES });
}

/** Whether the cells of a sheet may be colored by a table or a conditional format. */
function isColored(name: string, source: XmlInput): boolean {
  if (isBinary(name) && typeof source !== 'string') return colorsCells(source);
  const text = typeof source === 'string' ? source : Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  return text.includes('tablePart') || text.includes('conditionalFormatting');
}

function readSheet(
  sheet: SheetPart,
  { source, book, output, draw, notes, shownNames, comments }: Reading,
): { html: string; hiddenCount: number } {
  const xml = sheet.part === undefined ? undefined : source.part(sheet.part);
  if (sheet.part === undefined || xml?.source === undefined) {
    notes.add(`The sheet ${quoted(sheet.name)} could not be read`);
    return { html: '', hiddenCount: 0 };
  }
  const reader = new SheetReader(book, !isColored(sheet.part, xml.source));
  try {
    const complete = readPart(sheet.part, xml.source, reader);
    if (!complete || !xml.complete) notes.add(`The sheet ${quoted(sheet.name)} could only be read in part`);
  } catch (error) {
    const isTooLarge = error instanceof DocumentError && error.kind === 'too large';
    if (!(error instanceof SheetLimitError) && !isTooLarge) throw error;
    notes.add(tooLarge(sheet.name));
  }
  const { region } = reader.finish();
  const relationships = new Map(
    source.relationships(sheet.part).map((relationship) => [relationship.id, relationship]),
  );
  const addresses = new Map(
    reader.links.map(({ ref, id }) => {
      const target = relationships.get(id ?? '');
      return [ref, target?.external ? safeHref(target.target) : undefined];
    }),
  );
  addLinks(reader.rows, addresses, region);
  const about = comments.shown ? treeOf(source, related(source, sheet.part, 'comments')) : undefined;
  const remarks = addComments(reader.rows, commentsInPart(about, region), comments);
  const tables = reader.tableIds.map((id) => tableOf(treeOf(source, relationships.get(id)?.target), region));
  const merges = reader.merges.map(region).filter((merge) => merge !== undefined);
  const heading = `<h2>${escapeText(sheet.name)}</h2>\n`;
  writeSheet({ rows: reader.rows, merges, tables: tables.filter((table) => table !== undefined) }, output);
  const drawing = reader.drawingId === undefined ? undefined : relationships.get(reader.drawingId)?.target;
  if (drawing !== undefined) output.write(drawingHtml(source, drawing, draw, (name) => shownNames.has(name)));
  output.write(remarks + comments.takeNotes());
  if (output.full) notes.add(tooLarge(sheet.name));
  const html = output.takeHtml();
  return { html: html === '' ? '' : heading + html, hiddenCount: reader.hiddenCount };
}

/** A table that the author defined. A totals row is part of its table. */
function tableOf(
  root: XmlElement | undefined,
  region: (region: Region) => Region | undefined,
): TableRegion | undefined {
  const written = regionOf(attributeOf(root, 'ref'));
  const seen = written && region(written);
  if (!seen) return undefined;
  return { ...seen, headerRows: attributeOf(root, 'headerRowCount') === '0' ? 0 : 1 };
}
