/** How much text may be in work at once, over all requests: what they hold in memory is a small multiple of it. */
import { problem } from '#errors.ts';

export interface Intake {
  /**
   * Takes a request's characters in until the returned function is called. ServiceNodeResourceDrainError when there are
   * too many; a request that comes when nothing is in work is always taken.
   */
  enter(characters: number): () => void;
}

export function createIntake(maxCharacters: number): Intake {
  let characters = 0;
  let requests = 0;
  return {
    enter(more) {
      if (requests && characters + more > maxCharacters) {
        const message = 'Too much text is in work on this server, try again';
        throw problem('ServiceNodeResourceDrainError', { message, retryAfter: 1 });
      }
      requests++;
      characters += more;
      return () => {
        requests--;
        characters -= more;
      };
    },
  };
}
