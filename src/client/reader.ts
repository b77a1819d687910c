/** Reads pages and files. */

import type { ReadOptions } from '../generated/client-options.ts';
import { isRecord, streamInterrupted } from './errors.ts';
import { eventsOf } from './events.ts';
import { multipartOf } from './multipart.ts';
import { dataOf } from './responses.ts';
import { parseEventData } from './stream.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { Health, Meta, Page, ReadAnswer, Trace } from './types.ts';

/** A URL to fetch, or HTML or a file to read instead; `url` is then the base for links. */
export type Target =
  | string
  | {
      readonly url?: string | undefined;
      readonly html?: string | undefined;
      readonly file?: Uint8Array | Blob | undefined;
      /** File name. */
      readonly name?: string | undefined;
    };

export interface ReadEvent {
  /** `data`; the last event is `trace` if a trace was requested. */
  readonly event: string;
  /** The page so far. */
  readonly page: Page;
  readonly trace?: Trace;
}

export interface BytesAnswer {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** `Page.targetStatus`, if the response contains it; missing for a screenshot that is fetched from its own URL. */
  readonly targetStatus?: number;
  /** `Page.warning` in one line. */
  readonly warning?: string;
}

export interface ReaderCalls {
  read(target: Target, options?: ReadOptions, call?: CallOptions): Promise<ReadAnswer>;
  /** Reads a page as text: Markdown after title and URL, or the single requested format. */
  readText(target: Target, options?: ReadOptions, call?: CallOptions): Promise<string>;
  /** Reads bytes: a PNG image for `respondWith: 'screenshot'` and `'pageshot'`. */
  readBytes(target: Target, options?: ReadOptions, call?: CallOptions): Promise<BytesAnswer>;
  /** Yields the page repeatedly while it loads. The last value equals the result of `read`. */
  readStream(target: Target, options?: ReadOptions, call?: CallOptions): AsyncGenerator<ReadEvent>;
  health(call?: CallOptions): Promise<Health>;
}

export function readerCalls(transport: Transport): ReaderCalls {
  const { json, text, bytes, stream } = transport;
  return {
    async read(target, options, call) {
      const answer = await json<{ data: Page; meta: Meta }>(readRequest(target, options), call);
      return { page: dataOf(answer, isRecord), meta: answer.meta };
    },
    // JSON is accepted for errors; the server prefers text if both are accepted.
    readText: (target, options, call) =>
      text({ ...readRequest(target, options), accept: TEXT, followRedirects: true }, call),
    readBytes: (target, options, call) =>
      bytes({ ...readRequest(target, options), accept: TEXT, followRedirects: true }, call),
    async *readStream(target, options, call) {
      const chunks = stream({ ...readRequest(target, options), accept: STREAM }, call);
      let page: Page | undefined;
      for await (const { event, data } of eventsOf(chunks, streamInterrupted)) {
        const parsed = parseEventData<unknown>(event, data);
        if (event === 'data') {
          page = parsed as Page;
          yield { event, page };
        } else if (event === 'trace' && page) yield { event, page, trace: parsed as Trace };
      }
    },
    health: (call) => json({ face: 'reader', path: '/health', idempotent: true, acceptedStatus: 503 }, call),
  };
}

export const TEXT = 'text/plain, application/json';
export const STREAM = 'text/event-stream, application/json';

function readRequest(target: Target, options: ReadOptions = {}): RequestSpec {
  const ask = { face: 'reader', method: 'POST', path: '/', idempotent: true } as const;
  const { file, name, ...rest } = typeof target === 'string' ? { url: target } : target;
  const given = { ...options, ...rest };
  return file === undefined ? { ...ask, json: given } : { ...ask, body: multipartOf(given, file, name) };
}
