/** Loads the bytes of a medium: sent in the request, or fetched through the guard. */
import { Problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { isGuardRefusal } from '#net/guard/guard.ts';
import { MediaError, readMediaValue, tooLarge } from './value.ts';

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
