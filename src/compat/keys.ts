/** Finds the caller's key where the clients of a dialect put it (docs/reference/wire/compat.md, Keys). */
import { ownValue } from '#own-value.ts';

export type KeyPlace =
  /** `Authorization: Bearer KEY`. */
  | 'bearer'
  /** `Authorization: KEY`, with or without a scheme. */
  | 'authorization'
  | { readonly header: string }
  | { readonly bodyField: string }
  | { readonly queryField: string };

interface KeySources {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
}

/** Values that clients send if their user has not set a key. */
const PLACEHOLDERS = new Set(['', 'bearer', 'none', 'null', 'undefined']);

/** Returns the key in the first place that has one; `undefined` if no place has a key. */
export function findKey(
  places: readonly KeyPlace[],
  sources: KeySources,
  placeholders: readonly string[] = [],
): string | undefined {
  for (const place of places) {
    const key = textAt(place, sources)?.trim() ?? '';
    const word = key.toLowerCase();
    if (!PLACEHOLDERS.has(word) && !placeholders.includes(word)) return key;
  }
  return undefined;
}

function textAt(place: KeyPlace, { headers, body, query }: KeySources): string | undefined {
  if (place === 'bearer') return /^bearer(?:\s+(.*))?$/is.exec(textOf(headers.authorization))?.[1] ?? '';
  if (place === 'authorization') return textOf(headers.authorization).replace(/^bearer\b/i, '');
  if ('header' in place) return textOf(headers[place.header]);
  if ('queryField' in place) return textOf(ownValue(query, place.queryField));
  return typeof body === 'object' && body !== null ? textOf(ownValue({ ...body }, place.bodyField)) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
