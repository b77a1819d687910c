/** A hit: a result before its page is read. The keys are those of the API (docs/reference/wire/search.md, Results). */

export interface Hit {
  readonly title: string;
  readonly url: string;
  /** The provider's snippet as one line of plain text; may be empty. */
  readonly description: string;
  /** The site's name. */
  readonly source?: string | undefined;
  /** As the provider writes it. It may be relative ("2 days ago"). */
  readonly date?: string | undefined;
  /** Author and licence, if the terms of the source ask for them. */
  readonly attribution?: string | undefined;
  readonly imageUrl?: string | undefined;
  readonly imageWidth?: number | undefined;
  readonly imageHeight?: number | undefined;
  readonly siteLinks?: readonly SiteLink[] | undefined;
  /** Higher is better. Comparable only within one list of hits. */
  readonly score?: number | undefined;
  /** Whether no page has a word of the query, so that this one was found by its meaning alone. */
  readonly byMeaningOnly?: true | undefined;
  /** The best passages of the page, best first. Set only by the local index. */
  readonly passages?: readonly Passage[] | undefined;
}

export interface SiteLink {
  readonly title: string;
  readonly link: string;
  readonly snippet?: string | undefined;
}

/** A part of the Markdown of a page. */
export interface Passage {
  readonly text: string;
  /** The headings above it, outermost first, joined by ` > `; empty for none. */
  readonly heading: string;
  /** Range of the passage in the Markdown of the page, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Higher is better. Comparable only within one response. */
  readonly score: number;
}
