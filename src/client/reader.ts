/** Reading pages and files. */

import type { ReadOptions } from '../generated/client-options.ts';
import { isRecord, streamCut } from './errors.ts';
import { eventsOf } from './events.ts';
import { multipartOf } from './multipart.ts';
import { parseEventData } from './stream.ts';
import { type CallOptions, dataOf, type RequestSpec, type Transport } from './transport.ts';
import type { Health, Meta, Page, ReadAnswer, Trace } from './types.ts';

/** An address, or one of these: what is read instead of fetching anything; `url` is then what links are resolved against. */
export type Target =
  | string
  | {
      readonly url?: string | undefined;
      readonly html?: string | undefined;
      readonly file?: Uint8Array | Blob | undefined;
      /** Of the file. */
      readonly name?: string | undefined;
    };

export interface ReadEvent {
  /** `data`; `trace` for the last one when a trace was asked for. */
  readonly event: string;
  /** As it is now. */
  readonly page: Page;
  readonly trace?: Trace;
}

export interface BytesAnswer {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** That of `Page`, where the answer itself has it: not for a picture that lies at an address of its own. */
  readonly targetStatus?: number;
  /** What a reader of the page should know, in one line; that of `Page`. */
  readonly warning?: string;
}

export interface ReaderCalls {
  read(target: Target, options?: ReadOptions, call?: CallOptions): Promise<ReadAnswer>;
  /** As `curl` shows it: Markdown with a head of title and address, or the one format that was asked for. */
  readText(target: Target, options?: ReadOptions, call?: CallOptions): Promise<string>;
  /** For `respondWith: 'screenshot'` and `'pageshot'`: a PNG picture. */
  readBytes(target: Target, options?: ReadOptions, call?: CallOptions): Promise<BytesAnswer>;
  /** The page as it gets better; the last one is what `read` gives. */
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
    // JSON is for failures: text wins where both are taken.
    readText: (target, options, call) =>
      text({ ...readRequest(target, options), accept: TEXT, followRedirects: true }, call),
    readBytes: (target, options, call) =>
      bytes({ ...readRequest(target, options), accept: TEXT, followRedirects: true }, call),
    async *readStream(target, options, call) {
      const chunks = stream({ ...readRequest(target, options), accept: STREAM }, call);
      let page: Page | undefined;
      for await (const { event, data } of eventsOf(chunks, streamCut)) {
        const said = parseEventData<unknown>(event, data);
        if (event === 'data') {
          page = said as Page;
          yield { event, page };
        } else if (event === 'trace' && page) yield { event, page, trace: said as Trace };
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
