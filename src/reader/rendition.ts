/**
 * A page in the requested format. Plain data, because it is passed between threads and written by endpoints without
 * changes.
 */
import type { Blocked } from './blocked/blocked.ts';
import type { ContentElement } from './elements/content-element.ts';
import type { Explanation } from './explanation.ts';
import type { CrawlLinks } from './extract/content/crawl-links.ts';
import type { UncaptionedImage } from './markdown/to-markdown.ts';
import type { PageSpan } from './places/page-spans.ts';
import type { PlacedBlock } from './places/placed-blocks.ts';
import type { ServedPicture } from './places/served-pictures.ts';
import type { StorageState } from './snapshot.ts';

/** The page object of JSON and stream responses; its keys are in the order in which they are written. */
export interface Page {
  title: string;
  description: string;
  url: string;
  /** HTTP status of the page after redirects; unset for submitted documents. */
  targetStatus?: number;
  /** Set if the page is not the content but was sent in its place. */
  blocked?: Blocked;
  content?: string;
  chunks?: string[];
  /** The first and last page of each chunk, for documents with pages. */
  chunkPages?: [first: number, last: number][];
  publishedTime?: string;
  html?: string;
  text?: string;
  screenshotUrl?: string;
  pageshotUrl?: string;
  /** Cookies and local storage, if requested. */
  storageState?: StorageState;
  /** Set if all pages of a document were read. */
  numPages?: number;
  /** The pages of a document that has pages, with their positions in `content`. */
  pages?: PageSpan[];
  links?: Record<string, string> | [string, string][];
  images?: Record<string, string>;
  warning?: string;
  metadata?: Record<string, string>;
  external?: Record<string, Record<string, Record<string, string>>>;
  /** Set if requested. */
  explanation?: Explanation;
  usage: { tokens: number };
}

/** How much `ReadDetails` contains. */
export type DetailLevel = 'facts' | 'html';

/** What a caller may need of a page that is not in the page object. */
export interface ReadDetails {
  /** Media type of the target, in lower case without parameters; of a file, before its conversion. */
  readonly mediaType: string;
  /** Time when a cached copy was captured, in milliseconds since 1970; unset for a live read. */
  readonly cachedAt?: number | undefined;
  /** The HTML of the content, without scripts and styles and with absolute URLs, if requested. */
  readonly contentHtml?: string | undefined;
}

export interface Rendition {
  readonly page: Page;
  /** The plain-text response: the full layout, or the one requested field. */
  readonly body: string;
  /** Screenshots as PNG; the page object contains only links to them. */
  readonly screenshot?: Uint8Array | undefined;
  readonly pageshot?: Uint8Array | undefined;
  /** Images without alt text, set if captions were requested. */
  readonly uncaptioned?: readonly UncaptionedImage[] | undefined;
  /** The charge for the response, in tokens. */
  readonly tokens: number;
  /** URL after redirects, regardless of the URL in the page object. */
  readonly finalUrl?: string | undefined;
  /** HTTP status of the page. */
  readonly status?: number | undefined;
  /** Whether the page forbids shared copies. */
  readonly noStore?: boolean | undefined;
  /** X-Robots-Tag header of the page. */
  readonly robotsTag?: string | undefined;
  /** Set if a stale copy was served: the time when it was captured, in milliseconds since 1970. */
  readonly staleAt?: number | undefined;
  /** Time when a cached copy was captured, in milliseconds since 1970; unset for a live read. */
  readonly cachedAt?: number | undefined;
  /** Retry-After header of the page. */
  readonly retryAfter?: string | undefined;
  /** Links of the page, if requested. */
  readonly pageLinks?: CrawlLinks | undefined;
  /** Set if requested. */
  readonly details?: ReadDetails | undefined;
  /** Pictures of a document to which the page refers by URLs of this server. */
  readonly pictures?: readonly ServedPicture[] | undefined;
  /** The blocks of a document with a place, in order, if requested. */
  readonly placedBlocks?: readonly PlacedBlock[] | undefined;
  /** The elements of the content, in order, if requested. */
  readonly elements?: readonly ContentElement[] | undefined;
  /** The media type of a file before its conversion; of a page, as its server declared it. */
  readonly mediaType?: string | undefined;
}

const KEY_ORDER: readonly (keyof Page)[] = [
  'title',
  'description',
  'url',
  'targetStatus',
  'blocked',
  'content',
  'chunks',
  'chunkPages',
  'publishedTime',
  'html',
  'text',
  'screenshotUrl',
  'pageshotUrl',
  'storageState',
  'numPages',
  'pages',
  'links',
  'images',
  'warning',
  'metadata',
  'external',
  'explanation',
  'usage',
];

/**
 * The page object with its keys in the order of the response, without unset ones (docs/reference/wire/reader.md, JSON
 * answers).
 */
export const orderedPage = (page: Page): Page =>
  Object.fromEntries(
    KEY_ORDER.flatMap((key) => (page[key] === undefined ? [] : [[key, page[key]]])),
  ) as unknown as Page;
