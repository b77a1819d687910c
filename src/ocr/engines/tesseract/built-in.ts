/** The built-in Tesseract as an engine. It runs in a child process, which is killed on timeout or abort. */
import type { ProcessPool } from '#concurrency/processes.ts';
import type { OcrEngine } from '../../engine.ts';
import { parseHocr } from '../../hocr.ts';
import type { OcrTask, OcrTaskResult } from '../../worker.ts';
import { checkLanguages, languageMissing, recognitionFailed } from './tesseract.ts';
import { languageFile } from './wasm.ts';

export function createBuiltInTesseract(processes: ProcessPool<OcrTask, OcrTaskResult>, timeoutMs: number): OcrEngine {
  return {
    name: 'tesseract.js',
    supportsSparse: true,
    has: (languages) => Promise.resolve(languages.every((name) => languageFile(name) !== undefined)),
    async recognize(picture, { languages, segmentation, signal }) {
      checkLanguages(languages);
      const missing = languages.filter((name) => languageFile(name) === undefined);
      if (missing.length > 0) {
        const packages = missing.map((name) => `@tesseract.js-data/${name}`).join(' ');
        throw languageMissing(missing, `install Tesseract with it, or the npm package ${packages}`);
      }
      try {
        const task = { do: 'recognize', picture, languages, segmentation } as const;
        return parseHocr((await processes.run(task, { timeoutMs, signal })) as string);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw recognitionFailed(error);
      }
    },
  };
}
