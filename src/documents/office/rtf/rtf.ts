/** Rich Text Format. */
import { DocumentError, type DocumentKind, type ParsedDocument, type ParseOptions } from '../../document.ts';
import { type HiddenText, readWithHiddenText } from '../hidden-text.ts';
import { CUT_OFF, selectPages, TOO_LONG } from '../result.ts';
import { TextBuilder } from '../text-builder.ts';
import { RtfReader } from './reader.ts';

export const kind: DocumentKind = {
  async parse(_file, bytes, options) {
    if (!/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))) {
      throw new DocumentError('damaged', 'The file is not an RTF document');
    }
    return readWithHiddenText((hidden) => readText(bytes, hidden, options));
  },
};

function readText(bytes: Uint8Array, hidden: HiddenText, options: ParseOptions): ParsedDocument {
  const builder = new TextBuilder();
  const reader = new RtfReader(bytes, builder, hidden, options.annotations);
  const whole = reader.run();
  const pages = builder.finish();
  const { metadata } = reader;
  return {
    title: metadata.title?.replace(/\s+/g, ' ').trim() || reader.title,
    ...selectPages(pages, options),
    metadata,
    publishedTime: metadata.modified ?? metadata.created,
    notes: [...hidden.notes, ...(whole ? [] : [CUT_OFF]), ...(builder.full ? [TOO_LONG] : [])],
    hiddenCount: hidden.pieces,
  };
}
