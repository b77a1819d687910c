/** What a search service owes: facts, and two functions without side effects. Adding one: a file in providers/, a row in its list. */
import type { Hit } from './hit.ts';
import type { OperatorName } from './operators.ts';
import type { SearchKind, SearchQuery } from './query.ts';

export interface Provider {
  /** By which settings choose it. */
  readonly name: string;
  readonly kinds: readonly SearchKind[];
  readonly needsKey: boolean;
  /** Where it is asked when the settings don't say; undefined when they must. */
  readonly url?: string | undefined;
  /**
   * How later results are asked for: pages of exactly `count` results, pages of the service's own size, or not at all.
   */
  readonly paging: 'exact' | 'own' | 'none';
  /** The most results of one request. */
  readonly maxCount: number;
  /** The last page that may be asked for. */
  readonly maxPage?: number | undefined;
  /** What it understands in the text, or is told otherwise; results are held against the rest. */
  readonly operators: ReadonlySet<OperatorName>;
  /** Whether it takes from when to when pages are. */
  readonly takesDates?: boolean | undefined;
  /** Engines whose results it can be asked for. */
  readonly engines?: readonly EngineName[] | undefined;
  /** What an operator should know before using it, said when the server starts. */
  readonly notice?: string | undefined;
  /** `query.count` is above 0, `query.page` counts pages of it. */
  request(query: SearchQuery, settings: ProviderSettings): ProviderRequest;
  /** What of the answer are hits, in order. Never throws: what is not as expected is left out. */
  parse(answer: unknown, query: SearchQuery, settings: ProviderSettings): Hit[];
}

/** Engines that callers may name (contract, section 3). */
export type EngineName = 'google' | 'bing';

export interface ProviderRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface ProviderSettings {
  readonly url: string;
  readonly key?: string | undefined;
  /** The engine that the caller named. */
  readonly engine?: EngineName | undefined;
  /** Of the service that settings describe themselves. */
  readonly described?: DescribedProvider | undefined;
}

/** A service with a JSON answer, described in settings. */
export interface DescribedProvider {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with placeholders in its texts. */
  readonly body?: unknown;
  /** Where the list of results is: `data.items`; empty when the answer itself is the list. */
  readonly results: string;
  /** Where in a result each field is: `{title: 'name', url: 'links.0.href'}`. */
  readonly fields: Readonly<Partial<Record<DescribedField, string>>>;
  readonly maxCount: number;
  readonly paging: Provider['paging'];
  readonly kinds: readonly SearchKind[];
}

export const DESCRIBED_FIELDS = [
  'title',
  'url',
  'description',
  'source',
  'date',
  'imageUrl',
  'imageWidth',
  'imageHeight',
] as const;
export type DescribedField = (typeof DESCRIBED_FIELDS)[number];

export const getJson = (url: URL, headers: Readonly<Record<string, string>> = {}): ProviderRequest => ({
  url,
  method: 'GET',
  headers: { accept: 'application/json', ...headers },
});

export const postJson = (url: URL, body: object, headers: Readonly<Record<string, string>> = {}): ProviderRequest => ({
  url,
  method: 'POST',
  headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** An address below a base, with the parameters that have a value. */
export function buildUrl(base: string, path: string, parameters: Readonly<Record<string, unknown>> = {}): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url;
}
