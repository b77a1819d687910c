/** OpenDocument texts: ODT, templates, and flat files (FODT). */
import { DocumentError, type DocumentKind, type ParsedDocument, type ParseOptions } from '../../document.ts';
import { readPieces } from '../../xml/pieces.ts';
import type { XmlElement } from '../../xml/xml.ts';
import { type HiddenText, readWithHiddenText } from '../hidden-text.ts';
import { ABOUT_NAMES, type AboutNames, type OdfFile, openOdf } from '../odf.ts';
import { OdfReader } from '../odf-body.ts';
import { StyleCollector } from '../odf-styles.ts';
import { createDraw } from '../pictures.ts';
import { CUT_OFF, selectPages, TOO_LONG } from '../result.ts';
import { TextBuilder } from '../text-builder.ts';

const STYLES: ReadonlySet<string> = new Set(['office:styles', 'office:font-face-decls']);
const CONTENT: ReadonlySet<string> = new Set([...STYLES, 'office:automatic-styles', 'office:text']);

/** `dc:creator` is the last editor; files without an author contain only this name. */
const NAMES: AboutNames = {
  ...ABOUT_NAMES,
  'dc:creator': 'lastModifiedBy',
  'meta:initial-creator': 'creator',
};

export const kind: DocumentKind = {
  async parse({ password }, bytes, options) {
    const file = openOdf(bytes, { names: NAMES, password });
    return readWithHiddenText((hidden) => readText(file, hidden, options));
  },
};

function readText(file: OdfFile, hidden: HiddenText, options: ParseOptions): ParsedDocument {
  const styles = new StyleCollector();
  const builder = new TextBuilder();
  const draw = createDraw((name) => file.bytes(name));
  const reader = new OdfReader({
    styles,
    builder,
    hidden,
    annotations: options.annotations,
    draw,
    object: (name) => file.object(name),
  });
  let count = 0;
  const take = (piece: XmlElement, parent: string) => {
    if (parent !== 'office:text') styles.take(piece);
    else {
      count += 1;
      if (!builder.full) reader.read(piece);
    }
  };
  if (file.styles) readPieces(file.styles, STYLES, take);
  const complete = readPieces(file.content, CONTENT, take) && file.complete;
  if (count === 0) throw new DocumentError('damaged', 'The file is damaged or is not an OpenDocument text');
  const { title, metadata, publishedTime, lang } = file.about;
  const author = metadata.creator ?? metadata.lastModifiedBy;
  return {
    title: title || reader.title,
    ...selectPages(builder.finish(), options),
    metadata: author === undefined ? metadata : { ...metadata, creator: author },
    publishedTime,
    lang: lang ?? styles.language,
    notes: [...hidden.notes, ...(complete ? [] : [CUT_OFF]), ...(builder.full ? [TOO_LONG] : [])],
    hiddenCount: hidden.pieces,
    picturesLeftOut: draw.leftOut(),
  };
}
