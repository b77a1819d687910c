/** Searches the web and the local index of the server. */

import type { SearchOptions } from '../generated/client-options.ts';
import { streamInterrupted } from './errors.ts';
import { eventsOf } from './events.ts';
import { STREAM, TEXT } from './reader.ts';
import { dataOf } from './responses.ts';
import { parseEventData } from './stream.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { FoundPage, Meta, SearchAnswer, Trace } from './types.ts';

export interface SearchEvent {
  /** `data`; the last event is `trace` if a trace was requested. */
  readonly event: string;
  /** The results so far. */
  readonly pages: readonly FoundPage[];
  readonly trace?: Trace;
}

export interface SearchCalls {
  search(query: string, options?: SearchOptions, call?: CallOptions): Promise<SearchAnswer>;
  /** Returns all results as one text for a language model. */
  searchText(query: string, options?: SearchOptions, call?: CallOptions): Promise<string>;
  /** Yields the results repeatedly as more pages are read. The last value equals the result of `search`. */
  searchStream(query: string, options?: SearchOptions, call?: CallOptions): AsyncGenerator<SearchEvent>;
}

export function searchCalls({ json, text, stream }: Transport): SearchCalls {
  const searchRequest = (q: string, options: SearchOptions = {}): RequestSpec => ({
    face: 'search',
    method: 'POST',
    path: '/search',
    json: { ...options, q },
    idempotent: true,
  });
  return {
    async search(query, options, call) {
      const answer = await json<{ data: FoundPage[]; meta: Meta }>(searchRequest(query, options), call);
      return { pages: dataOf(answer, Array.isArray), meta: answer.meta };
    },
    searchText: (query, options, call) => text({ ...searchRequest(query, options), accept: TEXT }, call),
    async *searchStream(query, options, call) {
      const chunks = stream({ ...searchRequest(query, options), accept: STREAM }, call);
      let pages: readonly FoundPage[] = [];
      for await (const { event, data } of eventsOf(chunks, streamInterrupted)) {
        const parsed = parseEventData<unknown>(event, data);
        if (event === 'data') {
          pages = parsed as FoundPage[];
          yield { event, pages };
        } else if (event === 'trace') yield { event, pages, trace: parsed as Trace };
      }
    },
  };
}
