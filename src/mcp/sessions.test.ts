import { expect, it } from 'vitest';
import { createSessions } from './sessions.ts';

const secret = Buffer.from('the secret of an installation');

it('are recognized by every server with the same secret, for their owner only', () => {
  const id = createSessions(secret).open('me');
  const other = createSessions(secret);
  expect(other.isValid(id, 'me')).toBe(true);
  expect(other.isValid(id, 'you')).toBe(false);
  expect(other.isValid(id, undefined)).toBe(false);
  expect(createSessions(Buffer.from('another secret')).isValid(id, 'me')).toBe(false);
  const keyless = other.open(undefined);
  expect(other.isValid(keyless, undefined)).toBe(true);
  expect(other.isValid(keyless, 'null')).toBe(false);
});

it('have ids that nobody can make up', () => {
  const sessions = createSessions(secret);
  const id = sessions.open('me');
  expect(id).toMatch(/^[\x21-\x7e]+$/);
  expect(sessions.open('me')).not.toBe(id);
  const [random, signature] = id.split('.');
  const wrong = [`${random}.`, `.${signature}`, `${random}`, `${random}.${random}`, `${id}x`, '', 'a'.repeat(10_000)];
  for (const made of wrong) expect([made, sessions.isValid(made, 'me')]).toEqual([made, false]);
});
