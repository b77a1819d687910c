/** The bytes of what a request gives: its own, or fetched through the guarded way out. */
import { Problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { MediaError, readMediaValue, tooMany } from './value.ts';

interface Loaded {
  readonly bytes: Uint8Array;
  /** What its sender or its server says it is; '' when nothing is said. */
  readonly mediaType: string;
}

const FETCH_TIMEOUT_MS = 10_000;

/** Throws MediaFault, or the reason of the signal. Which address was refused, and why, is nobody's business. */
export async function loadMedia(
  value: string,
  { fetch, maxBytes, signal }: { fetch: GuardedFetch | undefined; maxBytes: number; signal: AbortSignal },
): Promise<Loaded> {
  const given = readMediaValue(value, maxBytes);
  if (given.from === 'bytes') return given;
  if (!fetch) throw new MediaError('must be sent with the request: addresses are not fetched here');
  try {
    const answer = await fetch(given.url, { signal, maxBytes, timeoutMs: FETCH_TIMEOUT_MS });
    if (answer.status !== 200) {
      answer.discard();
      throw new MediaError(`could not be fetched: the server answered ${answer.status}`);
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
  if (error.name === 'TargetFileTooLargeError') return tooMany(maxBytes);
  if (error.name === 'SecurityCompromiseError') {
    return new MediaError('is not an address that may be reached from here');
  }
  return new MediaError('could not be fetched');
}
