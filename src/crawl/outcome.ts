/** The outcome of one URL of a crawl, and the result that callers receive for it. */
import type { Problem } from '#errors.ts';
import type { Page, ReadDetails } from '#reader/index.ts';
import type { FoundUrl, WaitingPage } from './frontier.ts';
import type { NormalizedUrl } from './normalize-url.ts';
import type { Tables } from './schema.ts';

/** A page that was read. */
export interface ReadPage {
  readonly kind: 'page';
  readonly page: Page;
  /** Set if the plan asks for them. */
  readonly details?: ReadDetails | undefined;
  readonly tokens: number;
  /** The model that generated the content, or an empty string. */
  readonly model: string;
  readonly ms: number;
  /** The URL at the end of the redirect chain. */
  readonly final: NormalizedUrl;
  /** The canonical URL declared by the page, if it is trusted. */
  readonly canonical: NormalizedUrl | undefined;
  /** A hash of the text; `undefined` for a page without text. */
  readonly content: string | undefined;
  /** Links of the page that the crawl follows. */
  readonly found: readonly FoundUrl[];
  /** The new base URLs, if the page changes the scope of the crawl. */
  readonly bases?: readonly string[] | undefined;
}

/** `read` specifies whether the URL counts toward the page limit. */
export type Outcome =
  | ReadPage
  | { readonly kind: 'failed'; readonly failure: Problem; readonly status?: number | undefined; readonly read: boolean }
  | { readonly kind: 'skipped'; readonly reason: 'robots' | 'scope'; readonly to?: string; readonly read: boolean }
  /** The URL redirects to a page that already has a result. */
  | { readonly kind: 'duplicate'; readonly of: string; readonly read: true };

/** A row of `crawl_results` without its number. */
export interface NewResult {
  readonly event: Tables['crawl_results']['event'];
  readonly body: Record<string, unknown>;
}

/** Builds the result for a URL. `duplicateOf` is set if the same page already has a result, under that URL. */
export function resultOf({ url, depth }: WaitingPage, outcome: Outcome, duplicateOf?: string): NewResult {
  const position = { url, depth };
  if (outcome.kind === 'failed') {
    const { name, code, status, message } = outcome.failure;
    const answered = outcome.status === undefined ? {} : { status: outcome.status };
    return { event: 'failed', body: { ...position, ...answered, error: { code, name, status, message } } };
  }
  if (duplicateOf !== undefined || outcome.kind === 'duplicate') {
    return { event: 'skipped', body: { ...position, reason: 'duplicate', of: duplicateOf } };
  }
  if (outcome.kind === 'page') {
    const { page, details } = outcome;
    return { event: 'page', body: { ...position, page, ...(details && { details }) } };
  }
  const { reason, to } = outcome;
  return { event: 'skipped', body: { ...position, reason, ...(to !== undefined && { to }) } };
}
