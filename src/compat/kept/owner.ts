/** The owner of what a dialect keeps for a caller. */
import { accountOf } from '#accounts/index.ts';
import { clientIpOf } from '#http/client-ip.ts';
import type { NativeCall } from '../native/native.ts';

/** The account; for callers without a key, their IP address; on a server without keys, everybody. */
export const ownerOf = ({ request, admission: { caller } }: NativeCall): string =>
  accountOf(caller) ?? (caller.kind === 'open' ? 'open' : `ip:${clientIpOf(request)}`);
