/**
 * Equal pieces of work asked for at the same time are done once. For work that yields values of which each replaces the
 * one before: whoever joins late starts with the newest, and a slow one skips to it.
 */
import { unlessAborted } from './deadline.ts';

export interface Flights<T> {
  /**
   * The values of the work under way for `key`, which is started when there is none. A caller that is aborted gets its
   * signal's reason at once and leaves the others alone; the work's own signal is aborted when the last one has left.
   * A failure of the work is everybody's.
   */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T>;
  /** Aborts what is under way, and waits until it has ended. */
  close(): Promise<void>;
}

interface Flight<T> {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  newest: T | undefined;
  /** How many values have come. */
  count: number;
  ended: { readonly failed: boolean; readonly error?: unknown } | undefined;
  followers: number;
  /** Settled at the next value, and at the end. */
  change: Promise<void>;
}

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>();
  const running = new Set<Flight<T>>();

  function begin(key: string, start: (signal: AbortSignal) => AsyncIterable<T>): Flight<T> {
    const stop = new AbortController();
    let tell = () => {};
    const changes = () =>
      new Promise<void>((resolve) => {
        tell = resolve;
      });
    const run = async () => {
      try {
        for await (const value of start(stop.signal)) {
          flight.newest = value;
          flight.count++;
          tell();
          flight.change = changes();
          if (stop.signal.aborted) break;
        }
        flight.ended = { failed: false };
      } catch (error) {
        flight.ended = { failed: true, error };
      }
      forget(key, flight);
      running.delete(flight);
      tell();
    };
    const flight: Flight<T> = {
      stop,
      // Not before the flight is complete: what is started may yield at once.
      done: Promise.resolve().then(run),
      newest: undefined,
      count: 0,
      ended: undefined,
      followers: 0,
      change: changes(),
    };
    flights.set(key, flight);
    running.add(flight);
    return flight;
  }

  /** Those who come from now on start anew. */
  function forget(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  return {
    async *join(key, signal, start) {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? begin(key, start);
      flight.followers++;
      let seen = 0;
      try {
        for (;;) {
          signal.throwIfAborted();
          if (flight.count > seen) {
            seen = flight.count;
            yield flight.newest!;
          } else if (flight.ended) {
            if (flight.ended.failed) throw flight.ended.error;
            return;
          } else await unlessAborted(signal, flight.change);
        }
      } finally {
        flight.followers--;
        if (flight.followers === 0 && !flight.ended) {
          forget(key, flight);
          flight.stop.abort(signal.aborted ? signal.reason : new Error('nobody waits for it any more'));
        }
      }
    },
    async close() {
      for (const flight of running) flight.stop.abort(new Error('closing'));
      await Promise.all([...running].map(({ done }) => done));
    },
  };
}
