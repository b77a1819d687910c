/** The images that an answer needs: those that were requested, and those that a model reads. */
import type { Options } from '../options/resolve.ts';

export const neededScreenshots = ({ formats, modelFormat }: Pick<Options, 'formats' | 'modelFormat'>) => ({
  /** The visible window. */
  screenshot: formats.has('screenshot') || modelFormat === 'vlm',
  /** The whole page. */
  pageshot: formats.has('pageshot') || modelFormat?.startsWith('svc-ocr') === true,
});
