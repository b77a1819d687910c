/** Fetches scripts that a caller specified by URL, through the same guarded fetch as pages. */
import { problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { decodeBody } from './encoded-body.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 5 * 1024 * 1024;

/** Returns the source of a script. Throws AssertionFailureError if the response is an error. */
export const createScriptFetcher =
  (fetch: GuardedFetch) =>
  async (url: string, signal: AbortSignal): Promise<string> => {
    const response = await fetch(url, { signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (response.status >= 400) {
      response.discard();
      throw problem('AssertionFailureError', {
        message: `The URL of an injected script answered with status ${response.status}`,
      });
    }
    const { bytes } = await response.collect();
    return decodeBody({ bytes, contentType: response.headers['content-type'], kind: 'text' });
  };
