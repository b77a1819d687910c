/** What a Tesseract engine owes: the program of the machine and the one built in keep it alike. */
import { problem } from '#errors.ts';

export interface TesseractEngine {
  readonly name: string;
  /**
   * What is read in a picture, as hOCR (the HTML of boxes and words that Tesseract writes). Throws
   * DownstreamServiceFailureError, or the signal's reason.
   */
  recognise(picture: Uint8Array, options: RecogniseOptions): Promise<string>;
}

export interface RecogniseOptions {
  /** By their Tesseract names. */
  readonly languages: readonly string[];
  /** `page` finds columns and blocks by itself; `block` takes the picture for one; `sparse` looks for words anywhere. */
  readonly segmentation: Segmentation;
  readonly signal: AbortSignal;
}

export type Segmentation = keyof typeof SEGMENTATION_MODES;

/** Tesseract's numbers for them (`tesseract --help-psm`). */
export const SEGMENTATION_MODES = { page: '3', block: '6', sparse: '11' } as const;

/** Pictures are brought to about this before they are read. */
export const PICTURE_DPI = '300';

/** Names as Tesseract has them, `chi_sim` and `script/Latin`; anything else could be a path. */
export function checkLanguages(languages: readonly string[]): void {
  const wrong = languages.find((name) => !/^(?:script\/)?[A-Za-z0-9_]{2,40}$/.test(name));
  if (wrong !== undefined)
    throw problem('ParamValidationError', { message: 'A language of text recognition has no valid name' });
}

export const languageMissing = (languages: readonly string[], remedy: string) =>
  problem('DownstreamServiceFailureError', {
    message: `Text recognition has no data for the language ${languages.join(', ')}: ${remedy}`,
  });

export const recognitionFailed = (cause: unknown) =>
  problem('DownstreamServiceFailureError', { message: 'Text recognition failed on this picture' }, cause);
