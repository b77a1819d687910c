/**
 * URIs of the rest of a long page, which tools link to. They name a stored read of the caller, so they expire with it,
 * and mean nothing to other callers.
 */
const REST = 'lectern://rest/';

export const REST_TEMPLATE = `${REST}{reading}/{offset}`;

export const restUri = (reading: string, offset: number): string => `${REST}${reading}/${offset}`;

const URI = /^lectern:\/\/rest\/([\w-]+)\/(\d{1,9})$/;

/** Returns `undefined` for a URI of another form. */
export function parseRestUri(uri: string): { readonly reading: string; readonly offset: number } | undefined {
  const [, reading, offset] = URI.exec(uri) ?? [];
  return reading === undefined ? undefined : { reading, offset: Number(offset) };
}
