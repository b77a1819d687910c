/** Compares the answers to a micro-page at its URLs with the words that it must and must not have. */
import { MICRO_PAGE_URLS, type MicroPage } from './micro-page.ts';

export interface Faults {
  /** Wanted strings that are missing at one URL or more. */
  readonly lost: readonly string[];
  /** Strings of the furniture that are in the answer at one URL or more. */
  readonly extra: readonly string[];
  /** Number of different texts at the URLs; 1 if the URL makes no difference. */
  readonly texts: number;
}

/** The destination and title of a Markdown link. */
const DESTINATION = /\]\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"\n]*")?\)/g;
const TAG = /<\/?[a-zA-Z][^<>\n]*>/g;

/**
 * The words of a text or of Markdown, without its syntax and the URLs of its links, between single spaces. Words are
 * compared whole, so that "Item 1" is not found in "Item 10".
 */
export function plainWords(markdown: string): string {
  const text = markdown
    .replace(DESTINATION, '] ')
    .replace(TAG, ' ')
    .replace(/[*_`~\\]/g, '');
  return ` ${(text.normalize('NFC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')} `;
}

const isUrl = (wanted: string) => wanted.startsWith('https://');

/** Compares one Markdown for each URL with what `page` must yield. */
export function faultsOf(page: Pick<MicroPage, 'keep' | 'drop'>, markdowns: readonly string[]): Faults {
  const texts = [...new Set(markdowns.map(plainWords))];
  const inAll = (wanted: string) =>
    isUrl(wanted)
      ? markdowns.every((markdown) => markdown.includes(wanted))
      : texts.every((text) => text.includes(plainWords(wanted)));
  return {
    lost: page.keep.filter((wanted) => !inAll(wanted)),
    extra: page.drop.filter((unwanted) => texts.some((text) => text.includes(plainWords(unwanted)))),
    texts: texts.length,
  };
}

/** The faults of a reader on a page, read at each URL. */
export async function faultsAtUrls(
  page: MicroPage,
  read: (html: string, url: string) => string | Promise<string>,
): Promise<Faults> {
  const markdowns: string[] = [];
  for (const url of MICRO_PAGE_URLS) markdowns.push(await read(page.html, url));
  return faultsOf(page, markdowns);
}
