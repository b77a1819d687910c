/**
 * Generates, checks and hashes API keys. A key is a readable prefix followed by 256 random bits, or a text chosen by
 * the operator.
 */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'lectern_';
const KEY_BYTES = 32;
/** Visible ASCII characters; long enough to prevent guessing. */
const KEY_TEXT = /^[\x21-\x7e]{32,512}$/;
const SHOWN_CHARACTERS = 4;

export const generateKey = (): string => PREFIX + randomBytes(KEY_BYTES).toString('base64url');

export const isValidKey = (text: string): boolean => KEY_TEXT.test(text);

/** The first characters of a key, by which its owner recognizes it. They are too few to help an attacker. */
export const keyPrefixOf = (key: string): string =>
  `${key.slice(0, (key.startsWith(PREFIX) ? PREFIX.length : 0) + SHOWN_CHARACTERS)}…`;

/** The stored hash of a key, in hex. It is an HMAC, so that a stolen table alone cannot be used to check guesses. */
export const hashOf = (secret: Uint8Array, key: string): string =>
  createHmac('sha256', secret).update(key).digest('hex');
