/**
 * What dialects call: the operations of the native endpoints, with the same limits, checks and charges. Requests are
 * objects in the format of the native endpoints, so they are validated by the same tables.
 */
import type { Usage, UsageQuery } from '#accounts/index.ts';
import type { AccessHooks } from '#api/access-hooks.ts';
import type { PrepareOptions } from '#api/reader/reader.ts';
import type { PrepareSearchOptions } from '#api/search/search.ts';
import type { Tracing } from '#api/trace.ts';
import type { BatchModule } from '#batch/index.ts';
import type { CrawlModule } from '#crawl/index.ts';
import type { Completions, ModelHost } from '#models/index.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { Reader } from '#reader/index.ts';
import type { Answer, Search } from '#search/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { CompatCall } from '../dialect.ts';
import { addCost } from './cost.ts';
import { type CrawlEnd, type CrawlRun, crawlNow } from './crawl.ts';
import { type Embedded, embedFor, type Reranked, rerankFor } from './models.ts';
import { type ReadAnswer, readPage } from './read.ts';
import { runSearch } from './search.ts';

export type NativeCall = Pick<CompatCall, 'request' | 'reply' | 'admission'>;
export type GivenFields = Readonly<Record<string, unknown>>;

export interface NativeParts extends PrepareOptions, PrepareSearchOptions {
  readonly accessHooks: AccessHooks;
  readonly tracing: Tracing;
  readonly reader: Reader;
  readonly search: Search;
  readonly crawls: CrawlModule;
  readonly usage: Usage;
  readonly batch: BatchModule;
  readonly modelHost: ModelHost;
  readonly completions: Completions;
  readonly pictures: Pictures;
  readonly guard: Guard;
  /** Whether a model that writes text is configured. */
  readonly hasLanguageModel: boolean;
  readonly version: string;
  /** The URL of this server for links in answers; `undefined`: the host of each request. */
  readonly publicUrl?: string | undefined;
}

export interface Native {
  readonly parts: NativeParts;
  /** Reads one page or file. `given` has the options of the reader by their names in JSON bodies. */
  read(call: NativeCall, given: GivenFields): Promise<ReadAnswer>;
  /** Searches. `given` has the parameters of the search host. An empty result is an empty list. */
  search(call: NativeCall, given: GivenFields): Promise<Answer>;
  /** Crawls and waits for the end. `given` has the fields of `/crawl`. */
  crawlNow(call: NativeCall, given: GivenFields, end: CrawlEnd): Promise<CrawlRun>;
  /** The tokens that a key or an account has used. */
  tokensUsed(of: Pick<UsageQuery, 'keyId' | 'accountId'>): Promise<number>;
  /** Embeds. `body` has the fields of `/v1/embeddings`. */
  embed(call: NativeCall, body: GivenFields): Promise<Embedded>;
  /** Reranks. `body` has the fields of `/v1/rerank`. */
  rerank(call: NativeCall, body: GivenFields): Promise<Reranked>;
  /** Records the cost of work that a dialect did through `parts`. Costs of one request add up. */
  charge(call: NativeCall, tokens: number, model?: string): void;
}

export function createNative(parts: NativeParts): Native {
  return {
    parts,
    read: (call, given) => readPage(call, given, parts),
    search: (call, given) => runSearch(call, given, parts),
    crawlNow: (call, given, end) => crawlNow(call, given, end, parts),
    tokensUsed: async (of) => (await parts.usage.sums({ ...of, by: [] })).reduce((sum, { tokens }) => sum + tokens, 0),
    embed: (call, body) => embedFor(call, body, parts),
    rerank: (call, body) => rerankFor(call, body, parts),
    charge: (call, tokens, model) => addCost(call, tokens, model),
  };
}
