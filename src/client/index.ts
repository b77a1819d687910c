/** Client for all APIs of a Lectern server, for Node, browsers and similar runtimes. It has no dependencies. */
import { type BatchCalls, batchCalls } from './batches.ts';
import { type CrawlCalls, crawlCalls } from './crawl.ts';
import { type FlowCalls, flowCalls } from './flow.ts';
import { type ModelCalls, modelCalls } from './models.ts';
import { type ReaderCalls, readerCalls } from './reader.ts';
import { type SearchCalls, searchCalls } from './search.ts';
import { type ClientOptions, createTransport } from './transport.ts';

export type {
  CrawlRequest,
  EmbedRequest,
  ReadOptions,
  RerankRequest,
  SearchOptions,
} from '../generated/client-options.ts';
export type { BatchCalls, WaitOptions } from './batches.ts';
export type { CrawlCalls, CrawlPagesOptions } from './crawl.ts';
export { LecternError, LecternUnreachable } from './errors.ts';
export type { FaceName, Places } from './face-urls.ts';
export type { FlowCalls } from './flow.ts';
export { type ModelCalls, type OcrAnswer, type OcrOptions, type Picture, STANDARD_MODELS } from './models.ts';
export type { BytesAnswer, ReadEvent, ReaderCalls, Target } from './reader.ts';
export type { SearchCalls, SearchEvent } from './search.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type * from './types.ts';

export interface Client extends ReaderCalls, SearchCalls, ModelCalls {
  readonly batches: BatchCalls;
  readonly crawl: CrawlCalls;
  readonly flow: FlowCalls;
}

/** Creates a client without opening a connection. Throws a TypeError for an invalid URL. */
export function createClient(options: ClientOptions = {}): Client {
  const transport = createTransport(options);
  return {
    ...readerCalls(transport),
    ...searchCalls(transport),
    ...modelCalls(transport),
    batches: batchCalls(transport),
    crawl: crawlCalls(transport),
    flow: flowCalls(transport),
  };
}
