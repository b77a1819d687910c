/** Reads a file that came with the request. HTML and text are decoded; other files become documents. */
import { decodeBody } from './engines/encoded-body.ts';
import { actualMedia, declaredMedia } from './engines/media-type.ts';
import type { Target } from './target.ts';

export interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly contentType?: string | undefined;
  readonly name?: string | undefined;
  readonly option: 'file' | 'pdf';
}

export async function readUpload(file: UploadedFile): Promise<Pick<Target, 'given' | 'upload'>> {
  const { bytes, contentType, name, option } = file;
  const { mediaType, kind } = actualMedia(declaredMedia(contentType), bytes, name);
  if (kind === 'html' || kind === 'text')
    return { given: { text: await decodeBody({ bytes, contentType, kind }), mediaType } };
  return {
    upload: { bytes, mediaType: mediaType || 'application/octet-stream', contentType, name: safeName(name), option },
  };
}

/** The last part of a file name that may be a path on the caller's machine. */
const safeName = (name: string | undefined) => name?.split(/[\\/]/).pop()?.trim() || undefined;
