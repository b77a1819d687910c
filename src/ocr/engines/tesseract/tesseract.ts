/** Code shared by the installed Tesseract program and the built-in engine. */
import { problem } from '#errors.ts';
import type { Segmentation } from '../../engine.ts';

/** Tesseract's page segmentation modes (`tesseract --help-psm`). */
export const SEGMENTATION_MODES = { page: '3', block: '6', sparse: '11' } as const satisfies Record<
  Segmentation,
  string
>;

/** Approximate resolution of prepared images. */
export const IMAGE_DPI = '300';

/** Accepts Tesseract names such as `chi_sim` and `script/Latin`. Any other string could be a path. */
export function checkLanguages(languages: readonly string[]): void {
  const wrong = languages.find((name) => !/^(?:script\/)?[A-Za-z0-9_]{2,40}$/.test(name));
  if (wrong !== undefined)
    throw problem('ParamValidationError', {
      message: `Text recognition language ${JSON.stringify(wrong.slice(0, 40))} is not a valid Tesseract name`,
    });
}

export const languageMissing = (languages: readonly string[], remedy: string) =>
  problem('DownstreamServiceFailureError', {
    message: `Text recognition has no data for the language ${languages.join(', ')}: ${remedy}`,
  });

export const recognitionFailed = (cause: unknown) =>
  problem('DownstreamServiceFailureError', { message: 'Text recognition failed on this image' }, cause);
