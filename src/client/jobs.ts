/** What jobs leave behind: lines that are fetched, and go on where a connection broke. */
import { LecternError, streamCut } from './errors.ts';
import { linesOf } from './events.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';

/** The JSON of each line. */
async function* recordsOf<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  for await (const line of linesOf(chunks)) {
    if (!line.trim()) continue;
    let record: T;
    try {
      record = JSON.parse(line) as T;
    } catch (cause) {
      throw streamCut(cause);
    }
    yield record;
  }
}

/** How often a connection that broke is taken up again when nothing came in between. */
const MAX_RECONNECTS = 3;

/** A server that was never reached is not waited for. */
const isReconnectable = (error: unknown, taken: number): boolean =>
  error instanceof LecternError && (error.code === 'CUT_OFF' || (taken > 0 && error.code === 'UNREACHABLE'));

/** All that there is, across connections that break: `open` is told what has come, and gives the rest. */
export async function* resuming<T>(open: (taken: number, last: T | undefined) => AsyncIterable<T>): AsyncGenerator<T> {
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

/** The records of a file, without the first ones. */
export async function* readRecords<T>(
  transport: Transport,
  ask: RequestSpec,
  call: CallOptions | undefined,
  skip = 0,
): AsyncGenerator<T> {
  let seen = 0;
  for await (const record of recordsOf<T>(transport.stream(ask, call))) if (seen++ >= skip) yield record;
}
