/** Addresses as they are written into Markdown. */
import { own } from '#own.ts';
import { oneLine } from './one-line.ts';

/** Schemes that a link may have. Others run scripts, carry documents, or lead into the reader's program or machine. */
const LINKS = /^(?:https?|ftp|mailto|tel|sms):/i;
const PICTURES = /^(?:https?:|data:image\/|blob:http)/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Browsers pass over control characters and white space in a scheme; what has no picture is taken out of answers. */
const bare = (url: string) =>
  url.slice(0, 128).replace(/[\u0000-\u0020\u007f-\u00a0]|\p{Default_Ignorable_Code_Point}/gu, '');

const isOf = (url: string, allowed: RegExp): boolean => {
  const start = bare(url);
  return allowed.test(start) || !SCHEME.test(start);
};

/** Whether an address may be a link; one without a scheme may. */
export const isSafeLink = (url: string): boolean => isOf(url, LINKS);

/** Whether an address may be that of a picture. */
export const isSafePicture = (url: string): boolean => isOf(url, PICTURES);

const SPECIAL = /[\s()<>\\]/;
const SPECIALS = /[\s()<>\\]/g;

/**
 * An address between the brackets of a link: white space, parentheses, angle brackets and backslashes are
 * percent-encoded, which no server tells from the plain ones and no parser trips over.
 */
export const safeDestination = (url: string): string =>
  SPECIAL.test(url)
    ? url.replace(SPECIALS, (character) => own(PERCENT, character) ?? encodeURIComponent(character))
    : url;

const PERCENT: Readonly<Record<string, string>> = { '(': '%28', ')': '%29' };

/** What would end a title, or be read as an escape or an entity in it. */
const TITLE_SPECIALS = /["\\]|&(?=#?\w{1,31};)/g;

/** What stands behind an address for the title of a link or image; '' without one. */
export function linkTitle(text: string | null): string {
  if (!text) return '';
  const title = oneLine(text).replace(TITLE_SPECIALS, '\\$&');
  return title === '' ? '' : ` "${title}"`;
}
