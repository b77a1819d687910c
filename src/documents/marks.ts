/**
 * Marks in the HTML of a document: where each page starts, and the box of each block on its page. The reader takes them
 * out of the tree before anything else sees it.
 */

/** On an empty element before the content of a page: the number of the page. */
export const PAGE_ATTRIBUTE = 'data-lectern-page';
/** On an element: its page and its box, `page x y width height` in points from the upper left corner. */
export const BOX_ATTRIBUTE = 'data-lectern-box';

export interface PageBox {
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const pageStartMark = (page: number): string => `<div ${PAGE_ATTRIBUTE}="${page}"></div>`;

/** The attribute of an element, with a space before it. */
export function boxMark({ page, x, y, width, height }: PageBox): string {
  return ` ${BOX_ATTRIBUTE}="${[page, ...[x, y, width, height].map(rounded)].join(' ')}"`;
}

/** A tenth of a point is finer than any use of a box. */
const rounded = (points: number): number => Math.round(points * 10) / 10;

/** The box in the value of an attribute; null if it is not one. */
export function parseBox(value: string): PageBox | null {
  const numbers = value.split(' ').map(Number);
  if (numbers.length !== 5 || !numbers.every(Number.isFinite)) return null;
  const [page, x, y, width, height] = numbers as [number, number, number, number, number];
  return { page, x, y, width, height };
}
