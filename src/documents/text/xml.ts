/** XML: feeds and sitemaps as lists of their entries, everything else as its source. */
import type { DocumentKind } from '../document.ts';
import { asSource, decodedText } from './text.ts';

export const kind: DocumentKind = {
  async parse(file, bytes) {
    return asSource(decodedText(bytes, file.contentType));
  },
};
