/** What an engine of text recognition owes: lines of words with their places. What they mean is found out afterwards. */
import type { OcrPage } from './hocr.ts';

/** Lines in pixels of the picture that was read. */
export type OcrLines = Omit<OcrPage, 'rules'>;

export interface OcrEngine {
  readonly name: string;
  /** Whether it finds something else when it is told to look for words anywhere. */
  readonly looksAnywhere: boolean;
  /** The lines of a picture that was made ready. Throws DownstreamServiceFailureError, or the signal's reason. */
  recognise(picture: Uint8Array, options: RecogniseOptions): Promise<OcrLines>;
}

export interface RecogniseOptions {
  /** By their Tesseract names; engines that know languages by their files do not look at them. */
  readonly languages: readonly string[];
  /** `page` finds columns and blocks by itself; `block` takes the picture for one; `sparse` looks for words anywhere. */
  readonly segmentation: Segmentation;
  readonly signal: AbortSignal;
}

export type Segmentation = 'page' | 'block' | 'sparse';
