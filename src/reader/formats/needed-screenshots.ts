/** The images that a result needs: those that the caller requested, and those that a model reads. */
import type { Options } from '../options/resolve.ts';

export const neededScreenshots = ({ formats, modelFormat }: Pick<Options, 'formats' | 'modelFormat'>) => ({
  /** A screenshot of the visible window. */
  screenshot: formats.has('screenshot') || modelFormat === 'vlm',
  /** A screenshot of the whole page. */
  pageshot: formats.has('pageshot') || modelFormat?.startsWith('svc-ocr') === true,
});
