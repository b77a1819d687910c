/**
 * Derives the key of an encrypted Office package from a password: agile and standard encryption (MS-OFFCRYPTO 2.3.4),
 * as Office 2007 and later write it.
 */
import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { DocumentError } from '../../document.ts';
import { attribute, children, parseXml, type XmlElement } from '../../xml/xml.ts';

/** Decrypts the content of a package, without its size at the start. `undefined` if the password is wrong. */
export type DecryptPackage = (content: Uint8Array) => Uint8Array;

const unsupported = () =>
  new DocumentError('unsupported', 'The Office file is encrypted with a method that is not supported');

/** `info` is the stream EncryptionInfo. Returns `undefined` if the password is wrong. Throws DocumentError. */
export function packageDecrypter(info: Uint8Array, password: string): DecryptPackage | undefined {
  const bytes = Buffer.from(info.buffer, info.byteOffset, info.byteLength);
  if (bytes.length < 12) throw unsupported();
  const [major, minor] = [bytes.readUInt16LE(0), bytes.readUInt16LE(2)];
  if (major === 4 && minor === 4) return agile(bytes.subarray(8), password);
  if (minor === 2 && major >= 2 && major <= 4) return standard(bytes.subarray(8), password);
  throw unsupported();
}

// Agile encryption (2.3.4.10 to 2.3.4.15)

/** Office uses 100,000. More rounds than the limit would only keep the processor busy. */
const MAX_ROUNDS = 1_000_000;
const SEGMENT_BYTES = 4_096;
const PADDING = 0x36;

const BLOCK_KEYS = {
  input: Buffer.from('fea7d2763b4b9e79', 'hex'),
  value: Buffer.from('d7aa0f6d3061344e', 'hex'),
  key: Buffer.from('146e0be7abacd0d6', 'hex'),
};

const HASHES: ReadonlyMap<string, string> = new Map([
  ['SHA1', 'sha1'],
  ['SHA-1', 'sha1'],
  ['SHA256', 'sha256'],
  ['SHA384', 'sha384'],
  ['SHA512', 'sha512'],
  ['MD5', 'md5'],
]);

interface Method {
  readonly hash: string;
  readonly salt: Buffer;
  readonly keyBytes: number;
  readonly blockBytes: number;
}

function methodOf(element: XmlElement | undefined): Method {
  const value = (name: string) => (element && attribute(element, name)) ?? '';
  const hash = HASHES.get(value('hashAlgorithm').toUpperCase());
  const keyBytes = Number(value('keyBits')) / 8;
  const isKnown = value('cipherAlgorithm') === 'AES' && value('cipherChaining') === 'ChainingModeCBC';
  if (!hash || !isKnown || ![16, 24, 32].includes(keyBytes)) throw unsupported();
  return { hash, salt: Buffer.from(value('saltValue'), 'base64'), keyBytes, blockBytes: 16 };
}

function agile(xml: Uint8Array, password: string): DecryptPackage | undefined {
  const root = parseXml(xml);
  const localNamed = (parent: XmlElement | undefined, name: string) =>
    children(parent).find((element) => element.name.endsWith(`:${name}`));
  const data = methodOf(localNamed(root, 'keyData'));
  const encrypted = children(localNamed(root, 'keyEncryptors'))
    .map((one) => localNamed(one, 'encryptedKey'))
    .find((one) => one && attribute(one, 'spinCount') !== undefined);
  if (!encrypted) throw unsupported();
  const method = methodOf(encrypted);
  const bytesOf = (name: string) => Buffer.from(attribute(encrypted, name) ?? '', 'base64');
  const rounds = Number(attribute(encrypted, 'spinCount'));
  if (!(rounds >= 0 && rounds <= MAX_ROUNDS)) throw unsupported();
  const hashed = hashRounds(method.hash, Buffer.concat([method.salt, Buffer.from(password, 'utf16le')]), rounds);
  const iv = fitted(method.salt, method.blockBytes);
  const decrypt = (blockKey: Buffer, content: Buffer) =>
    decryptBlocks(fitted(digest(method.hash, hashed, blockKey), method.keyBytes), iv, content);
  const expected = decrypt(BLOCK_KEYS.value, bytesOf('encryptedVerifierHashValue'));
  const actual = digest(method.hash, decrypt(BLOCK_KEYS.input, bytesOf('encryptedVerifierHashInput')));
  if (!startsEqual(expected, actual)) return undefined;
  const key = decrypt(BLOCK_KEYS.key, bytesOf('encryptedKeyValue')).subarray(0, data.keyBytes);
  return (content) => decryptSegments(content, key, data);
}

