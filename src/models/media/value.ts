/** What a request gives for an image, a PDF, a clip (contract, 5.3): an address, a data URI, or base64 alone. */

export type MediaValue =
  | { readonly from: 'address'; readonly url: URL }
  /** `mediaType` is what a data URI says of itself; '' when nothing is said. */
  | { readonly from: 'bytes'; readonly bytes: Uint8Array; readonly mediaType: string };

/** What is wrong with a value, as it follows the name of the field: `must be …`. */
export class MediaError extends Error {}

const MAX_ADDRESS = 8_192;
const BASE64 = /^[A-Za-z0-9+/\-_\s]*(?:=\s*){0,2}$/;
const FORMS = 'must be an http or https address, a data URI with base64, or base64';

/** Throws MediaFault. `maxBytes` is of what is decoded. */
export function readMediaValue(text: string, maxBytes: number): MediaValue {
  if (/^https?:/i.test(text)) return { from: 'address', url: addressOf(text) };
  if (/^data:/i.test(text)) {
    const comma = text.indexOf(',');
    const head = text.slice(5, comma < 0 ? 5 : Math.min(comma, 1_000));
    if (comma < 0 || !/;base64$/i.test(head.trimEnd())) throw new MediaError('must be a data URI with `;base64,`');
    return { ...decode(text, comma + 1, maxBytes), mediaType: head.split(';', 1)[0]!.trim().toLowerCase() };
  }
  return { ...decode(text, 0, maxBytes), mediaType: '' };
}

function addressOf(text: string): URL {
  if (text.length > MAX_ADDRESS || !URL.canParse(text)) throw new MediaError('must be a valid address');
  return new URL(text);
}

function decode(text: string, from: number, maxBytes: number) {
  // Blanks and line breaks aside, four characters are three bytes; a value far beyond is not worth looking at.
  if ((text.length - from) * 0.75 > maxBytes * 1.1 + 1_024) throw tooMany(maxBytes);
  const encoded = from === 0 ? text : text.slice(from);
  if (!BASE64.test(encoded)) throw new MediaError(FORMS);
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0) throw new MediaError(encoded.trim() === '' ? 'must not be empty' : FORMS);
  if (bytes.length > maxBytes) throw tooMany(maxBytes);
  return { from: 'bytes', bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) } as const;
}

export const tooMany = (maxBytes: number): MediaError =>
  new MediaError(`must have at most ${Math.floor(maxBytes / 1_000_000)} MB`);
