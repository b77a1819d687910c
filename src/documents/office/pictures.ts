/** Embeds the images of a document if browsers support their format and they are not too large. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';

/** Maximum size of an image, in bytes. */
const MAX_PICTURE_BYTES = 1024 * 1024;
/** Maximum number of images of a document. */
const MAX_PICTURES = 200;
/** Maximum total length of data URLs, in characters. A data URL is a third longer than the bytes it encodes. */
const MAX_ALL_BYTES = (4 * 1024 * 1024 * 4) / 3;
const LONGEST_TEXT = 2_000;

const SIGNATURES: readonly (readonly [type: string, bytes: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
];

/**
 * Returns the HTML of an image, which is passed by name or content; its alt text if it cannot be shown; or ''.
 */
export interface Draw {
  (picture: string | Uint8Array | undefined, alternative: string): string;
  /** Number of images that exist but cannot be shown. */
  leftOut(): number;
}

/** All images of a document share the limit. `load` is called once per name, because decompression takes time. */
export function createDraw(load: (name: string) => Uint8Array | undefined): Draw {
  const known = new Map<string, string | undefined>();
  let left = MAX_ALL_BYTES;
  let shown = 0;
  let leftOut = 0;
  const fitting = (bytes: Uint8Array | undefined): string | undefined => {
    const source = sourceOf(bytes);
    return source !== undefined && source.length <= left ? source : undefined;
  };
  const find = (picture: string | Uint8Array | undefined): string | undefined => {
    if (typeof picture !== 'string') return fitting(picture);
    if (!known.has(picture)) known.set(picture, fitting(load(picture)));
    return known.get(picture);
  };
  const draw = (picture: string | Uint8Array | undefined, alternative: string): string => {
    const text = alternative.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TEXT);
    const source = find(picture);
    if (source === undefined || source.length > left || shown >= MAX_PICTURES) {
      if (picture !== undefined) leftOut += 1;
      return escapeText(text);
    }
    left -= source.length;
    shown += 1;
    return `<img alt="${escapeAttribute(text)}" src="${source}">`;
  };
  return Object.assign(draw, { leftOut: () => leftOut });
}

/** A data URL; `undefined` for images that are too large or of an unsupported format. */
function sourceOf(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.length > MAX_PICTURE_BYTES) return undefined;
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const type = SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0];
  return type && `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}
