/** Crawls of sites. */

import type { CrawlRequest } from '../generated/client-options.ts';
import { streamInterrupted } from './errors.ts';
import { eventsOf } from './events.ts';
import { readRecords, resumeStream } from './jobs.ts';
import { STREAM } from './reader.ts';
import { parseEventData } from './stream.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { CrawlEvent, CrawlJob, CrawlLine } from './types.ts';

export interface CrawlPagesOptions extends CallOptions {
  /** Yields only lines after the one with this number. */
  readonly after?: number | undefined;
  /** Waits for further lines until the crawl has ended; by default yields only the lines so far. */
  readonly follow?: boolean | undefined;
}

export interface CrawlCalls {
  /** Starts a crawl, which runs on the server; `pages` yields its results. */
  start(request: CrawlRequest, call?: CallOptions): Promise<CrawlJob>;
  get(id: string, call?: CallOptions): Promise<CrawlJob>;
  /** Lists crawls, newest first; `limit` 1 to 100, 20 by default. */
  list(options?: CallOptions & { readonly limit?: number | undefined }): Promise<readonly CrawlJob[]>;
  cancel(id: string, call?: CallOptions): Promise<CrawlJob>;
  /** Yields the outcome for each URL; resumes a lost connection. */
  pages(id: string, options?: CrawlPagesOptions): AsyncGenerator<CrawlLine>;
  /** Starts a crawl and yields its events until it has ended; resumes a lost connection. */
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

  /** Yields events. Throws if the stream ends without its last event, even if the connection closed normally. */
  async function* events(ask: RequestSpec, call: CallOptions | undefined): AsyncGenerator<CrawlEvent> {
    const chunks = stream({ ...ask, accept: STREAM }, call);
    for await (const { event, data } of eventsOf(chunks, streamInterrupted)) {
      yield { event, data: parseEventData(event, data) } as CrawlEvent;
      if (event === 'done') return;
    }
    throw streamInterrupted();
  }

  /** Opens the stream with `first`. After a lost connection, requests the remaining lines by the id of the crawl. */
  function resumableEvents(first: RequestSpec, place: { id?: string; after: number }, call: CallOptions | undefined) {
    const known = { ...place };
    let isBegun = false;
    return resumeStream<CrawlEvent>(() => {
      const ask = isBegun && known.id ? pagesOf(known.id, known.after) : first;
      // Without an id, the crawl cannot be resumed. It must not be started a second time.
      if (isBegun && ask === first) throw streamInterrupted();
      isBegun = true;
      return tracking(ask, known, call);
    });
  }

  async function* tracking(ask: RequestSpec, known: { id?: string; after: number }, call: CallOptions | undefined) {
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
      if (follow) return lines(resumableEvents(pagesOf(id, after), { id, after }, call));
      return resumeStream<CrawlLine>((_, last) => readRecords(transport, pagesOf(id, last?.seq ?? after), call));
    },
    stream: (request, call) => resumableEvents(startRequest(request), { after: 0 }, call),
  };
}
