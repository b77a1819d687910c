/** A file that came with the request, as a target's text. */
import { problem } from '#errors.ts';
import { decodeBody } from './engines/encoded-body.ts';
import { actualMedia, declaredMedia } from './engines/media-type.ts';
import type { Target } from './target.ts';

/** HTML and text are read. AssertionFailureError names the type of anything else. */
export function readUpload(bytes: Uint8Array, contentType: string | undefined): NonNullable<Target['given']> {
  const { mediaType, kind } = actualMedia(declaredMedia(contentType), bytes);
  if (kind === 'html' || kind === 'text') return { text: decodeBody({ bytes, contentType, kind }), mediaType };
  throw problem('AssertionFailureError', {
    path: 'file',
    message: `A file of type ${mediaType || 'unknown'} cannot be read by this version; HTML and text can`,
  });
}
