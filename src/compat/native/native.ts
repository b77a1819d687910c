/**
 * What dialects call: the operations of the native endpoints, with the same limits, checks and charges. Requests are
 * objects in the format of the native endpoints, so they are validated by the same tables.
 */
import path from 'node:path';
import type { Usage, UsageQuery } from '#accounts/index.ts';
import type { AccessHooks } from '#api/access-hooks.ts';
import type { Prices } from '#api/models/models.ts';
import type { PrepareOptions } from '#api/reader/reader.ts';
import type { PrepareSearchOptions } from '#api/search/search.ts';
import type { Tracing } from '#api/trace.ts';
import type { BatchModule } from '#batch/index.ts';
import type { CrawlModule } from '#crawl/index.ts';
import type { Completions, ModelHost } from '#models/index.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { DetailLevel, Reader } from '#reader/index.ts';
import type { Answer, Search } from '#search/index.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { SharedState } from '#storage/shared/open.ts';
import type { Log } from '#telemetry/log.ts';
import type { CompatCall } from '../dialect.ts';
import { createKeptFiles } from '../kept/kept-files.ts';
import { KEPT_TABLES, openSqlKeptFiles } from '../kept/sql-kept-files.ts';
import { createTasks, type TaskRecord, type Tasks } from '../kept/tasks.ts';
import { addCost } from './cost.ts';
import { type CrawlEnd, type CrawlRun, crawlNow } from './crawl.ts';
import { type NativeCrawls, nativeCrawls } from './crawls.ts';
import {
  detokenizeFor,
  type Embedded,
  embedFor,
  embedTokensFor,
  type Reranked,
  rerankFor,
  type TokenIds,
  type Tokens,
  tokenizeFor,
} from './models.ts';
import { type ReadAnswer, type ReadExtras, readPage } from './read.ts';
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
  readonly prices: Prices;
  readonly pictures: Pictures;
  readonly guard: Guard;
  /** Whether a language model that the reader can use is configured. */
  readonly hasLanguageModel: boolean;
  readonly version: string;
  /** Folder of this server for what it keeps. */
  readonly dataDir: string;
  /** PostgreSQL for what servers keep together; absent if each keeps its own. */
  readonly databaseUrl?: string | undefined;
  readonly state: SharedState;
  readonly log: Pick<Log, 'warn'>;
  /** Maximum size of a request body. */
  readonly maxBodyBytes: number;
  /** The URL of this server for links in answers; `undefined`: the host of each request. */
  readonly publicUrl?: string | undefined;
}

export interface Native {
  readonly parts: NativeParts;
  /** Reads one page or file. `given` has the options of the reader by their names in JSON bodies. */
  readonly crawls: NativeCrawls;
  read(call: NativeCall, given: GivenFields, extras?: ReadExtras): Promise<ReadAnswer>;
  /** Searches. `given` has the parameters of the search host. An empty result is an empty list. */
  search(call: NativeCall, given: GivenFields, details?: DetailLevel): Promise<Answer>;
  /** Crawls and waits for the end. `given` has the fields of `/crawl`. */
  crawlNow(call: NativeCall, given: GivenFields, end: CrawlEnd): Promise<CrawlRun>;
  /** The tokens that a key or an account has used. */
  tokensUsed(of: Pick<UsageQuery, 'keyId' | 'accountId'>): Promise<number>;
  /** Embeds. `body` has the fields of `/v1/embeddings`. */
  embed(call: NativeCall, body: GivenFields): Promise<Embedded>;
  /** Embeds with one vector for each token. */
  embedTokens(call: NativeCall, body: GivenFields): Promise<Embedded>;
  /** Reranks. `body` has the fields of `/v1/rerank`. */
  rerank(call: NativeCall, body: GivenFields): Promise<Reranked>;
  /** Work that continues after its response. */
  readonly tasks: Tasks;
  /** Returns the tokens of each text. */
  tokenize(
    call: NativeCall,
    given: { readonly model: string; readonly texts: readonly string[]; readonly special: boolean },
  ): Promise<Tokens>;
  /** Returns the texts of token ids. */
  detokenize(call: NativeCall, given: TokenIds): Promise<string[]>;
  /** Records the cost of work that a dialect did through `parts`. Costs of one request add up. */
  charge(call: NativeCall, tokens: number, model?: string): void;
}

const HOUR_MS = 60 * 60_000;
const MAX_TASK_BYTES = 1_000_000_000;

export async function createNative(parts: NativeParts): Promise<Native> {
  const crawls = nativeCrawls(parts);
  return {
    tasks: createTasks({ ...parts, kept: await openKeptTasks(parts), signs: parts.state.brief }),
    parts,
    crawls,
    search: (call, given, details) => runSearch(call, given, parts, details),
    read: (call, given, extras) => readPage(call, given, parts, extras),
    crawlNow: (call, given, end) => crawlNow(call, given, end, crawls),
    tokensUsed: async (of) => (await parts.usage.sums({ ...of, by: [] })).reduce((sum, { tokens }) => sum + tokens, 0),
    embed: (call, body) => embedFor(call, body, parts),
    embedTokens: (call, body) => embedTokensFor(call, body, parts),
    rerank: (call, body) => rerankFor(call, body, parts),
    tokenize: (call, given) => tokenizeFor(call, given, parts),
    detokenize: (call, given) => detokenizeFor(call, given, parts),
    charge: (call, tokens, model) => addCost(call, tokens, model),
  };
}

/** The results of tasks: in PostgreSQL if there is one, else in the data folder. */
async function openKeptTasks({ dataDir, databaseUrl, log }: NativeParts) {
  const limits = { lifetimeMs: HOUR_MS, maxTotalBytes: MAX_TASK_BYTES };
  if (!databaseUrl) return createKeptFiles<TaskRecord>({ dir: path.join(dataDir, 'compat', 'tasks'), ...limits });
  return openSqlKeptFiles<TaskRecord>({ url: databaseUrl, file: KEPT_TABLES.fileIn(dataDir) }, { ...limits, log });
}
