/** Recognizes text in images. */
import { problem } from '#errors.ts';
import type { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { eachDocument } from './each-document.ts';
import { readSettings, type Settings } from './settings.ts';
import type { BuiltInTools } from './tools.ts';

const IMAGES_AT_ONCE = 2;

export function ocrExecutor(ocr: BuiltInTools['ocr']): ExecutorClass {
  return class Ocr extends Executor<Settings> {
    static override readonly requests = requests<Ocr>({
      '/index': 'recognise',
      '/update': 'recognise',
      '/ocr': 'recognise',
    });

    readonly #languages = readSettings(this.options, ['languages']).strings('languages');

    override start(): void {
      if (!ocr) throw problem('FaceNotReadyError', { message: 'Text recognition is turned off on this server' });
    }

    /** Replaces an image with its text, which may be empty. */
    async recognise({ docs, signal }: Call): Promise<void> {
      const pictures = docs.filter(isImage);
      await eachDocument(pictures, { atOnce: IMAGES_AT_ONCE, signal }, async (doc) => {
        const { text, confidence } = await ocr!(doc.blob!, { languages: this.#languages, signal });
        doc.text = text;
        doc.mimeType = 'text/plain';
        doc.tags = { ...doc.tags, confidence };
      });
    }
  };
}

/** Other file types are handled by the Read executor. */
const isImage = ({ blob, mimeType }: Document): boolean =>
  blob !== undefined && blob.length > 0 && (mimeType === '' || mimeType.startsWith('image/'));
