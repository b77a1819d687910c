/** Maps positions in the prepared image back to the original: undoes rotation, straightening and enlargement. */
import type { OcrBox } from '../hocr.ts';
import type { OcrBlock } from '../layout/layout.ts';
import { boundsOf } from '../layout/segments.ts';
import type { Rotation } from './prepare.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** How an image was prepared. All sizes are in pixels. */
export interface Preparation {
  /** Size of the original image after Exif rotation. */
  readonly source: Size;
  /** Size of the rotated original, reduced if it was large. */
  readonly upright: Size;
  readonly turn: Rotation;
  /** Scale factor applied after rotation. */
  readonly scale: number;
  /** Clockwise rotation applied last to straighten the text, in degrees. */
  readonly skew: number;
  /** Size of the prepared image. */
  readonly made: Size;
}

/** Maps the word boxes of blocks to pixels of the original image. */
export function mapToSource(blocks: readonly OcrBlock[], preparation: Preparation): OcrBlock[] {
  const moved = (box: OcrBox) => sourceBox(box, preparation);
  return blocks.map((block) => ({
    ...block,
    lines: block.lines.map((line) => line.map((word) => ({ ...word, box: moved(word.box) }))),
  }));
}

export function sourceBox({ left, top, right, bottom }: OcrBox, preparation: Preparation): OcrBox {
  const corners = [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ] as const;
  const { width, height } = preparation.source;
  const bounds = boundsOf(
    corners.map(([x, y]) => {
      const at = sourcePoint(x, y, preparation);
      return { left: at.x, right: at.x, top: at.y, bottom: at.y };
    }),
  );
  const within = (value: number, most: number) => Math.max(0, Math.min(most, Math.round(value)));
  return {
    left: within(bounds.left, width),
    top: within(bounds.top, height),
    right: within(bounds.right, width),
    bottom: within(bounds.bottom, height),
  };
}

function sourcePoint(x: number, y: number, { source, upright, turn, scale, skew, made }: Preparation) {
  const turned = turn % 180 === 0 ? upright : { width: upright.height, height: upright.width };
  const angle = (skew * Math.PI) / 180;
  const [dx, dy] = [x - made.width / 2, y - made.height / 2];
  const straight = {
    x: (dx * Math.cos(angle) + dy * Math.sin(angle)) / scale + turned.width / 2,
    y: (-dx * Math.sin(angle) + dy * Math.cos(angle)) / scale + turned.height / 2,
  };
  const back = unturned(straight, upright, turn);
  return { x: (back.x * source.width) / upright.width, y: (back.y * source.height) / upright.height };
}

function unturned({ x, y }: { x: number; y: number }, { width, height }: Size, turn: Rotation) {
  switch (turn) {
    case 0:
      return { x, y };
    case 90:
      return { x: y, y: height - x };
    case 180:
      return { x: width - x, y: height - y };
    case 270:
      return { x: width - y, y: x };
  }
}
