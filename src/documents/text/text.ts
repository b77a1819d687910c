/** Text that is shown as it is: plain text, JSON, YAML, source code, Markdown, subtitles. */
import { decodeText } from '#html/decode.ts';
import { DocumentError, type DocumentKind, type ParsedDocument } from '../document.ts';
import { readJsonFeed } from './json-feed.ts';

/** The most bytes of a text that are read (contract, section 16). */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

export const kind: DocumentKind = {
  async parse(file, bytes) {
    const text = decodedText(bytes, file.contentType);
    const feed = mayBeFeed(file.mediaType) ? readJsonFeed(text) : undefined;
    return feed ?? asSource(text);
  },
};

/** The text of a file. Throws DocumentFault when there is none, or too much. */
export function decodedText(bytes: Uint8Array, contentType: string | undefined): string {
  if (bytes.length > MAX_TEXT_BYTES) throw new DocumentError('too large', 'The text is over 32 MiB');
  const { text } = decodeText(bytes, contentType);
  if (text.trim() === '') throw new DocumentError('damaged', 'The file is empty');
  return text;
}

/** A text as a document that is shown as its source. */
export const asSource = (source: string): ParsedDocument => ({
  title: '',
  pages: [],
  source,
  metadata: {},
  notes: [],
  hiddenCount: 0,
});

/** A feed in JSON often comes under the plain name of JSON, and says in its first member what it is. */
const mayBeFeed = (mediaType: string) => /[/+](?:feed\+)?json$/.test(mediaType);
