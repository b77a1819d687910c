/** What the Tesseract program of the machine and the one built in have in common. */
import { problem } from '#errors.ts';
import type { Segmentation } from '../../engine.ts';

/** Tesseract's numbers for them (`tesseract --help-psm`). */
export const SEGMENTATION_MODES = { page: '3', block: '6', sparse: '11' } as const satisfies Record<
  Segmentation,
  string
>;

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
