/**
 * Loads the bytes of an image, PDF or clip: sent in the request as a data URI or base64, or fetched from a URL through
 * the guard (docs/reference/wire/models.md, Inputs).
 */

import { Problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { isGuardRefusal } from '#net/guard/guard.ts';

export type MediaValue =
  | { readonly from: 'address'; readonly url: URL }
  /** `mediaType` is the type in the data URI; '' if none. */
  | { readonly from: 'bytes'; readonly bytes: Uint8Array; readonly mediaType: string };

/** Describes what is wrong with a value, phrased to follow the field's name: `must be …`. */
export class MediaError extends Error {}

const MAX_ADDRESS = 8_192;
const BASE64 = /^[A-Za-z0-9+/\-_\s]*(?:=\s*){0,2}$/;
const FORMS = 'must be an http or https URL, a data URI with base64, or base64';

/** Throws MediaError. `maxBytes` limits the decoded size. */
export function readMediaValue(text: string, maxBytes: number): MediaValue {
  if (/^https?:/i.test(text)) return { from: 'address', url: addressOf(text) };
  if (/^data:/i.test(text)) {
    const comma = text.indexOf(',');
    const head = text.slice(5, comma < 0 ? 5 : Math.min(comma, 1_000));
    if (comma < 0 || !/;base64$/i.test(head.trimEnd())) throw new MediaError('must be a data URI with `;base64,`');
    return { ...decode(text, comma + 1, maxBytes), mediaType: head.split(';', 1)[0]!.trim().toLowerCase() };
  }
  return { ...decode(text, 0, maxBytes), mediaType: '' };
}

function addressOf(text: string): URL {
  if (text.length > MAX_ADDRESS || !isUrl(text)) throw new MediaError('must be a valid URL');
  return new URL(text);
}

function decode(text: string, from: number, maxBytes: number) {
  // Rejects values that are far too long before decoding them; four base64 characters encode three bytes.
  if ((text.length - from) * 0.75 > maxBytes * 1.1 + 1_024) throw tooLarge(maxBytes);
  const encoded = from === 0 ? text : text.slice(from);
  if (!BASE64.test(encoded)) throw new MediaError(FORMS);
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 0) throw new MediaError(encoded.trim() === '' ? 'must not be empty' : FORMS);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return { from: 'bytes', bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) } as const;
}

export const tooLarge = (maxBytes: number): MediaError =>
  new MediaError(`must be at most ${Math.floor(maxBytes / 1_000_000)} MB`);

interface Loaded {
  readonly bytes: Uint8Array;
  /** Media type declared by the sender or server; '' if none. */
  readonly mediaType: string;
}

const FETCH_TIMEOUT_MS = 10_000;

/** Throws MediaError or the signal's reason. The message does not reveal why a URL was blocked. */
export async function loadMedia(
  value: string,
  { fetch, maxBytes, signal }: { fetch: GuardedFetch | undefined; maxBytes: number; signal: AbortSignal },
): Promise<Loaded> {
  const given = readMediaValue(value, maxBytes);
  if (given.from === 'bytes') return given;
  if (!fetch) throw new MediaError('must be sent with the request: this server does not fetch URLs');
  try {
    const answer = await fetch(given.url, { signal, maxBytes, timeoutMs: FETCH_TIMEOUT_MS });
    if (answer.status !== 200) {
      answer.discard();
      throw new MediaError(`could not be fetched: the server responded with status ${answer.status}`);
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const bytes = new Uint8Array(Buffer.concat(chunks));
    if (bytes.length === 0) throw new MediaError('could not be fetched: the answer is empty');
    return { bytes, mediaType: (answer.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase() };
  } catch (error) {
    signal.throwIfAborted();
    throw faultOf(error, maxBytes);
  }
}

function faultOf(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof Problem)) return error;
  if (error.name === 'TargetFileTooLargeError') return tooLarge(maxBytes);
  if (isGuardRefusal(error)) {
    return new MediaError('is a URL that this server may not fetch');
  }
  return new MediaError('could not be fetched');
}
