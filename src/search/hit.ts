/** A result: what is known of it before its page is read. Keys are those of the contract, section 4. */

export interface Hit {
  readonly title: string;
  readonly url: string;
  /** What the provider says about the page, as one line of plain text; may be empty. */
  readonly description: string;
  /** The site's name. */
  readonly source?: string | undefined;
  /** As the provider writes it; may be relative ("2 days ago"). */
  readonly date?: string | undefined;
  readonly imageUrl?: string | undefined;
  readonly imageWidth?: number | undefined;
  readonly imageHeight?: number | undefined;
  readonly siteLinks?: readonly SiteLink[] | undefined;
  /** Higher is better; to be compared within one list only. */
  readonly score?: number | undefined;
  /** The parts of the page that answer best, best first; of the local index. */
  readonly passages?: readonly Passage[] | undefined;
}

export interface SiteLink {
  readonly title: string;
  readonly link: string;
  readonly snippet?: string | undefined;
}

/** A part of a page's Markdown. */
export interface Passage {
  readonly text: string;
  /** The headings that it stands below, outermost first, parted by ` > `; empty for none. */
  readonly heading: string;
  /** Where it stands in the page's Markdown, in UTF-16 units: from `start` up to `end`. */
  readonly start: number;
  readonly end: number;
  /** Higher is better; to be compared within one answer only. */
  readonly score: number;
}
