/** What the events of a stream say. */
import { isRecord, LecternError, parseFailure } from './errors.ts';

/** The JSON of an event; a failure after the start is an event of its own, since the status had gone out by then. */
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
  const message = failure.message || 'The server failed and said nothing';
  return new LecternError({ ...failure, message, status, body: data });
}
