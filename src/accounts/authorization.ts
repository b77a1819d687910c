/** Extracts the API key from the Authorization header, without verifying it. */

export type HeaderKey =
  | { readonly kind: 'nothing' }
  /** The header does not contain a key in the required form. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

const NOTHING: HeaderKey = { kind: 'nothing' };
const MALFORMED: HeaderKey = { kind: 'malformed' };

/** Keys consist of visible ASCII characters. */
const KEY = /^[\x21-\x7e]+$/;

/** Accepts only a single header of the form `Bearer KEY` (docs/reference/wire/models.md, Authentication). */
export function readBearer(headers: readonly string[]): HeaderKey {
  if (headers.length > 1) return MALFORMED;
  const [header = ''] = headers;
  if (header === '') return NOTHING;
  const match = /^bearer +([\x21-\x7e]+)$/i.exec(header);
  return match ? { kind: 'key', key: match[1]! } : MALFORMED;
}

/** Accepts `SCHEME KEY`, or only the key (docs/reference/wire/search.md, Authentication). */
export function readAnyKey(headers: readonly string[]): HeaderKey {
  if (headers.length > 1) return MALFORMED;
  const words = (headers[0] ?? '').split(/\s+/, 4).filter(Boolean);
  if (!words.length) return NOTHING;
  const key = words[1] ?? words[0]!;
  return words.length < 3 && KEY.test(key) ? { kind: 'key', key } : MALFORMED;
}
