/** The form in which a picture is stored: one line of JSON about the page, followed by the image. */
import { isUrl } from '#is-url.ts';
import type { NamedPicture, PictureSource, PictureType, StoredPicture } from './pictures.ts';

interface Header {
  /** Only origins are stored, because URLs may contain secrets. */
  readonly origins: readonly string[];
  /** Default: PNG. */
  readonly mediaType?: PictureType | undefined;
  readonly staleAt?: number | undefined;
  /** Distinguishes equal images, so that each has a blob of its own. */
  readonly name?: string | undefined;
}

export function encodePicture(
  { bytes, mediaType }: NamedPicture,
  { urls, staleAt }: PictureSource,
  name?: string,
): Uint8Array {
  const web = urls.filter((url) => /^https?:/i.test(url) && isUrl(url));
  const origins = [...new Set(web.map((url) => new URL(url).origin))];
  const header = JSON.stringify({ origins, mediaType, staleAt, name } satisfies Header);
  return Buffer.concat([Buffer.from(`${header}\n`), bytes]);
}

const LINE_END = 0x0a;

/** Returns `undefined` if the guard now refuses a page of the picture. */
export async function decodePicture(
  bytes: Uint8Array,
  mayServeCached: (url: string) => Promise<boolean>,
): Promise<StoredPicture | undefined> {
  const end = bytes.indexOf(LINE_END);
  const {
    origins,
    mediaType = 'image/png',
    staleAt,
  } = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString()) as Header;
  const allowed = await Promise.all(origins.map((origin) => mayServeCached(origin)));
  return allowed.every(Boolean) ? { mediaType, staleAt, bytes: bytes.subarray(end + 1) } : undefined;
}
