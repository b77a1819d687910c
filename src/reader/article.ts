import type { Document, Element } from '#html/node.ts';

/** What kind of page this is, as far as its structure tells. */
export const PAGE_KINDS = [
  'article',
  'documentation',
  'forum',
  'listing',
  'collection',
  'product',
  'service',
  'question',
  'table',
  'search',
  'video',
  'home',
] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** What a page declares about itself. */
export interface Declared {
  /** The article's title without the site's name; for the whole page the text of its `<title>`. */
  title: string;
  /** The first meta whose name or property ends in `description`; '' without one. */
  description: string;
  lang?: string;
  /** As the page wrote it, usually ISO 8601; ISO 8601 when it was read from the page's text or address. */
  publishedTime?: string;
  /** ISO 8601: a date, or a date and time with the zone that the page gave, if it gave one. */
  modifiedTime?: string;
  /** Names of people, joined by ", "; of an organisation only when no person is named. */
  author?: string;
  siteName?: string;
  /** Absolute http(s) address of the picture that stands for the page. */
  image?: string;
  /** Absolute http(s) address that the page calls its own; not always on the same host. */
  canonicalUrl?: string;
  /** `lang` and every named meta with content; a repeated name is joined with a comma. */
  metadata: Record<string, string>;
  /** Links of the head: rel, then address, then the other attributes. */
  external: Record<string, Record<string, Record<string, string>>>;
}

/** What extraction kept of a page. */
export interface Article extends Declared {
  /** The tree to convert: a copy of what was kept, or the document's own body for the whole page. */
  content: Element | Document;
  /**
   * How the content was chosen: block by block, all outside the page's frame, the whole page; of a page without text
   * what its head says, and nothing of a page that is all frame.
   */
  source: 'main' | 'container' | 'page' | 'head' | 'nothing';
  kind?: PageKind;
  /** How sure the kind is, 0 to 1. */
  kindConfidence?: number;
  /** The F1 over words that the extraction promises for its choice, 0 to 1; 1 for the whole page when that was asked for. */
  confidence: number;
  /** How many pieces that a person cannot see were left out. */
  hiddenCount: number;
}
