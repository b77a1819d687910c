/** A line of the journal: the values of a charge without their names, which takes half the time of an object. */
import type { Charge } from './records.ts';
import { storableCharge } from './storable-charge.ts';

export function journalLine(charge: Charge): string {
  const { id, at, accountId, keyId, face, endpoint, model, tokens, status, durationMs, hold } = charge;
  const values = [id, at, accountId, keyId, face, endpoint, model, tokens, status, durationMs];
  if (hold) values.push(hold.id, hold.tokens);
  return `${JSON.stringify(values)}\n`;
}

/** Throws an error if the line is damaged. */
export function chargeOfLine(line: string): Charge {
  const values: unknown = JSON.parse(line);
  if (!Array.isArray(values) || (values.length !== 10 && values.length !== 12)) throw new Error('values are missing');
  const [id, at, accountId, keyId, face, endpoint, model, tokens, status, durationMs, holdId, holdTokens] = values;
  const names = [id, accountId, keyId, face, endpoint, model, ...(holdId === undefined ? [] : [holdId])];
  if (!names.every((name) => typeof name === 'string')) throw new Error('a name is not text');
  const hold = holdId === undefined ? undefined : { id: holdId, accountId, tokens: holdTokens };
  return storableCharge({ id, at, accountId, keyId, face, endpoint, model, tokens, status, durationMs, hold });
}
