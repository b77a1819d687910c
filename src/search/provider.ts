/**
 * Interface of a search provider: its properties, and two pure functions. To add a provider, add a file and a row in
 * providers/.
 */
import type { Hit } from './hit.ts';
import type { OperatorName } from './operators.ts';
import type { SearchKind, SearchQuery } from './query.ts';
import type { SourceGroup } from './source-groups.ts';

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
  /** Set for a public source: a service that answers without a key, within limits. */
  readonly source?: SourceFacts | undefined;
  /** Whether the response is JSON, or text that `parse` gets as a string. Default: `json`. */
  readonly format?: 'json' | 'text' | undefined;
  /** Builds the request. `query.count` is above 0, and `query.page` counts pages of that size. */
  request(query: SearchQuery, settings: ProviderSettings): ProviderRequest;
  /**
   * Builds a second request from the first response, for services that return only ids. `undefined` if there is nothing
   * to request. `parse` then gets the second response.
   */
  followUp?(answer: unknown, query: SearchQuery, settings: ProviderSettings): ProviderRequest | undefined;
  /** Finds an error or a back-off in a response with status 200. Never throws. */
  inspect?(answer: unknown): AnswerState;
  /** Parses the hits of a response, in order. Never throws; unexpected parts are skipped. */
  parse(answer: unknown, query: SearchQuery, settings: ProviderSettings): Hit[];
}

/** What is known about a public source. The router, the limits and the documentation use it. */
export interface SourceFacts {
  /** What the source has, as callers name it in `type`. */
  readonly groups: readonly SourceGroup[];
  /**
   * Who operates the service. Sources of one operator share its limits, because the operator counts the requests of an
   * IP address.
   */
  readonly operator: string;
  /** Limits without a key, and with one if they differ. One connection at a time is always used. */
  readonly limits: readonly RateLimit[];
  readonly keyLimits?: readonly RateLimit[] | undefined;
  /** Number of requests that one search sends. Default: 1. */
  readonly requests?: number | undefined;
  /** Whether the terms require a contact in the User-Agent, or the service gives better service with one. */
  readonly contact?: 'required' | 'welcome' | undefined;
  /** Hosts of the results, including subdomains; absent if results are on any host. */
  readonly hosts?: readonly string[] | undefined;
  /** Languages of the results as ISO 639-1 codes; absent if it has many. */
  readonly languages?: readonly string[] | undefined;
  /** The page that documents the API. */
  readonly documentation: string;
}

export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface AnswerState {
  /** Set if the response is an error: what is wrong, without words of the query. */
  readonly error?: string | undefined;
  /** Set if the service asks for a pause, in ms. */
  readonly restMs?: number | undefined;
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
  /** The operator's mail address, for services that ask for one. */
  readonly email?: string | undefined;
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
