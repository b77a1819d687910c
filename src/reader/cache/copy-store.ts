/**
 * The contract of the stores of cached copies: `local-store.ts` keeps them in a folder for one server,
 * `shared/shared-store.ts` in PostgreSQL and a store of blobs for several.
 */
import type { Snapshot } from '../snapshot.ts';
import type { Captured, Copy } from './rules.ts';

/** No call throws. While the store fails, nothing is found or stored. */
export interface CopyStore {
  /** The newest copy under a key that matches `wanted`; undefined if there is none. */
  find(key: string, wanted: CopyQuery): Promise<Snapshot | undefined>;
  /** Stores a copy. It replaces the copy under the same key that was captured the same way. */
  put(key: string, snapshot: Snapshot, captured: Captured): Promise<void>;
  /**
   * Claims a live read among all servers of the store. Waits while another server makes the same read, for a limited
   * time. `undefined` if this is the only server.
   */
  claim?(name: string, signal: AbortSignal): Promise<ReadClaim>;
  /** Removes copies that are too old, and the least recently used ones beyond the maximum size. */
  sweep(): Promise<void>;
  /** Whether the last access succeeded. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface ReadClaim {
  /** Ends the claim. Call it once the copy is stored, or the read has failed. */
  release(): Promise<void>;
}

/** Conditions for the copies of a page that may be returned. */
export interface CopyQuery {
  readonly serves: (copy: Copy) => boolean;
  /** Maximum age, in milliseconds. */
  readonly maxAgeMs: number;
  /** Whether to read the pictures of the copy too. */
  readonly pictures: boolean;
}
