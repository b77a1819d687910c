/** Server-sent events: an `event:` line, one `data:` line, a blank line. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

export interface Event {
  readonly event: string;
  readonly data: unknown;
}

export const eventText = ({ event, data }: Event): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * A response body that writes events as they arrive, with backpressure on the source. `onError` converts a failure to
 * the last event, because the status has already been sent by then.
 */
export const eventStream = (events: AsyncIterable<Event>, onError: (error: unknown) => Event): Readable =>
  Readable.from(
    (async function* () {
      try {
        for await (const event of events) yield eventText(event);
      } catch (error) {
        yield eventText(onError(error));
      }
    })(),
    { objectMode: false },
  );

/** Sends a stream of events, which proxies must neither cache (unless the reply says otherwise) nor collect. */
export function sendEvents(reply: FastifyReply, events: Readable): FastifyReply {
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache');
  return reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(events);
}
