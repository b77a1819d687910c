/** A page in the form that was asked for. Plain data: it crosses threads, and the doors write it as it is. */

/** The page object of JSON and stream answers; keys in the order in which they are written. */
export interface Page {
  title: string;
  description: string;
  url: string;
  content?: string;
  chunks?: string[];
  publishedTime?: string;
  html?: string;
  text?: string;
  screenshotUrl?: string;
  pageshotUrl?: string;
  links?: Record<string, string> | [string, string][];
  images?: Record<string, string>;
  warning?: string;
  metadata?: Record<string, string>;
  external?: Record<string, Record<string, Record<string, string>>>;
  usage: { tokens: number };
}

export interface Rendition {
  readonly page: Page;
  /** The same as plain text: the full layout, or the one field that was asked for. */
  readonly body: string;
  /** PNG pictures that the page object names only by address. */
  readonly screenshot?: Uint8Array | undefined;
  readonly pageshot?: Uint8Array | undefined;
  /** What the answer is charged, in tokens. */
  readonly tokens: number;
}
