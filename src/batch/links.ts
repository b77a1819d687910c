/** Links that work without a key for a while, and the secret that an owner's webhooks are signed with. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db } from './schema.ts';

export type FileKind = 'output' | 'errors';

export interface Links {
  /** The query of a link to a file, good until a time in seconds since 1970. */
  sign(id: string, kind: FileKind, expires: number): string;
  /** Whether a link is one of ours and still good. */
  verify(id: string, kind: FileKind, given: { readonly exp: unknown; readonly sig: unknown }, now: number): boolean;
  /** What an owner's webhooks are signed with: the same for all its jobs. */
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

/** In the database: servers that share it must agree on it, and the first one makes it. */
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
