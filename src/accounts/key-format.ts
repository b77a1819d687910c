/** The text of a key: 256 random bits behind a readable prefix, or a text of the operator's own. */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'lectern_';
const KEY_BYTES = 32;
/** What an own key may be: visible ASCII, long enough not to be guessed. */
const KEY_TEXT = /^[\x21-\x7e]{32,512}$/;
const SHOWN_CHARACTERS = 4;

export const generateKey = (): string => PREFIX + randomBytes(KEY_BYTES).toString('base64url');

export const isValidKey = (text: string): boolean => KEY_TEXT.test(text);

/** The start of a key, so that people can tell their keys apart: too little to be of use to anybody else. */
export const keyPrefixOf = (key: string): string =>
  `${key.slice(0, (key.startsWith(PREFIX) ? PREFIX.length : 0) + SHOWN_CHARACTERS)}…`;

/** What is kept of a key, in hex. Keyed, so that who has only the table can hold no guess against it. */
export const hashOf = (secret: Uint8Array, key: string): string =>
  createHmac('sha256', secret).update(key).digest('hex');
