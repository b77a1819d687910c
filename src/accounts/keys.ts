/**
 * API keys: 256 random bits behind a readable prefix, kept only as a keyed hash. A key is shown once, when it is made.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';

const PREFIX = 'lectern_';
const SECRET_BYTES = 32;

/** What is kept of a key. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  /** The start of the key, so that people can tell their keys apart. */
  readonly shown: string;
  /** HMAC-SHA-256 of the key under the installation's own secret, in hex. */
  readonly hash: string;
  readonly createdAt: string;
}

/** Where key records live. */
export interface KeyStore {
  /** 32 bytes made at the first start, never shown. */
  readonly secret: Uint8Array;
  find(hash: string): KeyRecord | undefined;
  readonly size: number;
  add(record: KeyRecord): Promise<void>;
}

export interface Keys {
  /** Whether any key exists yet. */
  readonly empty: boolean;
  /** A new key; its text is nowhere else. */
  mint(name: string): Promise<{ key: string; record: KeyRecord }>;
  /** The record of a key, or undefined when it is not ours. */
  identify(key: string): KeyRecord | undefined;
}

export function createKeys(store: KeyStore): Keys {
  const hashOf = (key: string) => createHmac('sha256', store.secret).update(key).digest('hex');
  return {
    get empty() {
      return store.size === 0;
    },
    async mint(name) {
      const key = PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
      const record: KeyRecord = {
        id: randomUUID(),
        name,
        shown: `${key.slice(0, PREFIX.length + 4)}…`,
        hash: hashOf(key),
        createdAt: new Date().toISOString(),
      };
      await store.add(record);
      return { key, record };
    },
    // The look-up is by the keyed hash, so its timing tells nothing about a key that exists.
    identify: (key) => (key.startsWith(PREFIX) ? store.find(hashOf(key)) : undefined),
  };
}
