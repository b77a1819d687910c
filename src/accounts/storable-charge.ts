/** Makes every field of a charge storable. Otherwise, a charge that the database rejects would block all later charges. */
import type { Charge } from './records.ts';

const MAX_NAME = 200;
/** The latest time of an ECMAScript Date (ECMA-262, section 21.4.1.1). */
const LATEST_MS = 8.64e15;

export function storableCharge(charge: Charge): Charge {
  return {
    id: charge.id,
    accountId: charge.accountId,
    keyId: charge.keyId,
    hold: charge.hold,
    face: toName(charge.face),
    endpoint: toName(charge.endpoint),
    model: toName(charge.model),
    at: toInteger(charge.at, LATEST_MS),
    status: toInteger(charge.status, 999),
    tokens: toInteger(charge.tokens),
    durationMs: toInteger(charge.durationMs),
  };
}

export const toInteger = (value: number, max = Number.MAX_SAFE_INTEGER) =>
  Math.min(max, Math.max(0, Math.ceil(value) || 0));

const toName = (text: string) =>
  text.length > MAX_NAME || text.includes('\0') ? text.replaceAll('\0', '').slice(0, MAX_NAME) : text;
