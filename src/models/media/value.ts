/**
 * Parses the value of an image, PDF or clip: a URL, a data URI or plain base64 (docs/reference/wire/models.md, Inputs).
 */
import { isUrl } from '#is-url.ts';

export type MediaValue =
  | { readonly from: 'address'; readonly url: URL }
  /** `mediaType` is the type in the data URI; '' if none. */
  | { readonly from: 'bytes'; readonly bytes: Uint8Array; readonly mediaType: string };

/** Describes what is wrong with a value, phrased to follow the field's name: `must be …`. */
export class MediaError extends Error {}

const MAX_ADDRESS = 8_192;
const BASE64 = /^[A-Za-z0-9+/\-_\s]*(?:=\s*){0,2}$/;
const FORMS = 'must be an http or https URL, a data URI with base64, or base64';

/** Throws MediaError. `maxBytes` limits the decoded size. */
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
  if (text.length > MAX_ADDRESS || !isUrl(text)) throw new MediaError('must be a valid URL');
  return new URL(text);
}

function decode(text: string, from: number, maxBytes: number) {
  // Rejects values that are far too long before decoding them; four base64 characters encode three bytes.
  if ((text.length - from) * 0.75 > maxBytes * 1.1 + 1_024) throw tooLarge(maxBytes);
  const encoded = from === 0 ? text : text.slice(from);
  if (!BASE64.test(encoded)) throw new MediaError(FORMS);
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0) throw new MediaError(encoded.trim() === '' ? 'must not be empty' : FORMS);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return { from: 'bytes', bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) } as const;
}

export const tooLarge = (maxBytes: number): MediaError =>
  new MediaError(`must be at most ${Math.floor(maxBytes / 1_000_000)} MB`);
