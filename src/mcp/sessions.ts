/**
 * Sessions for protocol versions before 2026-07-28. A session has no state on a server: its id is signed, so that any
 * server of the installation recognizes it, also after a restart. The transport specification permits any id that is
 * unique and cannot be guessed. Sessions are not ended by clients (DELETE returns 405, as the specification permits).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Sessions {
  /** Returns the id of a new session. Only this owner may use it, even if others learn it. */
  open(owner: string | undefined): string;
  /** Whether the id is that of a session of this owner. */
  isValid(id: string, owner: string | undefined): boolean;
}

const RANDOM_BYTES = 16;
const SIGNATURE_BYTES = 16;
const ID = /^([\w-]{22})\.([\w-]{22})$/;

/** All servers that use the same secret recognize each other's sessions. */
export function createSessions(secret: Uint8Array): Sessions {
  const sign = (random: string, owner: string | undefined): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([random, owner ?? null]))
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  return {
    open(owner) {
      const random = randomBytes(RANDOM_BYTES).toString('base64url');
      return `${random}.${sign(random, owner).toString('base64url')}`;
    },
    isValid(id, owner) {
      const [, random, signature] = ID.exec(id) ?? [];
      if (random === undefined || signature === undefined) return false;
      const given = Buffer.from(signature, 'base64url');
      return given.length === SIGNATURE_BYTES && timingSafeEqual(given, sign(random, owner));
    },
  };
}
