/** Recognizes the text of images for other servers. */
import { problem } from '#errors.ts';
import { InvalidImageError, type Ocr } from '../ocr.ts';
import type { OcrAnswer, OcrRequest } from './messages.ts';

/** Returns the handler of requests. It throws problems or the signal's reason. */
export const createOcrWorker =
  (ocr: Ocr | undefined) =>
  async ({ picture, languages, whole }: OcrRequest, signal: AbortSignal): Promise<OcrAnswer> => {
    if (!ocr) throw problem('DownstreamServiceFailureError', { message: 'Text recognition is off on the workers' });
    try {
      return { kind: 'text', result: await ocr.read(picture, { signal, languages, whole }), engine: ocr.name };
    } catch (error) {
      if (error instanceof InvalidImageError) return { kind: 'invalid', message: error.message };
      throw error;
    }
  };
