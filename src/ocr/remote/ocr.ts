/** Text recognition by workers on other machines. */
import type { RemoteWork } from '#concurrency/remote-work.ts';
import { InvalidImageError, type Ocr } from '../ocr.ts';
import type { OcrAnswer, OcrRequest } from './messages.ts';

/** Throws what the workers throw, and the problems of the queue. */
export function createRemoteOcr(work: RemoteWork<OcrRequest, OcrAnswer>): Ocr {
  let name = 'tesseract';
  return {
    get name() {
      return name;
    },
    async read(picture, { signal, languages, whole }) {
      const answer = await work.run({ picture, languages, whole }, signal);
      if (answer.kind === 'invalid') throw new InvalidImageError(answer.message);
      name = answer.engine;
      return answer.result;
    },
    async close() {},
  };
}
