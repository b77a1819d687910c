/**
 * Interface of a search provider: its properties, and two pure functions. To add a provider, add a file and a row in
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
  /** Default base URL; `undefined` if the settings must specify one. */
  readonly url?: string | undefined;
  /**
   * How further results are requested. `exact`: in pages of `count` results. `own`: in pages of a size that the
   * provider determines. `none`: not supported.
   */
  readonly paging: 'exact' | 'own' | 'none';
  /** Maximum number of results that one request can return. */
  readonly maxCount: number;
  /** The last page that may be requested. */
  readonly maxPage?: number | undefined;
  /** Operators that the provider supports. For all others, Lectern filters the results itself. */
  readonly operators: ReadonlySet<OperatorName>;
  /** Whether the provider supports date ranges. */
  readonly takesDates?: boolean | undefined;
  /** Engines whose results it can return. */
  readonly engines?: readonly EngineName[] | undefined;
  /** A notice to the operator that is logged when the server starts. */
  readonly notice?: string | undefined;
  /** Builds the request. `query.count` is above 0, and `query.page` counts pages of that size. */
  request(query: SearchQuery, settings: ProviderSettings): ProviderRequest;
  /** Parses the hits of a response, in order. Never throws; unexpected parts are skipped. */
  parse(answer: unknown, query: SearchQuery, settings: ProviderSettings): Hit[];
}

/** Engines that callers may select (docs/reference/wire/search.md, Providers). */
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
  /** The engine that the caller selected. */
  readonly engine?: EngineName | undefined;
  /** Set for a provider that is described in the settings. */
  readonly described?: DescribedProvider | undefined;
}

/** A provider that returns JSON, described in the settings. */
export interface DescribedProvider {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body whose strings may contain placeholders. */
  readonly body?: unknown;
  /** Path of the array of results, such as `data.items`; empty if the response itself is the array. */
  readonly results: string;
  /** Path to each field in a result: `{title: 'name', url: 'links.0.href'}`. */
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

/** Appends a path and all parameters that have a value to a base URL. */
export function buildUrl(base: string, path: string, parameters: Readonly<Record<string, unknown>> = {}): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url;
}
