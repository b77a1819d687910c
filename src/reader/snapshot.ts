import type { DocumentFile } from '#documents/document.ts';

/** What a target that is a file says about itself. */
export interface DocumentFacts {
  readonly title: string;
  /** What the file was, before it became HTML or text. */
  readonly mediaType: string;
  /** Set when the whole document was read and has pages. */
  readonly pageCount?: number | undefined;
  /** Set when one page was read: which. */
  readonly page?: number | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly publishedTime?: string | undefined;
  readonly lang?: string | undefined;
  readonly hiddenCount: number;
}

/** Cookies and local storage, in the shape of the contract's section 3.4. */
export interface StorageState {
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly domain: string;
    readonly path: string;
    /** Seconds since 1970; -1 for a cookie of the session. */
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

/** What an engine saw of a target at one moment. Each snapshot of a read is better than the one before. */
export interface Snapshot {
  /** The address after redirects; a `blob:` address for submitted HTML. */
  readonly url: string;
  /** The HTTP status of the main document; 200 for submitted HTML. */
  readonly status: number;
  readonly statusText: string;
  /** The media type in lower case without parameters: `text/html`, `application/json`, ... */
  readonly mediaType: string;
  /** The target's Last-Modified header as it came. */
  readonly lastModified?: string | undefined;
  /** The target's Retry-After header as it came. */
  readonly retryAfter?: string | undefined;
  /**
   * The document: outer HTML of the root element (shadow roots written in and frames filled when asked), or the
   * decoded text of a target that is not HTML.
   */
  readonly text: string;
  /** What the window shows, as PNG. */
  readonly screenshot?: Uint8Array | undefined;
  /** The whole page, as PNG. */
  readonly pageshot?: Uint8Array | undefined;
  /** Whether the page had come to rest: always true without scripts. */
  readonly settled: boolean;
  /** Whether the page has frames, or open shadow roots, that were not written into the HTML. */
  readonly hiddenFrames: boolean;
  readonly hiddenShadow: boolean;
  /**
   * Set when the target's answer forbids that others are given copies of it: Cache-Control with no-store or private
   * (RFC 9111, sections 5.2.2.5 and 5.2.2.7).
   */
  readonly noStore?: boolean | undefined;
  /** The X-Robots-Tag header of the target's answer: what a robots meta element would say of it. */
  readonly robotsTag?: string | undefined;
  /** Whether the scripts of the page loaded data: what the next page is made of may be more. */
  readonly loadsData?: boolean | undefined;
  /** Whether the target's answer ended before it was whole. */
  readonly partial?: boolean | undefined;
  /** What went wrong on the way and should be told: `Timed out after 3 s`. One line each. */
  readonly notes: readonly string[];
  /** Which engine made it. */
  readonly engine: 'direct' | 'browser' | 'cf-browser-rendering' | 'given';
  /** Why that engine, in a few words. */
  readonly engineReason?: string | undefined;
  /** A target that is no page: its bytes, still to be read as a document. `text` is empty then. */
  readonly file?: DocumentFile | undefined;
  /** Set when the text was made from a file. */
  readonly document?: DocumentFacts | undefined;
  /** Set when it was asked for. */
  readonly storageState?: StorageState | undefined;
  /** Whether it came through a proxy of the operator. */
  readonly proxied?: boolean | undefined;
  /** When a kept copy was made, in ms since 1970; unset for what was read live. */
  readonly cachedAt?: number | undefined;
  /** Set for a copy that is older than what was asked for, answered because the page could not be read. */
  readonly stale?: boolean | undefined;
}

/** What a browser made of a page that another engine had fetched, with what there was to tell of that. */
export const fromFetched = (fetched: Snapshot, seen: Snapshot): Snapshot => ({
  ...seen,
  notes: [...fetched.notes, ...seen.notes],
  ...(fetched.partial && { partial: true }),
});

export const isHtml = ({ mediaType }: Pick<Snapshot, 'mediaType'>): boolean =>
  mediaType === 'text/html' || mediaType === 'application/xhtml+xml';

/** Whether HTML that was not rendered has frames, or shadow roots, whose content is not in it. */
export const unwritten = (html: string): Pick<Snapshot, 'hiddenFrames' | 'hiddenShadow'> => ({
  hiddenFrames: /<i?frame[\s>]/i.test(html),
  hiddenShadow: /<template\s[^<>]{0,200}shadowroot/i.test(html),
});

/** Set by the browser engine on elements that a person would not see; the value says why. Extraction leaves these out. */
export const HIDDEN_ATTRIBUTE = 'data-lectern-hidden';
/** Set by the browser engine on frames' content and shadow roots it wrote into the HTML. */
export const FRAME_ATTRIBUTE = 'data-lectern-frame';
/** Its value on the body that was made of a frameset. */
export const FRAMESET = 'frameset';

/** What the head of an answer says of it. */
export type AnswerFacts = Pick<
  Snapshot,
  'status' | 'statusText' | 'lastModified' | 'retryAfter' | 'noStore' | 'robotsTag'
>;

export const answerFacts = ({
  status,
  statusText,
  lastModified,
  retryAfter,
  noStore,
  robotsTag,
}: Snapshot): AnswerFacts => ({ status, statusText, lastModified, retryAfter, noStore, robotsTag });
