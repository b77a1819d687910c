/** Entry point of the child process that decodes images for text recognition. */

import type { Segmentation } from './engine.ts';
import { recognizeBuiltIn } from './engines/tesseract/wasm.ts';
import type { OcrBox } from './hocr.ts';
import { createSheet, type Sheet } from './image/components.ts';
import { crop } from './image/crop.ts';
import { type Prepared, prepare, type Rotation } from './image/prepare.ts';

export type OcrTask =
  | { readonly do: 'prepare'; readonly picture: Uint8Array; readonly turn: Rotation; readonly whole: boolean }
  | { readonly do: 'crop'; readonly picture: Uint8Array; readonly box: OcrBox }
  | { readonly do: 'gather'; readonly picture: Uint8Array; readonly boxes: readonly OcrBox[] }
  | {
      readonly do: 'recognize';
      readonly picture: Uint8Array;
      readonly languages: readonly string[];
      readonly segmentation: Segmentation;
    };

export type OcrTaskResult = Prepared | Sheet | Uint8Array | string;

export default function work(task: OcrTask): Promise<OcrTaskResult> {
  switch (task.do) {
    case 'prepare':
      return prepare(task.picture, task.turn, task.whole);
    case 'crop':
      return crop(task.picture, task.box);
    case 'gather':
      return createSheet(task.picture, task.boxes);
    case 'recognize':
      return recognizeBuiltIn(task.picture, task);
  }
}
