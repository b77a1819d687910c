/** The contract of an OCR engine: it returns lines of words with positions. Layout analysis comes later. */
import type { OcrPage } from './hocr.ts';

/** Positions are in pixels of the recognized image. */
export type OcrLines = Omit<OcrPage, 'rules'>;

export interface OcrEngine {
  readonly name: string;
  /** Whether `sparse` segmentation gives a different result. */
  readonly supportsSparse: boolean;
  /** Whether the data of all these languages are installed. */
  has(languages: readonly string[]): Promise<boolean>;
  /** Recognizes the lines of a prepared image. Throws DownstreamServiceFailureError or the signal's reason. */
  recognize(picture: Uint8Array, options: RecognizeOptions): Promise<OcrLines>;
}

export interface RecognizeOptions {
  /** Tesseract language names. Engines ignore them if their model files determine the languages. */
  readonly languages: readonly string[];
  /** `page` detects columns and blocks; `block` treats the image as one block; `sparse` finds words anywhere. */
  readonly segmentation: Segmentation;
  readonly signal: AbortSignal;
}

export type Segmentation = 'page' | 'block' | 'sparse';
