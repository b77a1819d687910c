import type { DocumentFile } from '#documents/document.ts';
import type { Blocked } from './blocked/blocked.ts';
import type { ResponseMarks } from './blocked/response-marks.ts';

/** A page of a document. */
export interface PageFacts {
  /** Counted from 1. */
  readonly number: number;
  readonly name?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** Metadata that a file declares about itself. */
export interface DocumentFacts {
  readonly title: string;
  /** Media type of the file, before its conversion to HTML or text. */
  readonly mediaType: string;
  /** Set if the whole document was read and has pages. */
  readonly pageCount?: number | undefined;
  /** The page that was read, if only one page was read. */
  readonly page?: number | undefined;
  /** The pages that were read, if the document has pages. */
  readonly pages?: readonly PageFacts[] | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly publishedTime?: string | undefined;
  readonly lang?: string | undefined;
  readonly hiddenCount: number;
  /** Number of its pictures that are not in the text. */
  readonly picturesLeftOut?: number | undefined;
  /** Whether the text has the figures of a PDF as images. */
  readonly figures?: boolean | undefined;
}

/** Cookies and local storage (docs/reference/wire/reader.md, Storage state). */
export interface StorageState {
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly domain: string;
    readonly path: string;
    /** Seconds since 1970; -1 for session cookies. */
    readonly expires: number;
    readonly httpOnly: boolean;
    readonly secure: boolean;
    readonly sameSite: 'Strict' | 'Lax' | 'None';
  }[];
  readonly origins: readonly {
    readonly origin: string;
    readonly localStorage: readonly { readonly name: string; readonly value: string }[];
  }[];
}

/**
 * The state of a target at one moment, as captured by an engine. Each snapshot of a read is more complete than the one
 * before.
 */
export interface Snapshot {
  /** URL after redirects; a `blob:` URL for submitted HTML. */
  readonly url: string;
  /** HTTP status of the main document; 200 for submitted HTML. */
  readonly status: number;
  readonly statusText: string;
  /** Media type in lower case without parameters: `text/html`, `application/json`, ... */
  readonly mediaType: string;
  /** The target's Last-Modified header, verbatim. */
  readonly lastModified?: string | undefined;
  /** The target's Retry-After header, verbatim. */
  readonly retryAfter?: string | undefined;
  /**
   * Outer HTML of the root element (with shadow roots and frames included if requested), or the decoded text of a
   * target that is not HTML.
   */
  readonly text: string;
  /** A screenshot of the visible window, as PNG. */
  readonly screenshot?: Uint8Array | undefined;
  /** A screenshot of the whole page, as PNG. */
  readonly pageshot?: Uint8Array | undefined;
  /** Whether the page had stopped changing; always true without scripts. */
  readonly settled: boolean;
  /** Whether the page has frames, or open shadow roots, that the HTML does not include. */
  readonly hiddenFrames: boolean;
  readonly hiddenShadow: boolean;
  /**
   * Whether the target forbids shared copies: Cache-Control with no-store or private (RFC 9111, sections 5.2.2.5 and
   * 5.2.2.7).
   */
  readonly noStore?: boolean | undefined;
  /** The target's X-Robots-Tag header, which is equivalent to a robots meta element. */
  readonly robotsTag?: string | undefined;
  /** The headers and cookies by which products that block requests can be recognized. */
  readonly responseMarks?: ResponseMarks | undefined;
  /** What was received in place of the content; `null` if it was examined and is content. */
  readonly blocked?: Blocked | null | undefined;
  /** What was tried to get the content: `direct`, `browser`, `proxy`. Default: the engine of the snapshot. */
  readonly tried?: readonly string[] | undefined;
  /** Whether the scripts of the page loaded data, so that the page may have content beyond its HTML. */
  readonly loadsData?: boolean | undefined;
  /** Whether the target's response was incomplete. */
  readonly partial?: boolean | undefined;
  /** Problems to report as warnings, one per line, such as `Timed out after 3 s`. */
  readonly notes: readonly string[];
  /** The engine that produced the snapshot. */
  readonly engine: 'direct' | 'browser' | 'cf-browser-rendering' | 'given';
  /** The reason why that engine was used, in a few words. */
  readonly engineReason?: string | undefined;
  /** A target that is not a web page: its bytes, which have not yet been read as a document. `text` is then empty. */
  readonly file?: DocumentFile | undefined;
  /** Set if the text was made from a file. */
  readonly document?: DocumentFacts | undefined;
  /** The storage state, if requested. */
  readonly storageState?: StorageState | undefined;
  /** Whether the target was fetched through a proxy of the operator. */
  readonly proxied?: boolean | undefined;
  /** Time when a cached copy was captured, in milliseconds since 1970; `undefined` for live snapshots. */
  readonly cachedAt?: number | undefined;
  /** Set for a copy that is older than allowed, but was served because the page could not be read. */
  readonly stale?: boolean | undefined;
}

/** The rendered snapshot of a page that another engine had fetched before, with the warnings of both. */
export const withFetchedNotes = (fetched: Snapshot, seen: Snapshot): Snapshot => ({
  ...seen,
  notes: [...fetched.notes, ...seen.notes],
  ...(fetched.partial && { partial: true }),
});

export const isHtml = ({ mediaType }: Pick<Snapshot, 'mediaType'>): boolean =>
  mediaType === 'text/html' || mediaType === 'application/xhtml+xml';

/** Whether unrendered HTML has frames or shadow roots with content that the HTML does not include. */
export const findOmittedContent = (html: string): Pick<Snapshot, 'hiddenFrames' | 'hiddenShadow'> => ({
  hiddenFrames: /<i?frame[\s>]/i.test(html),
  hiddenShadow: /<template\s[^<>]{0,200}shadowroot/i.test(html),
});

/**
 * The browser engine sets this attribute on invisible elements; its value is the reason. Extraction removes these
 * elements.
 */
export const HIDDEN_ATTRIBUTE = 'data-lectern-hidden';
/** The browser engine sets this attribute on frame content and shadow roots that it wrote into the HTML. */
export const FRAME_ATTRIBUTE = 'data-lectern-frame';
/** Value of that attribute on the body made from a frameset. */
export const FRAMESET = 'frameset';

/** The properties of a snapshot that come from the status line and headers. */
export type ResponseFacts = Pick<
  Snapshot,
  'status' | 'statusText' | 'lastModified' | 'retryAfter' | 'noStore' | 'robotsTag' | 'responseMarks'
>;

export const responseFacts = ({
  status,
  statusText,
  lastModified,
  retryAfter,
  noStore,
  robotsTag,
  responseMarks,
}: Snapshot): ResponseFacts => ({ status, statusText, lastModified, retryAfter, noStore, robotsTag, responseMarks });
