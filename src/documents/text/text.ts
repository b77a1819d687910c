/** Text that is returned unchanged: plain text, JSON, YAML, source code, Markdown, subtitles. */
import { decodeText } from '#html/decode.ts';
import { DocumentError, type DocumentKind, type ParsedDocument } from '../document.ts';
import { readJsonFeed } from './json-feed.ts';

/** Maximum size of a text, in bytes (docs/reference/wire/reader.md, Documents and other types). */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

export const kind: DocumentKind = {
  async parse(file, bytes) {
    const text = decodedText(bytes, file.contentType);
    const feed = mayBeFeed(file.mediaType) ? readJsonFeed(text) : undefined;
    return feed ?? asSource(text);
  },
};

/** Decodes the text of a file. Throws DocumentError if it is empty or too large. */
export function decodedText(bytes: Uint8Array, contentType: string | undefined): string {
  if (bytes.length > MAX_TEXT_BYTES) throw new DocumentError('too large', 'The text file is larger than 32 MiB');
  const { text } = decodeText(bytes, contentType);
  if (text.trim() === '') throw new DocumentError('damaged', 'The file is empty');
  return text;
}

/** Wraps a text as a document that is shown as its source. */
export const asSource = (source: string): ParsedDocument => ({
  title: '',
  pages: [],
  source,
  metadata: {},
  notes: [],
  hiddenCount: 0,
});

/** JSON feeds are often served as plain JSON. */
const mayBeFeed = (mediaType: string) => /[/+](?:feed\+)?json$/.test(mediaType);
