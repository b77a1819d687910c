/** Server-sent events: `event:` line, one `data:` line, a blank line. */
import { Readable } from 'node:stream';

export interface Event {
  readonly event: string;
  readonly data: unknown;
}

export const eventText = ({ event, data }: Event): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * A body that is written as events come; reading slows the source down. `onError` turns a failure after the start into
 * the last event, since the status has gone out by then.
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
