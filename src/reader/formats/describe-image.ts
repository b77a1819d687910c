/** What a picture shows, in the words of a vision model. */
import type { Chat } from '#models/index.ts';
import { picturePart, picturePrompt, textPart } from './prompts.ts';
import { withoutWrapping } from './written.ts';

export interface Picture {
  readonly png: Uint8Array;
  /** In pixels, before it was fitted. */
  readonly width: number;
  readonly height: number;
}

/** A smaller side below this is no picture that a model could say anything about (contract, 6.2 and 16). */
const LEAST_SIDE = 64;

/** The sentence for a picture that is too small to be described; undefined for others. */
export const smallPicture = ({ width, height }: Pick<Picture, 'width' | 'height'>): string | undefined =>
  Math.min(width, height) < LEAST_SIDE ? `A small image of ${width} x ${height} pixels` : undefined;

/** Fails as the model does. */
export async function describeImage(
  picture: Picture,
  { vision, instruction, signal }: { vision: Chat; instruction: string; signal: AbortSignal },
): Promise<string> {
  const small = smallPicture(picture);
  if (small) return small;
  const content = [textPart(picturePrompt(instruction)), picturePart(picture.png)];
  const { text } = await vision.complete({ messages: [{ role: 'user', content }], temperature: 0, signal });
  return withoutWrapping(text);
}
