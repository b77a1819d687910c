/** Rich Text Format. */
import { DocumentError, type DocumentKind } from '../../document.ts';
import { CUT_OFF, selectPages, TOO_LONG } from '../result.ts';
import { TextBuilder } from '../text-builder.ts';
import { RtfReader } from './reader.ts';

export const kind: DocumentKind = {
  async parse(_file, bytes, options) {
    if (!/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))) {
      throw new DocumentError('damaged', 'The file is not an RTF document');
    }
    const builder = new TextBuilder();
    const reader = new RtfReader(bytes, builder);
    const whole = reader.run();
    const pages = builder.finish();
    const { metadata } = reader;
    return {
      title: metadata.title?.replace(/\s+/g, ' ').trim() || reader.title,
      ...selectPages(pages, options),
      metadata,
      publishedTime: metadata.modified ?? metadata.created,
      notes: [...(whole ? [] : [CUT_OFF]), ...(builder.full ? [TOO_LONG] : [])],
      hiddenCount: reader.hiddenCount,
    };
  },
};
