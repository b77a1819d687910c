/** Puts the figures of a page between its blocks: next to their captions, else below the text above them. */
import { isCaption } from '../caption.ts';
import type { Block } from './blocks.ts';
import type { DrawnFigure } from './draw-figures.ts';
import { area, type Box, intersect } from './geometry.ts';

/** Largest distance between a figure and its caption, in points. */
const CAPTION_DISTANCE = 40;
/** Boxes that share this much of their area are the same: the file names the figure and has alt text for it. */
const SAME_SHARE = 0.8;

type Running = Extract<Block, { kind: 'paragraph' | 'quote' | 'heading' }>;

/** Changes `blocks`. */
export function placeFigures(blocks: Block[], figures: readonly DrawnFigure[]): void {
  for (const { box, source } of figures) {
    const named = blocks.findIndex((block) => block.kind === 'paragraph' && isSame(block.box, box));
    if (named >= 0) {
      const alt = textOf(blocks[named] as Running);
      blocks[named] = { kind: 'figure', alt, source, box };
      continue;
    }
    blocks.splice(placeIn(blocks, box), 0, { kind: 'figure', alt: '', source, box });
  }
}

const textOf = ({ runs }: Running): string =>
  runs
    .map(({ text }) => text)
    .join('')
    .trim();

function isSame(one: Box | undefined, two: Box): boolean {
  return one !== undefined && area(intersect(one, two)) > SAME_SHARE * Math.max(area(one), area(two));
}

function placeIn(blocks: readonly Block[], figure: Box): number {
  const below = captionAt(blocks, (box) => box.y0 - figure.y1, figure);
  if (below >= 0) return below;
  const above = captionAt(blocks, (box) => figure.y0 - box.y1, figure);
  if (above >= 0) return above + 1;
  // The lowest block above the figure in its column.
  let place = -1;
  let lowest = Number.NEGATIVE_INFINITY;
  for (const [at, { box }] of blocks.entries()) {
    if (!box || !isInColumn(box, figure) || box.y1 > figure.y0 + 2 || box.y1 < lowest) continue;
    lowest = box.y1;
    place = at;
  }
  if (place >= 0) return place + 1;
  const next = blocks.findIndex(({ box }) => box && isInColumn(box, figure) && box.y0 >= figure.y1 - 2);
  return next >= 0 ? next : blocks.length;
}

/** The nearest caption at a distance that is allowed; -1 if there is none. */
function captionAt(blocks: readonly Block[], distanceTo: (box: Box) => number, figure: Box): number {
  let found = -1;
  let nearest = CAPTION_DISTANCE;
  for (const [at, block] of blocks.entries()) {
    if (!block.box || !('runs' in block) || block.kind === 'item' || !isInColumn(block.box, figure)) continue;
    const distance = distanceTo(block.box);
    if (distance < -4 || distance >= nearest || !isCaption(textOf(block))) continue;
    nearest = distance;
    found = at;
  }
  return found;
}

const isInColumn = (box: Box, figure: Box): boolean => box.x0 < figure.x1 && box.x1 > figure.x0;
