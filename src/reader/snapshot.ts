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
  /** What went wrong on the way and should be told: `Timed out after 3 s`. One line each. */
  readonly notes: readonly string[];
  /** Which engine made it. */
  readonly engine: 'direct' | 'browser' | 'given';
}

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
