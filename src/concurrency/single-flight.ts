/**
 * Runs identical concurrent work only once and shares its values. Use it for work in which each value replaces the
 * previous one: late and slow callers get the newest value and skip older ones.
 */
import { unlessAborted } from './deadline.ts';

export interface SingleFlight<T> {
  /**
   * Yields the values of the running work for `key`; starts the work if none is running. If a caller aborts, it
   * immediately gets its signal's reason, and the other callers continue. The work is aborted when its last caller has
   * left. If it fails, all callers get the error.
   */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T>;
  /** Aborts all running work and waits until it has ended. */
  close(): Promise<void>;
}

interface Flight<T> {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  newest: T | undefined;
  /** Number of values so far. */
  count: number;
  ended: { readonly failed: boolean; readonly error?: unknown } | undefined;
  followers: number;
  /** Resolves at the next value, and at the end. */
  change: Promise<void>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();
  const running = new Set<Flight<T>>();

  function begin(key: string, start: (signal: AbortSignal) => AsyncIterable<T>): Flight<T> {
    const stop = new AbortController();
    let notify = () => {};
    const changes = () =>
      new Promise<void>((resolve) => {
        notify = resolve;
      });
    const run = async () => {
      try {
        for await (const value of start(stop.signal)) {
          flight.newest = value;
          flight.count++;
          notify();
          flight.change = changes();
          if (stop.signal.aborted) break;
        }
        flight.ended = { failed: false };
      } catch (error) {
        flight.ended = { failed: true, error };
      }
      forget(key, flight);
      running.delete(flight);
      notify();
    };
    const flight: Flight<T> = {
      stop,
      // Deferred until `flight` is assigned, because the work may yield immediately.
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

  /** Removes the work, so that later callers start it again. */
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
          flight.stop.abort(signal.aborted ? signal.reason : new Error('all callers have left'));
        }
      }
    },
    async close() {
      for (const flight of running) flight.stop.abort(new Error('closing'));
      await Promise.all([...running].map(({ done }) => done));
    },
  };
}