function decryptSegments(content: Uint8Array, key: Buffer, { hash, salt, blockBytes }: Method): Uint8Array {
  const parts: Buffer[] = [];
  const number = Buffer.alloc(4);
  for (let at = 0, segment = 0; at < content.length; at += SEGMENT_BYTES, segment++) {
    number.writeUInt32LE(segment);
    const iv = fitted(digest(hash, salt, number), blockBytes);
    parts.push(decryptBlocks(key, iv, content.subarray(at, at + SEGMENT_BYTES)));
  }
  return Buffer.concat(parts);
}

// Standard encryption (2.3.4.5 to 2.3.4.9)

const STANDARD_ROUNDS = 50_000;
const AES_128 = 0x660e;
const AES_256 = 0x6610;
const SHA1_BYTES = 20;
const SALT_BYTES = 16;

function standard(info: Buffer, password: string): DecryptPackage | undefined {
  const headerBytes = info.readUInt32LE(0);
  const verifier = info.subarray(4 + headerBytes);
  if (headerBytes < 32 || verifier.length < 4 + SALT_BYTES + 16 + 4 + 32) throw unsupported();
  const algorithm = info.readUInt32LE(4 + 8);
  const keyBytes = (info.readUInt32LE(4 + 16) || 128) / 8;
  if (algorithm < AES_128 || algorithm > AES_256 || ![16, 24, 32].includes(keyBytes)) throw unsupported();
  const salt = verifier.subarray(4, 4 + SALT_BYTES);
  const input = verifier.subarray(20, 36);
  const value = verifier.subarray(40, 72);
  const hashed = hashRounds('sha1', Buffer.concat([salt, Buffer.from(password, 'utf16le')]), STANDARD_ROUNDS);
  const final = digest('sha1', hashed, Buffer.alloc(4));
  const half = (fill: number) => {
    const block = Buffer.alloc(64, fill);
    for (const [at, byte] of final.entries()) block[at]! ^= byte;
    return digest('sha1', block);
  };
  const key = Buffer.concat([half(0x36), half(0x5c)]).subarray(0, keyBytes);
  const expected = decryptBlocks(key, null, value).subarray(0, SHA1_BYTES);
  if (!startsEqual(expected, digest('sha1', decryptBlocks(key, null, input)))) return undefined;
  return (content) => decryptBlocks(key, null, content);
}

// Both

function hashRounds(hash: string, start: Buffer, rounds: number): Buffer {
  const first = digest(hash, start);
  // The number of the round and the value before it.
  const input = Buffer.concat([Buffer.alloc(4), first]);
  for (let round = 0; round < rounds; round++) {
    input.writeUInt32LE(round);
    createHash(hash).update(input).digest().copy(input, 4);
  }
  return input.subarray(4);
}

function digest(hash: string, ...parts: readonly Uint8Array[]): Buffer {
  const sum = createHash(hash);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** AES in CBC mode, or in ECB mode without an initialization vector. Only whole blocks are decrypted. */
function decryptBlocks(key: Buffer, iv: Buffer | null, content: Uint8Array): Buffer {
  const cipher = createDecipheriv(`aes-${key.length * 8}-${iv ? 'cbc' : 'ecb'}`, key, iv);
  cipher.setAutoPadding(false);
  const whole = content.subarray(0, content.length - (content.length % 16));
  return Buffer.concat([cipher.update(whole), cipher.final()]);
}

function fitted(bytes: Buffer, length: number): Buffer {
  return bytes.length >= length
    ? bytes.subarray(0, length)
    : Buffer.concat([bytes], length).fill(PADDING, bytes.length);
}

/** Compares the common length; an expected value is padded to whole blocks. */
function startsEqual(expected: Buffer, actual: Buffer): boolean {
  const length = Math.min(expected.length, actual.length);
  return length > 0 && timingSafeEqual(expected.subarray(0, length), actual.subarray(0, length));
}
