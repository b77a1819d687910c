/** OpenDocument presentations, including flat files: one page per slide. */
import { DocumentError, type DocumentKind, type DocumentPage } from '../../document.ts';
import { readPieces } from '../../xml/pieces.ts';
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { type Comment, PageComments } from '../annotations.ts';
import { HtmlOutput } from '../html-output.ts';
import { openOdf } from '../odf.ts';
import { commentOf } from '../odf-annotation.ts';
import { StyleCollector } from '../odf-styles.ts';
import { createDraw } from '../pictures.ts';
import { commentsHtml } from './comments.ts';
import { mm, type OdpContext, readOdpPage } from './odp-page.ts';
import { namedPage, plainTitle } from './title.ts';

const PARENTS: ReadonlySet<string> = new Set([
  'office:styles',
  'office:automatic-styles',
  'office:master-styles',
  'office:font-face-decls',
  'office:presentation',
]);
const MAX_SLIDES = 10_000;

export const kind: DocumentKind = {
  async parse({ password }, bytes, { page, annotations }) {
    const file = openOdf(bytes, { password });
    const styles = new StyleCollector();
    const look = new Look();
    const draw = createDraw((name) => file.bytes(name));
    const context: OdpContext = {
      file,
      styles,
      draw,
      sizeOf: (master) => look.sizeOf(master),
    };
    const output = new HtmlOutput();
    const comments = new PageComments(annotations);
    const pages: DocumentPage[] = [];
    let shown = 0;
    let seen = 0;
    let hiddenCount = 0;
    let title = '';
    const take = (piece: XmlElement, parent: string) => {
      if (parent !== 'office:presentation') {
        look.take(piece);
        styles.take(piece);
        return;
      }
      if (piece.name !== 'draw:page' || ++seen > MAX_SLIDES) return;
      if (look.isHidden(attribute(piece, 'draw:style-name'))) {
        hiddenCount++;
        return;
      }
      shown++;
      // Earlier pages are read too, because the requested page may not exist.
      if (output.full || (page !== undefined && shown > page)) return;
      const read = readOdpPage(piece, context);
      if (shown === 1) title = plainTitle(read.title);
      hiddenCount += read.hiddenCount;
      output.write(read.html);
      if (comments.shown) output.write(commentsHtml(commentsOn(piece), comments));
      const size = sizeInPoints(look.sizeOf(attribute(piece, 'draw:master-page-name') ?? ''));
      pages.push({ number: shown, html: output.takeHtml(), ...namedPage(read.title), ...size });
    };
    if (file.styles) readPieces(file.styles, PARENTS, take);
    const complete = readPieces(file.content, PARENTS, take);
    if (seen === 0) throw new DocumentError('damaged', 'The file is damaged or is not an OpenDocument presentation');
    const notes: string[] = [];
    if (output.full) notes.push('The presentation is too large to be shown in full');
    if (!complete || !file.complete) notes.push('The file is damaged; only the readable part is included');
    const requested = page !== undefined && page <= shown ? pages.filter(({ number }) => number === page) : pages;
    const { about } = file;
    const lang = about.lang ?? styles.language;
    return {
      ...about,
      title: about.title || title,
      lang,
      pages: requested,
      pageCount: shown,
      notes,
      hiddenCount,
      picturesLeftOut: draw.leftOut(),
    };
  },
};

/** LibreOffice writes comments on slides in a namespace of its own. */
const commentsOn = (slide: XmlElement): Comment[] =>
  children(slide)
    .filter(({ name }) => name === 'office:annotation' || name === 'officeooo:annotation')
    .map(commentOf)
    .filter(({ text }) => text !== '');

const POINTS_PER_MM = 72 / 25.4;

const sizeInPoints = (size: { readonly width: number; readonly height: number } | undefined) =>
  size && { width: size.width * POINTS_PER_MM, height: size.height * POINTS_PER_MM };

/** Style properties of whole slides. */
class Look {
  private readonly hidden = new Set<string>();
  private readonly layouts = new Map<string, { readonly width: number; readonly height: number }>();
  private readonly layoutOfMaster = new Map<string, string>();

  take(piece: XmlElement): void {
    const name = attribute(piece, 'style:name') ?? '';
    if (piece.name === 'style:style') {
      const properties = child(piece, 'style:drawing-page-properties');
      // A later part of the file may redefine the name.
      if (properties && attribute(properties, 'presentation:visibility') === 'hidden') this.hidden.add(name);
      else if (attribute(piece, 'style:family') === 'drawing-page') this.hidden.delete(name);
    } else if (piece.name === 'style:page-layout') {
      const properties = child(piece, 'style:page-layout-properties');
      const width = mm(properties && attribute(properties, 'fo:page-width'));
      const height = mm(properties && attribute(properties, 'fo:page-height'));
      if (width > 0 && height > 0) this.layouts.set(name, { width, height });
    } else if (piece.name === 'style:master-page') {
      this.layoutOfMaster.set(name, attribute(piece, 'style:page-layout-name') ?? '');
    }
  }

  isHidden(style: string | undefined): boolean {
    return style !== undefined && this.hidden.has(style);
  }

  sizeOf(master: string) {
    return this.layouts.get(this.layoutOfMaster.get(master) ?? '');
  }
}
