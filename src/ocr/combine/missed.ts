/** Finds lone characters that the search for lines missed, such as single digits in the cells of a table. */
import type { Corners } from '../engines/pp-ocr/picture.ts';
import type { OcrBox } from '../hocr.ts';
import { boundsOfCorners } from './stretches.ts';

/** A piece of ink is known if more than this share of it is inside a box. */
const KNOWN = 0.3;
/** Height of a piece, in multiples of the height of boxes beside it. */
const MIN_HEIGHT = 0.3;
const MAX_HEIGHT = 1.1;
/** Margin around a piece, as a share of its height. */
const MARGIN = 0.35;
const MAX_MISSED = 300;
/** Height of the stripes that index the boxes, in pixels. */
const STRIPE = 64;

/** Boxes around pieces of ink that are level with found lines, but outside them. */
export function missedBoxes(boxes: readonly Corners[], pieces: readonly OcrBox[]): Corners[] {
  const stripes = new Map<number, OcrBox[]>();
  for (const box of boxes.map(boundsOfCorners)) {
    for (let row = Math.floor(box.top / STRIPE); row <= Math.floor(box.bottom / STRIPE); row++) {
      const list = stripes.get(row);
      if (list) list.push(box);
      else stripes.set(row, [box]);
    }
  }
  const missed: Corners[] = [];
  for (const piece of pieces) {
    const middle = (piece.top + piece.bottom) / 2;
    const beside = (stripes.get(Math.floor(middle / STRIPE)) ?? []).filter(
      ({ top, bottom }) => middle > top && middle < bottom,
    );
    const height = piece.bottom - piece.top;
    const isLevel = beside.some((box) => {
      const share = height / Math.max(1, box.bottom - box.top);
      return share >= MIN_HEIGHT && share <= MAX_HEIGHT;
    });
    if (isLevel && !beside.some((box) => shareInside(piece, box) > KNOWN))
      missed.push(cornersOf(piece, MARGIN * height));
    if (missed.length === MAX_MISSED) break;
  }
  return missed;
}

function shareInside(piece: OcrBox, box: OcrBox): number {
  const width = Math.min(piece.right, box.right) - Math.max(piece.left, box.left);
  const height = Math.min(piece.bottom, box.bottom) - Math.max(piece.top, box.top);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / Math.max(1, (piece.right - piece.left) * (piece.bottom - piece.top));
}

const cornersOf = ({ left, right, top, bottom }: OcrBox, margin: number): Corners => ({
  topLeft: { x: left - margin, y: top - margin },
  topRight: { x: right + margin, y: top - margin },
  bottomRight: { x: right + margin, y: bottom + margin },
  bottomLeft: { x: left - margin, y: bottom + margin },
});
