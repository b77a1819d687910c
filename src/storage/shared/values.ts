/**
 * Short values under names, each with an expiry time, that all servers of an installation share. Modules keep small
 * state in them: cached lists, counts, records. Times come from the store, so servers with different clocks agree.
 */

export interface Change<Result> {
  /** The new value; `undefined` leaves the current one as it is. */
  readonly value?: string | undefined;
  /** How long to keep the new value, in milliseconds. */
  readonly keepMs?: number | undefined;
  readonly result: Result;
}

/** Calls reject with SharedUnavailableError if the store is unreachable. */
export interface SharedValues {
  /** Returns the values under these names, in their order; `undefined` where there is none. */
  get(names: readonly string[]): Promise<(string | undefined)[]>;
  set(name: string, value: string, keepMs: number): Promise<void>;
  /**
   * Changes a value atomically, across all processes that share the store. `change` gets the current value and the
   * store's time in ms since 1970. It may be called several times, and must not wait.
   */
  update<Result>(name: string, change: (value: string | undefined, nowMs: number) => Change<Result>): Promise<Result>;
  remove(name: string): Promise<void>;
}

export interface Space {
  /** Names in different spaces are separate. */
  readonly name: string;
  /** If a space has more values, those that expire first are removed. The limit may be exceeded for a while. */
  readonly maxValues: number;
}

export interface SharedStore {
  space(space: Space): SharedValues;
  /** Whether the last call succeeded. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

/** The store is unreachable. It reconnects automatically. */
export class SharedUnavailableError extends Error {
  override readonly name = 'SharedUnavailableError';

  constructor(cause?: unknown) {
    super('the store of shared state cannot be reached', { cause });
  }
}

/** Number of writes between two removals of expired and surplus values. */
export const SWEEP_EVERY = 500;
