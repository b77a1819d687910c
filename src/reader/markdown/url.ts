/** URLs in Markdown. */
import { ownValue } from '#own-value.ts';
import { oneLine } from './one-line.ts';

/** Schemes allowed in links. Other schemes run scripts, contain documents, or open local programs. */
const LINKS = /^(?:https?|ftp|mailto|tel|sms):/i;
const PICTURES = /^(?:https?:|data:image\/|blob:http)/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Browsers ignore control characters and white space in a scheme; invisible characters are removed from the output. */
const bare = (url: string) =>
  url.slice(0, 128).replace(/[\u0000-\u0020\u007f-\u00a0]|\p{Default_Ignorable_Code_Point}/gu, '');

const isOf = (url: string, allowed: RegExp): boolean => {
  const start = bare(url);
  return allowed.test(start) || !SCHEME.test(start);
};

/** Whether a URL is allowed in a link; URLs without a scheme are. */
export const isSafeLink = (url: string): boolean => isOf(url, LINKS);

/** Whether a URL is allowed as that of a picture. */
export const isSafePicture = (url: string): boolean => isOf(url, PICTURES);

const SPECIAL = /[\s()<>\\]/;
const SPECIALS = /[\s()<>\\]/g;

/**
 * Encodes a URL for use between the parentheses of a link. White space, parentheses, angle brackets and backslashes are
 * percent-encoded, which is equivalent for servers and safe for parsers.
 */
export const encodeDestination = (url: string): string =>
  SPECIAL.test(url)
    ? url.replace(SPECIALS, (character) => ownValue(PERCENT, character) ?? encodeURIComponent(character))
    : url;

const PERCENT: Readonly<Record<string, string>> = { '(': '%28', ')': '%29' };

/** Characters that would end a title, or be read as an escape or an entity in it. */
const TITLE_SPECIALS = /["\\]|&(?=#?\w{1,31};)/g;

/** The title after the URL of a link or image; '' if there is none. */
export function linkTitle(text: string | null): string {
  if (!text) return '';
  const title = oneLine(text).replace(TITLE_SPECIALS, '\\$&');
  return title === '' ? '' : ` "${title}"`;
}
