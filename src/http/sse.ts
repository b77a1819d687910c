/** Server-sent events: an `event:` line, one `data:` line, a blank line. */
import { Readable } from 'node:stream';

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
