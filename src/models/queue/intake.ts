/** How much may be in work at once, over all requests: what they hold in memory is a small multiple of it. */
import { problem } from '#errors.ts';

export interface Intake {
  /**
   * Takes a request in with what it has sent, in characters. ServiceNodeResourceDrainError when there is too much; a
   * request that comes when nothing is in work is always taken.
   */
  enter(characters: number): Share;
}

/** What one request holds. */
export interface Share {
  /**
   * Takes what the request has grown by, in bytes, until the returned function is called, or the request leaves. Throws the
   * same, and TooMuchHeld when one request has more than any may.
   */
  hold(bytes: number): () => void;
  leave(): void;
}

export class RequestTooLargeError extends Error {}

interface IntakeLimits {
  /** Of all requests. */
  readonly most: number;
  /** Of one that is alone; what it sent does not count. */
  readonly mostOfOne: number;
}

export function createIntake({ most, mostOfOne }: IntakeLimits): Intake {
  let held = 0;
  let requests = 0;

  function refuseTooMuch(more: number, others: number): void {
    if (!others || held + more <= most) return;
    const message = 'Too much is in work on this server, try again';
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
