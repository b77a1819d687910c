/** Describes an image with a vision model. */
import type { Chat } from '#models/index.ts';
import { unwrapOutput } from './clean-output.ts';
import { picturePart, picturePrompt, textPart } from './prompts.ts';

export interface Picture {
  readonly png: Uint8Array;
  /** Width in pixels, before the image was resized. */
  readonly width: number;
  readonly height: number;
}

/** Minimum width and height of images worth describing, in pixels (docs/reference/wire/reader.md, Images). */
const MIN_SIDE = 64;

/** The fixed description of an image that is too small; `undefined` for larger ones. */
export const tinyImageText = ({ width, height }: Pick<Picture, 'width' | 'height'>): string | undefined =>
  Math.min(width, height) < MIN_SIDE ? `A small image of ${width} x ${height} pixels` : undefined;

/** Throws the model's errors. */
export async function describeImage(
  picture: Picture,
  { vision, instruction, signal }: { vision: Chat; instruction: string; signal: AbortSignal },
): Promise<string> {
  const tiny = tinyImageText(picture);
  if (tiny) return tiny;
  const content = [textPart(picturePrompt(instruction)), picturePart(picture.png)];
  const { text } = await vision.complete({ messages: [{ role: 'user', content }], temperature: 0, signal });
  return unwrapOutput(text);
}
