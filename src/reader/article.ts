import type { Document, Element } from '#html/node.ts';

/** Kinds of page, as recognized from their structure. */
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

/** Metadata that a page declares. */
export interface DeclaredMetadata {
  /** Title of the article without the site name; for a whole page, the text of `<title>`. */
  title: string;
  /** Content of the first meta element with a name or property that ends in `description`; '' if there is none. */
  description: string;
  lang?: string;
  /**
   * The date as written in the page, usually in ISO 8601; always in ISO 8601 if it was found in the page's text or URL.
   */
  publishedTime?: string;
  /** A date, or a date and time, in ISO 8601, with the time zone if the page specifies one. */
  modifiedTime?: string;
  /** Names of people, joined by ", "; the name of an organization only if no person is named. */
  author?: string;
  siteName?: string;
  /** Absolute http(s) URL of the picture that represents the page. */
  image?: string;
  /** Absolute http(s) URL that the page declares canonical; it may be on another host. */
  canonicalUrl?: string;
  /** `lang` and every named meta with content; values of a repeated name are joined with a comma. */
  metadata: Record<string, string>;
  /** Links in the head, by rel and URL, with their other attributes. */
  external: Record<string, Record<string, Record<string, string>>>;
}

/** The result of extraction. */
export interface Article extends DeclaredMetadata {
  /** The tree to convert: a copy of the extracted content, or the document's own body for the whole page. */
  content: Element | Document;
  /**
   * How the content was chosen. `main`: chosen block by block; `container`: everything outside the boilerplate; `page`:
   * the whole page; `head`: the page has no text and is represented by its head; `nothing`: the page consists of
   * boilerplate only.
   */
  source: 'main' | 'container' | 'page' | 'head' | 'nothing';
  kind?: PageKind;
  /** Confidence in `kind`, 0 to 1. */
  kindConfidence?: number;
  /** Expected F1 score over words of the chosen content, 0 to 1; 1 if the whole page was requested. */
  confidence: number;
  /** Set if much text was left out of the container of the content: number of words, and how many are comments. */
  leftOut?: { readonly words: number; readonly comments: number };
  /** Number of invisible parts that were removed. */
  hiddenCount: number;
}
