/** Reading the Authorization header: what it holds, before anybody asks whose it is. */

export type Given =
  | { readonly kind: 'nothing' }
  /** There is something, and it is not a key in the form asked for. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'key'; readonly key: string };

const NOTHING: Given = { kind: 'nothing' };
const MALFORMED: Given = { kind: 'malformed' };

/** Visible ASCII: what a key may be made of. */
const KEY = /^[\x21-\x7e]+$/;

/** `Bearer`, spaces, one key and no more, in one header (model host, contract section 3). */
export function readBearer(headers: readonly string[]): Given {
  if (headers.length > 1) return MALFORMED;
  const [header = ''] = headers;
  if (header === '') return NOTHING;
  const match = /^bearer +([\x21-\x7e]+)$/i.exec(header);
  return match ? { kind: 'key', key: match[1]! } : MALFORMED;
}

/** The second word of the header, or the whole of it (reader and search host). */
export function readAnyKey(headers: readonly string[]): Given {
  if (headers.length > 1) return MALFORMED;
  const words = (headers[0] ?? '').split(/\s+/, 4).filter(Boolean);
  if (!words.length) return NOTHING;
  const key = words[1] ?? words[0]!;
  return words.length < 3 && KEY.test(key) ? { kind: 'key', key } : MALFORMED;
}
