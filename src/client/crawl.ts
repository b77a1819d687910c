/** Sites: read from page to page. */
import { eventsOf } from './events.ts';
import { unbroken } from './jobs.ts';
import { eventData } from './stream.ts';
import { type Ask, type CallOptions, cutOff, type Transport } from './transport.ts';
import type { CrawlEvent, CrawlJob, CrawlLine, CrawlRequest } from './types.ts';

export interface CrawlPagesOptions extends CallOptions {
  /** Only lines behind this one. */
  readonly after?: number | undefined;
  /** Stays until the job has ended. */
  readonly follow?: boolean | undefined;
}

export interface CrawlCalls {
  start(request: CrawlRequest, call?: CallOptions): Promise<CrawlJob>;
  get(id: string, call?: CallOptions): Promise<CrawlJob>;
  list(call?: CallOptions): Promise<readonly CrawlJob[]>;
  cancel(id: string, call?: CallOptions): Promise<CrawlJob>;
  /** What became of each address: `page`, `failed` and `skipped` lines by their `event`. */
  pages(id: string, options?: CrawlPagesOptions): AsyncGenerator<CrawlLine>;
  /** Starts a job and tells of it as it goes. */
  stream(request: CrawlRequest, call?: CallOptions): AsyncGenerator<CrawlEvent>;
}

export function crawlCalls(transport: Transport): CrawlCalls {
  const { json, stream } = transport;
  const placeOf = (id: string) => `/crawl/${encodeURIComponent(id)}`;
  const asked = (path: string, more: Partial<Ask> = {}): Ask => ({ face: 'reader', path, repeatable: true, ...more });
  const started = (request: CrawlRequest) => asked('/crawl', { method: 'POST', json: request, repeatable: false });

  async function* events(ask: Ask, call: CallOptions | undefined): AsyncGenerator<CrawlEvent> {
    const chunks = stream({ ...ask, accept: 'text/event-stream, application/json' }, call);
    for await (const { event, data } of eventsOf(chunks, cutOff)) yield { event, data: eventData(event, data) };
  }

  return {
    start: (request, call) => json(started(request), call),
    get: (id, call) => json(asked(placeOf(id)), call),
    list: (call) => json(asked('/crawls'), call),
    cancel: (id, call) => json(asked(placeOf(id), { method: 'DELETE' }), call),
    async *pages(id, { after, follow, ...call } = {}) {
      const place = (from: number | undefined) =>
        asked(`${placeOf(id)}/pages${from === undefined ? '' : `?after=${from}`}`);
      if (follow) {
        for await (const { event, data } of events(place(after), call)) {
          if (event !== 'progress' && event !== 'done') yield data as CrawlLine;
        }
        return;
      }
      yield* unbroken<CrawlLine>(transport, (skip) => ({ ask: place(after), skip }), call);
    },
    stream: (request, call) => events(started(request), call),
  };
}
