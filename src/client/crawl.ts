/** Sites: read from page to page. */

import type { CrawlRequest } from '../generated/client-options.ts';
import { streamCut } from './errors.ts';
import { eventsOf } from './events.ts';
import { readRecords, resuming } from './jobs.ts';
import { STREAM } from './reader.ts';
import { parseEventData } from './stream.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { CrawlEvent, CrawlJob, CrawlLine } from './types.ts';

export interface CrawlPagesOptions extends CallOptions {
  /** Only lines behind the one with this number. */
  readonly after?: number | undefined;
  /** Waits for further lines until the crawl has ended; otherwise those that are there now are all. */
  readonly follow?: boolean | undefined;
}

export interface CrawlCalls {
  /** The crawl goes on by itself; `pages` gives what it has read. */
  start(request: CrawlRequest, call?: CallOptions): Promise<CrawlJob>;
  get(id: string, call?: CallOptions): Promise<CrawlJob>;
  /** Newest first; `limit` 1 to 100, 20 when not given. */
  list(options?: CallOptions & { readonly limit?: number | undefined }): Promise<readonly CrawlJob[]>;
  cancel(id: string, call?: CallOptions): Promise<CrawlJob>;
  /** What became of each address, in the order of its becoming known; a connection that breaks is taken up again. */
  pages(id: string, options?: CrawlPagesOptions): AsyncGenerator<CrawlLine>;
  /** Starts a crawl and tells of it as it goes, across connections that break, until it has ended. */
  stream(request: CrawlRequest, call?: CallOptions): AsyncGenerator<CrawlEvent>;
}

export function crawlCalls(transport: Transport): CrawlCalls {
  const { json, stream } = transport;
  const pathOf = (id: string) => `/crawl/${encodeURIComponent(id)}`;
  const pagesOf = (id: string, after: number) => requestTo(`${pathOf(id)}/pages?after=${after}`);
  const requestTo = (path: string, more: Partial<RequestSpec> = {}): RequestSpec => ({
    face: 'reader',
    path,
    idempotent: true,
    ...more,
  });
  const startRequest = (request: CrawlRequest) =>
    requestTo('/crawl', { method: 'POST', json: request, idempotent: false });

  /** A stream without its last event was cut, however politely it ended. */
  async function* events(ask: RequestSpec, call: CallOptions | undefined): AsyncGenerator<CrawlEvent> {
    const chunks = stream({ ...ask, accept: STREAM }, call);
    for await (const { event, data } of eventsOf(chunks, streamCut)) {
      yield { event, data: parseEventData(event, data) } as CrawlEvent;
      if (event === 'done') return;
    }
    throw streamCut();
  }

  /** `first` opens the stream; what comes behind the last line is asked for by the id of the crawl. */
  function following(first: RequestSpec, place: { id?: string; after: number }, call: CallOptions | undefined) {
    const known = { ...place };
    let isBegun = false;
    return resuming<CrawlEvent>(() => {
      const ask = isBegun && known.id ? pagesOf(known.id, known.after) : first;
      // A crawl is not started twice.
      if (isBegun && ask === first) throw streamCut();
      isBegun = true;
      return noting(ask, known, call);
    });
  }

  async function* noting(ask: RequestSpec, known: { id?: string; after: number }, call: CallOptions | undefined) {
    for await (const one of events(ask, call)) {
      if ('crawl_id' in one.data) known.id = one.data.crawl_id;
      else known.after = one.data.seq;
      yield one;
    }
  }

  async function* lines(source: AsyncIterable<CrawlEvent>): AsyncGenerator<CrawlLine> {
    for await (const { data } of source) if ('seq' in data) yield data;
  }

  return {
    start: (request, call) => json(startRequest(request), call),
    get: (id, call) => json(requestTo(pathOf(id)), call),
    list: ({ limit, ...call } = {}) => json(requestTo(`/crawls${limit === undefined ? '' : `?limit=${limit}`}`), call),
    cancel: (id, call) => json(requestTo(pathOf(id), { method: 'DELETE' }), call),
    pages(id, { after = 0, follow, ...call } = {}) {
      if (follow) return lines(following(pagesOf(id, after), { id, after }, call));
      return resuming<CrawlLine>((_, last) => readRecords(transport, pagesOf(id, last?.seq ?? after), call));
    },
    stream: (request, call) => following(startRequest(request), { after: 0 }, call),
  };
}
