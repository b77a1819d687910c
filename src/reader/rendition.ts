/** A page in the form that was asked for. Plain data: it crosses threads, and the doors write it as it is. */
import type { Explanation } from './explanation.ts';
import type { PageLinks } from './extract/content/page-links.ts';
import type { UncaptionedImage } from './markdown/to-markdown.ts';
import type { StorageState } from './snapshot.ts';

/** The page object of JSON and stream answers; keys in the order in which they are written. */
export interface Page {
  title: string;
  description: string;
  url: string;
  /** What the server of the page answered with, after redirects; unset for what came with the request. */
  targetStatus?: number;
  content?: string;
  chunks?: string[];
  publishedTime?: string;
  html?: string;
  text?: string;
  screenshotUrl?: string;
  pageshotUrl?: string;
  /** Cookies and local storage, when they were asked for. */
  storageState?: StorageState;
  /** Of a document that was read whole. */
  numPages?: number;
  links?: Record<string, string> | [string, string][];
  images?: Record<string, string>;
  warning?: string;
  metadata?: Record<string, string>;
  external?: Record<string, Record<string, Record<string, string>>>;
  /** When it was asked for. */
  explanation?: Explanation;
  usage: { tokens: number };
}

export interface Rendition {
  readonly page: Page;
  /** The same as plain text: the full layout, or the one field that was asked for. */
  readonly body: string;
  /** PNG pictures that the page object names only by address. */
  readonly screenshot?: Uint8Array | undefined;
  readonly pageshot?: Uint8Array | undefined;
  /** Set when pictures are to be described and some are not. */
  readonly uncaptioned?: readonly UncaptionedImage[] | undefined;
  /** What the answer is charged, in tokens. */
  readonly tokens: number;
  /** The URL after redirects, whichever the page object shows. */
  readonly finalUrl?: string | undefined;
  /** What the page's server answered with. */
  readonly status?: number | undefined;
  /** Whether the page forbids copies of it. */
  readonly noStore?: boolean | undefined;
  /** What its server's X-Robots-Tag header says. */
  readonly robotsTag?: string | undefined;
  /** When the copy was kept that stands for a page which could not be read, in ms since 1970. */
  readonly staleAt?: number | undefined;
  /** The Retry-After header of its answer. */
  readonly retryAfter?: string | undefined;
  /** Where one can go from the page, when the request asked for it. */
  readonly pageLinks?: PageLinks | undefined;
}

const KEY_ORDER: readonly (keyof Page)[] = [
  'title',
  'description',
  'url',
  'targetStatus',
  'content',
  'chunks',
  'publishedTime',
  'html',
  'text',
  'screenshotUrl',
  'pageshotUrl',
  'storageState',
  'numPages',
  'links',
  'images',
  'warning',
  'metadata',
  'external',
  'explanation',
  'usage',
];

/** The page object with its keys in the order of the contract, unset ones absent. */
export const orderedPage = (page: Page): Page =>
  Object.fromEntries(
    KEY_ORDER.flatMap((key) => (page[key] === undefined ? [] : [[key, page[key]]])),
  ) as unknown as Page;
