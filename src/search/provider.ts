/**
 * The contract of a search provider: its properties, and two pure functions. To add one, add a file and a row in
 * providers/.
 */
import type { Hit } from './hit.ts';
import type { OperatorName } from './operators.ts';
import type { SearchKind, SearchQuery } from './query.ts';

export interface Provider {
  /** The name used in the settings. */
  readonly name: string;
  readonly kinds: readonly SearchKind[];
  readonly needsKey: boolean;
  /** Default base URL; `undefined` if the settings must give one. */
  readonly url?: string | undefined;
  /**
   * How further results are requested: `exact`: in pages of `count` results; `own`: in pages of the provider's own
   * size; `none`: not at all.
   */
  readonly paging: 'exact' | 'own' | 'none';
  /** Maximum number of results of one request. */
  readonly maxCount: number;
  /** The last page that may be requested. */
  readonly maxPage?: number | undefined;
  /** Operators that it supports. For the others, Lectern filters the results. */
  readonly operators: ReadonlySet<OperatorName>;
  /** Whether it supports date ranges. */
  readonly takesDates?: boolean | undefined;
  /** Engines whose results it can return. */
  readonly engines?: readonly EngineName[] | undefined;
  /** A notice to the operator, logged when the server starts. */
  readonly notice?: string | undefined;
  /** Builds the request. `query.count` is above 0, and `query.page` counts pages of that size. */
  request(query: SearchQuery, settings: ProviderSettings): ProviderRequest;
  /** Reads the hits of a response, in order. Never throws: unexpected parts are skipped. */
  parse(answer: unknown, query: SearchQuery, settings: ProviderSettings): Hit[];
}

/** Engines that callers may name (docs/reference/wire/search.md, Providers). */
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
  /** Set for a provider that the operator describes in the settings. */
  readonly described?: DescribedProvider | undefined;
}

/** A provider with a JSON response, described in the settings. */
export interface DescribedProvider {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON whose strings may contain placeholders. */
  readonly body?: unknown;
  /** Path of the array of results, such as `data.items`; empty if the response is the array. */
  readonly results: string;
  /** Path of each field in a result: `{title: 'name', url: 'links.0.href'}`. */
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

/** Appends a path and the parameters that have a value to a base URL. */
export function buildUrl(base: string, path: string, parameters: Readonly<Record<string, unknown>> = {}): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url;
}
