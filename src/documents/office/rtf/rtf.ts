/** Rich Text Format. */
import { DocumentError, type DocumentKind } from '../../document.ts';
import { Flow } from '../flow.ts';
import { CUT_OFF, pickPages, TOO_LONG } from '../result.ts';
import { RtfReader } from './reader.ts';

export const kind: DocumentKind = {
  async parse(_file, bytes, options) {
    if (!/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(Buffer.from(bytes.subarray(0, 64)).toString('latin1'))) {
      throw new DocumentError('damaged', 'The file is not an RTF document');
    }
    const flow = new Flow();
    const reader = new RtfReader(bytes, flow);
    const whole = reader.run();
    const pages = flow.finish();
    const { metadata } = reader;
    return {
      title: metadata.title?.replace(/\s+/g, ' ').trim() || reader.title,
      ...pickPages(pages, options),
      metadata,
      publishedTime: metadata.modified ?? metadata.created,
      notes: [...(whole ? [] : [CUT_OFF]), ...(flow.full ? [TOO_LONG] : [])],
      hiddenCount: reader.hiddenCount,
    };
  },
};
