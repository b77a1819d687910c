/** A file that came with the request, as a target's text. */
import { problem } from '#errors.ts';
import { decodeHtml, decodeText } from '#html/decode.ts';
import { actualMedia, declaredMedia } from './engines/media-type.ts';
import type { Target } from './target.ts';

/** HTML and text are read. AssertionFailureError names the type of anything else. */
export function readUpload(bytes: Uint8Array, contentType: string | undefined): NonNullable<Target['given']> {
  const { mediaType, kind } = actualMedia(declaredMedia(contentType), bytes);
  if (kind === 'html') return { text: decodeHtml(bytes, contentType).text, mediaType };
  if (kind === 'text') return { text: decodeText(bytes, contentType).text, mediaType };
  throw problem('AssertionFailureError', {
    path: 'file',
    message: `A file of type ${mediaType || 'unknown'} cannot be read by this version; HTML and text can`,
  });
}
