/**
 * Names the pictures of a document by which callers can fetch them from the server for a while. A name cannot be guessed
 * and is the same for the same picture of the same document, so that a repeated read gives the same answer.
 */
import { createHmac } from 'node:crypto';

export interface PictureUrls {
  /** Start of the URLs. */
  readonly base: string;
  /** Secret of this server. */
  readonly key: string;
}

/** A picture that an answer refers to. */
export interface ServedPicture {
  readonly name: string;
  readonly url: string;
  readonly dataUrl: string;
}

export interface PictureNames {
  /** `undefined` for pictures that are not served. */
  urlOf(dataUrl: string): string | undefined;
  named(): readonly ServedPicture[];
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

/** Number of bytes of a name, before it is encoded. */
const NAME_BYTES = 24;

export function createPictureNames({ base, key }: PictureUrls, documentUrl: string): PictureNames {
  const pictures = new Map<string, ServedPicture>();
  return {
    urlOf(dataUrl) {
      const known = pictures.get(dataUrl);
      if (known) return known.url;
      const type = /^data:([a-z/]+);base64,/.exec(dataUrl.slice(0, 40))?.[1];
      const extension = EXTENSIONS.get(type ?? '');
      if (extension === undefined) return undefined;
      const hash = createHmac('sha256', key).update(`${documentUrl}\n`).update(dataUrl).digest();
      const name = hash.subarray(0, NAME_BYTES).toString('base64url');
      const url = `${base}${name}.${extension}`;
      pictures.set(dataUrl, { name, url, dataUrl });
      return url;
    },
    named: () => [...pictures.values()],
  };
}
