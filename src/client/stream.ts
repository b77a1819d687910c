/** Parses the data of stream events. */
import { isRecord, LecternError, parseFailure } from './errors.ts';

/** Parses the JSON of an event. Throws for `error` events, which report failures after the HTTP status was sent. */
export function parseEventData<T>(event: string, text: string): T {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    const message = `The event ${event} is not JSON: ${text.slice(0, 100)}`;
    throw new LecternError({ message, code: 'BAD_ANSWER', body: text.slice(0, 1000) }, { cause });
  }
  if (event === 'error') throw streamFailure(data);
  return data as T;
}

export function streamFailure(data: unknown): LecternError {
  if (!isRecord(data)) return new LecternError({ message: String(data) });
  const failure = parseFailure(data);
  const status = typeof data.code === 'number' ? data.code : undefined;
  const message = failure.message || 'The server failed without a message';
  return new LecternError({ ...failure, message, status, body: data });
}
