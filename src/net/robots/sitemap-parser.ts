/**
 * Addresses in a sitemap (sitemaps.org) as it arrives piece by piece: what stands in `loc` elements, or a line each in a
 * text. Linear in the file, and with no more of it in memory than one address may take.
 */
import { decodeXML } from 'entities';

export interface SitemapParser {
  /** Takes the next piece of text; gives the addresses that it completes. */
  push(text: string): string[];
  /** The file is over; gives what is left. */
  end(): string[];
  /** What the addresses are of: undefined until that is known, and for what is no sitemap. */
  readonly kind: SitemapKind | undefined;
  /** Whether further text makes no difference: it is no sitemap, or has as many addresses as one may have. */
  readonly isOver: boolean;
}

/** Pages, or further sitemaps. */
export type SitemapKind = 'pages' | 'sitemaps';

/** As many as the protocol lets one file have. */
const MAX_URLS = 50_000;
const MAX_URL_UNITS = 4_000;
/** Of an address as it is written: each letter may be an entity. */
const MAX_WRITTEN_UNITS = 10 * MAX_URL_UNITS;
/** So much of a file tells what it is. */
const HEAD_UNITS = 4_000;
const ROOT = /<([\w-]{1,20}:)?(urlset|sitemapindex)[\s>]/;
/** More than an opening tag that is cut in two can have. */
const TAG_UNITS = 200;

type Scan = (isEnd: boolean) => string[];

export function createSitemapParser(): SitemapParser {
  let rest = '';
  let left = MAX_URLS;
  let kind: SitemapKind | undefined;
  let scan: Scan | undefined;
  /** Of addresses, with the prefix of the root or none: those with another one are of pictures. */
  let opening = /<loc\s{0,100}>/g;
  /** How far the rest has been looked through for the end of an address. */
  let searched = 0;

  function begin(): void {
    const root = ROOT.exec(rest.slice(0, HEAD_UNITS));
    if (root) {
      const [, prefix = '', name] = root;
      kind = name === 'sitemapindex' ? 'sitemaps' : 'pages';
      opening = new RegExp(`<(?:${prefix})?loc\\s{0,100}>`, 'g');
      scan = scanElements;
    } else if (/^\s*https?:\/\//.test(rest)) {
      kind = 'pages';
      scan = scanLines;
    } else {
      left = 0;
    }
  }

  function take(text: string): string[] {
    const address = text.trim();
    const isOne = address.length <= MAX_URL_UNITS && /^https?:\/\//i.test(address) && URL.canParse(address);
    if (!isOne || left === 0) return [];
    left--;
    return [address];
  }

  function scanElements(isEnd: boolean): string[] {
    const urls: string[] = [];
    let at = 0;
    while (left > 0) {
      opening.lastIndex = at;
      const match = opening.exec(rest);
      if (!match) {
        // The tag may be cut in two.
        keepFrom(Math.max(at, rest.length - TAG_UNITS));
        return urls;
      }
      const from = opening.lastIndex;
      const end = rest.indexOf('</', Math.max(from, searched));
      if (end >= 0) {
        urls.push(...take(written(rest.slice(from, Math.min(end, from + MAX_WRITTEN_UNITS)))));
        at = end;
        continue;
      }
      // Half of it may be there.
      searched = rest.length - 1;
      if (rest.length - from <= MAX_WRITTEN_UNITS && !isEnd) {
        keepFrom(match.index);
        return urls;
      }
      at = from;
    }
    return urls;
  }

  function scanLines(isEnd: boolean): string[] {
    const lines = rest.split('\n');
    const last = isEnd ? '' : lines.pop()!;
    // A line without an end is no address.
    rest = last.slice(0, MAX_WRITTEN_UNITS);
    return lines.flatMap(take);
  }

  function keepFrom(at: number): void {
    // A copy: a slice would keep the whole text in memory.
    rest = Buffer.from(rest.slice(at), 'utf16le').toString('utf16le');
    searched = Math.max(0, searched - at);
  }

  function step(text: string, isEnd: boolean): string[] {
    if (left === 0) return [];
    rest += text;
    if (!scan && (isEnd || rest.length >= HEAD_UNITS)) begin();
    return scan?.(isEnd) ?? [];
  }

  return {
    push: (text) => step(text, false),
    end: () => step('', true),
    get kind() {
      return kind;
    },
    get isOver() {
      return left === 0;
    },
  };
}

function written(inner: string): string {
  const text = inner.trim();
  const cdata = /^<!\[CDATA\[(.*)\]\]>$/s.exec(text);
  return cdata ? cdata[1]! : decodeXML(text);
}
