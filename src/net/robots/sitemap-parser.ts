/**
 * A streaming parser for sitemaps (sitemaps.org). It extracts URLs from `loc` elements, or from the lines of a text
 * file, in linear time, and buffers at most one URL.
 */
import { decodeXML } from 'entities';
import { isUrl } from '#is-url.ts';

export interface SitemapParser {
  /** Parses the next piece of text. Returns the URLs that are complete after it. */
  push(text: string): string[];
  /** Finishes parsing. Returns the remaining URLs. */
  end(): string[];
  /** The kind of the URLs; undefined until it is known, or if the file is not a sitemap. */
  readonly kind: SitemapKind | undefined;
  /** Whether further text is ignored, because the file is not a sitemap or the maximum number of URLs is reached. */
  readonly isDone: boolean;
}

/** Whether the URLs point to pages, or to further sitemaps. */
export type SitemapKind = 'pages' | 'sitemaps';

/** Maximum number of URLs in one file, as set by the protocol. */
const MAX_URLS = 50_000;
const MAX_URL_UNITS = 4_000;
/** Maximum length of an encoded URL, in which each character may be an XML entity. */
const MAX_ENCODED_UNITS = 10 * MAX_URL_UNITS;
/** The root element must occur within this many characters. */
const HEAD_UNITS = 4_000;
const ROOT = /<([\w-]{1,20}:)?(urlset|sitemapindex)[\s>]/;
/** Longer than any opening `loc` tag, in characters. */
const TAG_UNITS = 200;

type Scan = (isEnd: boolean) => string[];

export function createSitemapParser(): SitemapParser {
  let rest = '';
  let left = MAX_URLS;
  let kind: SitemapKind | undefined;
  let scan: Scan | undefined;
  /**
   * Matches `loc` with the namespace prefix of the root element, or without a prefix. Other prefixes belong to images.
   */
  let opening = /<loc\s{0,100}>/g;
  /** Number of characters of `rest` already searched for a closing tag. */
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

  function accept(text: string): string[] {
    const url = text.trim();
    const isValid = url.length <= MAX_URL_UNITS && /^https?:\/\//i.test(url) && isUrl(url);
    if (!isValid || left === 0) return [];
    left--;
    return [url];
  }

  function scanElements(isEnd: boolean): string[] {
    const urls: string[] = [];
    let at = 0;
    while (left > 0) {
      opening.lastIndex = at;
      const match = opening.exec(rest);
      if (!match) {
        // The end of the text is retained, because it may contain an incomplete tag.
        keepFrom(Math.max(at, rest.length - TAG_UNITS));
        return urls;
      }
      const from = opening.lastIndex;
      const end = rest.indexOf('</', Math.max(from, searched));
      if (end >= 0) {
        urls.push(...accept(decodeText(rest.slice(from, Math.min(end, from + MAX_ENCODED_UNITS)))));
        at = end;
        continue;
      }
      // The last character may be the first half of the closing tag.
      searched = rest.length - 1;
      if (rest.length - from <= MAX_ENCODED_UNITS && !isEnd) {
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
    // The incomplete last line is retained.
    rest = last.slice(0, MAX_ENCODED_UNITS);
    return lines.flatMap(accept);
  }

  function keepFrom(at: number): void {
    // Copied, because a slice would retain the whole text in memory.
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
    get isDone() {
      return left === 0;
    },
  };
}

function decodeText(inner: string): string {
  const text = inner.trim();
  const cdata = /^<!\[CDATA\[(.*)\]\]>$/s.exec(text);
  return cdata ? cdata[1]! : decodeXML(text);
}
