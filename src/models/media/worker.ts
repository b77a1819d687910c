/** Worker process that decodes untrusted media: images to pixels, and samples to features. */

import { DocumentError, type DocumentErrorKind } from '#documents/document.ts';
import { fitImage } from '#documents/image/fit.ts';
import { detectImageFormat, isCutOff } from '#documents/image/format.ts';
import { decodePixels } from '#documents/image/raster.ts';
import type { PictureRule } from './picture-rule.ts';
import { logMel, type SoundRule } from './sound.ts';

export type MediaTask =
  | { readonly do: 'picture'; readonly bytes: Uint8Array; readonly mediaType: string; readonly rule: PictureRule }
  /** Parses only the header, for a model that decodes images itself. */
  | { readonly do: 'check'; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly do: 'sound'; readonly samples: Float32Array; readonly rule: SoundRule };

export type MediaOutcome =
  | { readonly kind: 'rgb'; readonly rgb: Uint8Array }
  | { readonly kind: 'checked'; readonly mediaType: string }
  | { readonly kind: 'features'; readonly features: Float32Array }
  | { readonly kind: 'fault'; readonly fault: DocumentErrorKind; readonly message: string };

export default async function work(task: MediaTask): Promise<MediaOutcome> {
  try {
    if (task.do === 'sound') return { kind: 'features', features: logMel(task.samples, task.rule) };
    const { bytes, mediaType } = task;
    const format = detectImageFormat(bytes, mediaType);
    if (format === 'svg') throw new DocumentError('unsupported', 'SVG images are not supported: send a PNG');
    if (isCutOff(bytes, format)) throw new DocumentError('damaged', 'The image is truncated');
    if (task.do === 'check') return { kind: 'checked', mediaType: `image/${format}` };
    return { kind: 'rgb', rgb: fitImage(await decodePixels(bytes, format), task.rule).rgb };
  } catch (error) {
    if (error instanceof DocumentError) return { kind: 'fault', fault: error.kind, message: error.message };
    throw error;
  }
}
