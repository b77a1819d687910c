/**
 * Admission by memory: limits the total input data of all requests in progress. Memory use is a small multiple of that
 * size.
 */
import { problem } from '#errors.ts';

export interface AdmissionControl {
  /**
   * Admits a request of this size, in characters. Throws ServiceNodeResourceDrainError if too much is in progress. A
   * request is always admitted if no other is in progress.
   */
  enter(characters: number): MemoryShare;
}

/** The share of memory that one request uses. */
export interface MemoryShare {
  /**
   * Reserves further bytes for the request until the returned function or `leave` is called. Throws
   * ServiceNodeResourceDrainError if too much is in progress, or RequestTooLargeError if the request exceeds its own
   * limit.
   */
  hold(bytes: number): () => void;
  leave(): void;
}

export class RequestTooLargeError extends Error {}

interface IntakeLimits {
  /** Maximum for all requests together, in characters or bytes. */
  readonly most: number;
  /** Maximum number of bytes that one request may reserve. Its input size does not count. */
  readonly mostOfOne: number;
}

export function createAdmission({ most, mostOfOne }: IntakeLimits): AdmissionControl {
  let held = 0;
  let requests = 0;

  function refuseTooMuch(more: number, others: number): void {
    if (!others || held + more <= most) return;
    const message = 'This server has too much work in progress; try again';
    throw problem('ServiceNodeResourceDrainError', { message, retryAfter: 1 });
  }

  return {
    enter(characters) {
      refuseTooMuch(characters, requests);
      requests++;
      held += characters;
      let grown = 0;
      return {
        hold(bytes) {
          if (grown + bytes > mostOfOne) throw new RequestTooLargeError();
          refuseTooMuch(bytes, requests - 1);
          held += bytes;
          grown += bytes;
          return () => {
            held -= bytes;
            grown -= bytes;
          };
        },
        leave() {
          requests--;
          held -= characters + grown;
        },
      };
    },
  };
}
