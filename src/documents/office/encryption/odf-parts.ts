/** Decrypts the parts of an OpenDocument file with a password (ODF 1.3, part 2, 4.8 and 4.16). */
import { createDecipheriv, createHash, pbkdf2Sync } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import type { SalvagedEntry, Zip } from '../../archive/zip.ts';
import { DocumentError } from '../../document.ts';
import { passwordError } from '../../password-error.ts';
import { attribute, child, children, parseXml, type XmlElement } from '../../xml/xml.ts';

export type ReadPart = (name: string) => SalvagedEntry | undefined;

/** More rounds than this would only keep the processor busy; LibreOffice uses 100,000. */
const MAX_ROUNDS = 1_000_000;
/** The checksum covers the start of the compressed content. */
const CHECKED_BYTES = 1_024;
/** Limits of decompressed bytes, as for archives: in total, and as a multiple of the compressed bytes. */
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;
const MAX_RATIO = 200;
const RATIO_FREE_BYTES = 1024 * 1024;

const DIGESTS: ReadonlyMap<string, string> = new Map([
  ['sha1', 'sha1'],
  ['sha1-1k', 'sha1'],
  ['sha256', 'sha256'],
  ['sha256-1k', 'sha256'],
]);

/** Reads parts, decrypting those that the manifest lists as encrypted. Throws DocumentError. */
export function decryptedParts(zip: Zip, manifest: Uint8Array, password: string | undefined): ReadPart {
  if (password === undefined) throw passwordError('document', password);
  const encrypted = new Map<string, XmlElement>();
  for (const entry of children(parseXml(manifest), 'manifest:file-entry')) {
    const data = child(entry, 'manifest:encryption-data');
    if (data) encrypted.set(attribute(entry, 'manifest:full-path') ?? '', data);
  }
  let leftBytes = MAX_TOTAL_BYTES;
  return (name) => {
    const stored = zip.salvage(name);
    const data = encrypted.get(name);
    if (!stored || !data) return stored;
    const packed = decrypt(stored.bytes, data, password);
    if (!packed) throw passwordError('document', password);
    const maxBytes = Math.min(leftBytes, Math.max(RATIO_FREE_BYTES, packed.length * MAX_RATIO));
    const bytes = inflate(packed, maxBytes);
    leftBytes -= bytes.length;
    return { bytes, complete: stored.complete };
  };
}

/** The compressed content; `undefined` if the password is wrong. */
function decrypt(content: Uint8Array, data: XmlElement, password: string): Buffer | undefined {
  const value = (element: string, name: string) => attribute(child(data, `manifest:${element}`)!, `manifest:${name}`);
  if (!child(data, 'manifest:algorithm') || !child(data, 'manifest:key-derivation')) throw unsupported();
  const rounds = Number(value('key-derivation', 'iteration-count'));
  const keyBytes = Number(value('key-derivation', 'key-size') ?? 32);
  const isAes = /#aes(?:128|192|256)-cbc$/.test(value('algorithm', 'algorithm-name') ?? '');
  const isKnown = isAes && /PBKDF2$/i.test(value('key-derivation', 'key-derivation-name') ?? '');
  if (!isKnown || !(rounds >= 1 && rounds <= MAX_ROUNDS) || ![16, 24, 32].includes(keyBytes)) throw unsupported();
  const start = child(data, 'manifest:start-key-generation');
  const startHash = start ? digestNamed(attribute(start, 'manifest:start-key-generation-name')) : 'sha1';
  const bytesOf = (element: string, name: string) => Buffer.from(value(element, name) ?? '', 'base64');
  const iv = bytesOf('algorithm', 'initialisation-vector');
  const whole = content.subarray(0, content.length - (content.length % 16));
  if (iv.length !== 16 || whole.length === 0) throw new DocumentError('damaged', 'The encrypted document is damaged');
  const startKey = createHash(startHash).update(password, 'utf8').digest();
  const key = pbkdf2Sync(startKey, bytesOf('key-derivation', 'salt'), rounds, keyBytes, 'sha1');
  const cipher = createDecipheriv(`aes-${keyBytes * 8}-cbc`, key, iv);
  cipher.setAutoPadding(false);
  const padded = Buffer.concat([cipher.update(whole), cipher.final()]);
  const packed = padded.subarray(0, Math.max(0, padded.length - padded.at(-1)!));
  const sum = createHash(digestNamed(attribute(data, 'manifest:checksum-type')))
    .update(packed.subarray(0, CHECKED_BYTES))
    .digest('base64');
  return sum === attribute(data, 'manifest:checksum') ? packed : undefined;
}

function digestNamed(name = ''): string {
  const digest = DIGESTS.get(name.slice(name.lastIndexOf('#') + 1).toLowerCase());
  if (!digest) throw unsupported();
  return digest;
}

function inflate(packed: Buffer, maxBytes: number): Uint8Array {
  try {
    return new Uint8Array(inflateRawSync(packed, { maxOutputLength: Math.max(1, maxBytes) }));
  } catch (error) {
    const isOverflow = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw isOverflow
      ? new DocumentError('too large', 'The document is too large when decompressed', error)
      : new DocumentError('damaged', 'A part of the encrypted document is damaged', error);
  }
}

const unsupported = () =>
  new DocumentError('unsupported', 'The document is encrypted with a method that is not supported');
