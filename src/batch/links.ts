/** Signed links to result files, which work without a key until they expire, and the webhook secrets of owners. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db } from './schema.ts';

export type FileKind = 'output' | 'errors';

export interface Links {
  /** Returns the query string of a link to a file. `expires` is in seconds since 1970. */
  sign(id: string, kind: FileKind, expires: number): string;
  /** Whether the signature is valid and the link has not expired. */
  verify(id: string, kind: FileKind, given: { readonly exp: unknown; readonly sig: unknown }, now: number): boolean;
  /** Returns the secret that signs an owner's webhooks. It is the same for all jobs of the owner. */
  webhookSecret(owner: string): string;
}

export function createLinks(secret: Uint8Array): Links {
  const hmac = (...parts: readonly string[]) => createHmac('sha256', secret).update(parts.join('\n'));
  const signature = (id: string, kind: FileKind, expires: string) => hmac('link', id, kind, expires).digest();
  return {
    sign: (id, kind, expires) => `exp=${expires}&sig=${signature(id, kind, String(expires)).toString('base64url')}`,
    verify(id, kind, { exp, sig }, now) {
      if (typeof exp !== 'string' || typeof sig !== 'string' || !/^\d{1,12}$/.test(exp)) return false;
      const given = Buffer.from(sig, 'base64url');
      const known = signature(id, kind, exp);
      return given.length === known.length && timingSafeEqual(given, known) && now < Number(exp) * 1000;
    },
    webhookSecret: (owner) => `whsec_${hmac('webhook', owner).digest('base64url')}`,
  };
}

const SECRET_BYTES = 32;
const ROW = 'links';

/**
 * Returns the signing secret. It is stored in the database, because all servers share it. The first server creates it.
 */
export async function linkSecret(db: Db): Promise<Uint8Array> {
  const value = randomBytes(SECRET_BYTES).toString('base64url');
  await db
    .insertInto('batch_secrets')
    .values({ name: ROW, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db.selectFrom('batch_secrets').select('value').where('name', '=', ROW).executeTakeFirstOrThrow();
  return Buffer.from(row.value, 'base64url');
}
