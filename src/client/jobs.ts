/** Fetches the result lines of jobs, and resumes after lost connections. */
import { LecternError, streamInterrupted } from './errors.ts';
import { linesOf } from './events.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';

/** Parses each line as JSON. */
async function* recordsOf<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  for await (const line of linesOf(chunks)) {
    if (!line.trim()) continue;
    let record: T;
    try {
      record = JSON.parse(line) as T;
    } catch (cause) {
      throw streamInterrupted(cause);
    }
    yield record;
  }
}

/** Maximum number of consecutive reconnects without a new record. */
const MAX_RECONNECTS = 3;

/** Whether to reconnect. A server that was never reached is not retried. */
const isReconnectable = (error: unknown, taken: number): boolean =>
  error instanceof LecternError && (error.code === 'CUT_OFF' || (taken > 0 && error.code === 'UNREACHABLE'));

/** Yields all records across lost connections. `open` receives the number of records so far and returns the rest. */
export async function* resumeStream<T>(
  open: (taken: number, last: T | undefined) => AsyncIterable<T>,
): AsyncGenerator<T> {
  let taken = 0;
  let last: T | undefined;
  for (let breaks = 0; ; ) {
    const source = open(taken, last);
    try {
      for await (const record of source) {
        taken++;
        last = record;
        breaks = 0;
        yield record;
      }
      return;
    } catch (error) {
      if (!isReconnectable(error, taken) || ++breaks > MAX_RECONNECTS) throw error;
    }
  }
}

/** Yields the records of a file after the first `skip`. */
export async function* readRecords<T>(
  transport: Transport,
  ask: RequestSpec,
  call: CallOptions | undefined,
  skip = 0,
): AsyncGenerator<T> {
  let seen = 0;
  for await (const record of recordsOf<T>(transport.stream(ask, call))) if (seen++ >= skip) yield record;
}
