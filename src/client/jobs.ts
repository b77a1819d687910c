/** Jobs that go on without their caller: batches of vectors, and sites. */
import { LecternError } from './errors.ts';
import { linesOf } from './events.ts';
import type { Ask, CallOptions, Transport } from './transport.ts';

/** The JSON of each line. */
export async function* recordsOf<T>(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  for await (const line of linesOf(chunks)) {
    if (!line.trim()) continue;
    let record: T;
    try {
      record = JSON.parse(line) as T;
    } catch (cause) {
      throw new LecternError({ message: 'A line of the answer is not whole JSON', code: 'CUT_OFF' }, { cause });
    }
    yield record;
  }
}

/** How often a connection that broke is taken up again when nothing came in between. */
const MOST_BREAKS = 3;

/**
 * The records of a file that no longer changes, or that only grows: when the connection breaks, the rest is asked for.
 * `ask` is told how many records have come.
 */
export async function* unbroken<T>(
  transport: Transport,
  ask: (taken: number, last: T | undefined) => { readonly ask: Ask; readonly skip: number },
  call: CallOptions | undefined,
): AsyncGenerator<T> {
  let taken = 0;
  let last: T | undefined;
  for (let breaks = 0; ; ) {
    const { ask: next, skip } = ask(taken, last);
    let seen = 0;
    try {
      for await (const record of recordsOf<T>(transport.stream(next, call))) {
        if (seen++ < skip) continue;
        taken++;
        last = record;
        breaks = 0;
        yield record;
      }
      return;
    } catch (error) {
      if (!(error instanceof LecternError) || error.code !== 'CUT_OFF' || ++breaks > MOST_BREAKS) throw error;
    }
  }
}
