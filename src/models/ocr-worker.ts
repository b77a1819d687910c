/** Does the parts of text recognition that open pictures, in a child process. */
import { recogniseBuiltIn } from './backends/tesseract-js.ts';
import type { Segmentation } from './ocr-engine.ts';
import { type Prepared, prepare, type Turn } from './ocr-picture.ts';

export type OcrTask =
  | { readonly do: 'prepare'; readonly picture: Uint8Array; readonly turn: Turn; readonly whole: boolean }
  | {
      readonly do: 'recognise';
      readonly picture: Uint8Array;
      readonly languages: readonly string[];
      readonly segmentation: Segmentation;
    };

export type OcrTaskResult = Prepared | string;

export default function work(task: OcrTask): Promise<OcrTaskResult> {
  return task.do === 'prepare' ? prepare(task.picture, task.turn, task.whole) : recogniseBuiltIn(task.picture, task);
}
