/** Pictures inside a document, as long as they are of a kind that browsers show and not too many bytes. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';

const MAX_PICTURE_BYTES = 256 * 1024;
const MAX_ALL_BYTES = 4 * 1024 * 1024;
const LONGEST_TEXT = 2_000;

const SIGNATURES: readonly (readonly [type: string, bytes: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
];

/** The picture as HTML, or its alternative text when it cannot be shown, or ''. */
export type Draw = (bytes: Uint8Array | undefined, alternative: string) => string;

/** The bound is one for all pictures of a document. */
export function createDraw(): Draw {
  let left = MAX_ALL_BYTES;
  return (bytes, alternative) => {
    const text = alternative.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TEXT);
    if (!bytes || bytes.length > Math.min(MAX_PICTURE_BYTES, left)) return escapeText(text);
    const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
    const type = SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0];
    if (type === undefined) return escapeText(text);
    left -= bytes.length;
    return `<img alt="${escapeAttribute(text)}" src="data:${type};base64,${Buffer.from(bytes).toString('base64')}">`;
  };
}
