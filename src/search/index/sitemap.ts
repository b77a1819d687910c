/** Addresses in a sitemap (sitemaps.org): those of pages, or of further sitemaps. Linear, whatever the file. */
import { decodeXML } from 'entities';

export interface Sitemap {
  /** Whether the addresses are of further sitemaps. */
  readonly isIndex: boolean;
  readonly urls: readonly string[];
}

/** As many as the protocol lets one file have. */
const MAX_URLS = 50_000;
const MAX_URL_UNITS = 4_000;

/** Undefined for what is no sitemap. A text file of addresses, one a line, is one too. */
export function readSitemap(text: string): Sitemap | undefined {
  const root = /<(?:[\w-]{1,20}:)?(urlset|sitemapindex)[\s>]/.exec(text.slice(0, 4_000));
  if (!root) return readLines(text);
  const urls: string[] = [];
  const opening = /<(?:[\w-]{1,20}:)?loc\s*>/g;
  for (let match = opening.exec(text); match && urls.length < MAX_URLS; match = opening.exec(text)) {
    const end = text.indexOf('</', opening.lastIndex);
    if (end < 0) break;
    const inner = text.slice(opening.lastIndex, end).trim();
    const cdata = /^<!\[CDATA\[(.*)\]\]>$/s.exec(inner);
    addIfAddress(urls, cdata ? cdata[1]! : decodeXML(inner));
    opening.lastIndex = end;
  }
  return { isIndex: root[1] === 'sitemapindex', urls };
}

function readLines(text: string): Sitemap | undefined {
  if (!/^\s*https?:\/\//.test(text)) return undefined;
  const urls: string[] = [];
  for (const line of text.split('\n')) {
    if (urls.length >= MAX_URLS) break;
    addIfAddress(urls, line);
  }
  return { isIndex: false, urls };
}

function addIfAddress(urls: string[], text: string): void {
  const address = text.trim();
  if (address.length <= MAX_URL_UNITS && /^https?:\/\//i.test(address) && URL.canParse(address)) urls.push(address);
}
