/** Addresses as they are written into Markdown. */

/** Schemes that run a script or carry a document of their own: such a link is never written. */
const UNSAFE = /^(?:javascript|vbscript|data):/i;

/** Whether an address may be a link. Browsers pass over control characters and white space in a scheme, so does this. */
export const isSafeLink = (url: string): boolean =>
  !UNSAFE.test(url) && !UNSAFE.test(url.slice(0, 64).replace(/[\u0000-\u0020\u007f]/g, ''));

const SPECIAL = /[\s()<>\\]/;
const SPECIALS = /[\s()<>\\]/g;

/**
 * An address between the brackets of a link: white space, parentheses, angle brackets and backslashes are
 * percent-encoded, which no server tells from the plain ones and no parser trips over.
 */
export const safeDestination = (url: string): string =>
  SPECIAL.test(url) ? url.replace(SPECIALS, (character) => PERCENT[character] ?? encodeURIComponent(character)) : url;

const PERCENT: Readonly<Record<string, string>> = { '(': '%28', ')': '%29' };
