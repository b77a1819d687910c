/** Decodes bytes that are clearly UTF-8: most of the web, without the tables of the other encodings. */

/**
 * Returns the text of bytes that are valid UTF-8 without the byte order mark of another encoding, if their Content-Type
 * header declares UTF-8, or if neither the header nor the bytes declare another encoding. For all others `undefined`:
 * decode.ts decides about them.
 */
export function decodeUtf8(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  const label = charsetOf(contentType);
  const mayBeUtf8 = label === undefined ? !mayDeclareOther(bytes) : canonicalName(label) === 'utf-8';
  if (!mayBeUtf8) return undefined;
  return (bomCharset(bytes) ?? 'utf-8') === 'utf-8' ? validUtf8(bytes) : undefined;
}

/** Number of bytes in which a page may declare its encoding (HTML standard, "prescan a byte stream"). */
export const PRESCAN_BYTES = 1_024;

/** Every declaration in a meta tag or an XML declaration contains one of these words. Those of UTF-8 do not match. */
const OTHER_DECLARATION = /(?:charset|encoding)(?!\s*=\s*["']?utf-?8["'\s;>?/])/i;

/** Whether the first bytes may declare an encoding other than UTF-8. UTF-16 without a byte order mark has zero bytes. */
function mayDeclareOther(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, PRESCAN_BYTES);
  return start.includes(0) || OTHER_DECLARATION.test(Buffer.from(start).toString('latin1'));
}

/** Returns the encoding that a Content-Type header names. */
export const charsetOf = (contentType: string | undefined): string | undefined =>
  /;[ \t]*charset[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s;"',]+))/i
    .exec(contentType ?? '')
    ?.slice(1)
    .find(Boolean);

/** Returns the encoding of the byte order mark, if there is one. */
export function bomCharset([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

/** The longest label in the Encoding standard has 19 characters. */
const MAX_LABEL_CHARACTERS = 40;
const MAX_NAMES = 500;
/** Names by label. A decoder with tables takes longer to create than a small page takes to decode. */
const names = new Map<string, string | undefined>();

/** Returns the name of an encoding in the Encoding standard, in lower case; `undefined` for an unknown label. */
export function canonicalName(label: string): string | undefined {
  const key = label.trim();
  if (key.length > MAX_LABEL_CHARACTERS) return undefined;
  if (names.has(key)) return names.get(key);
  // Labels come from pages, so their number has a limit.
  if (names.size >= MAX_NAMES) names.clear();
  const name = encodingOf(key);
  names.set(key, name);
  return name;
}

function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** Returns the text; `undefined` if the bytes are not valid UTF-8. */
export function validUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
