/** Which pictures of a page an answer needs: those that were asked for, and those that a model looks at. */
import type { Options } from '../options/resolve.ts';

export const picturesWanted = ({ formats, modelFormat }: Pick<Options, 'formats' | 'modelFormat'>) => ({
  /** What the window shows. */
  screenshot: formats.has('screenshot') || modelFormat === 'vlm',
  /** The whole page. */
  pageshot: formats.has('pageshot') || modelFormat?.startsWith('svc-ocr') === true,
});
