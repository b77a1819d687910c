/** Links of cells that are listed apart from them. */
import { escapeAttribute } from '#html/serialize.ts';
import type { Row } from './cell.ts';
import { regionOf } from './reference.ts';
import { cellKeyOf, type Region } from './sheet.ts';

/** `addresses`: safe URLs by reference. `region` converts positions to visible ones. */
export function addLinks(
  rows: readonly Row[],
  addresses: ReadonlyMap<string, string | undefined>,
  region: (region: Region) => Region | undefined,
): void {
  const hrefs = new Map<number, string>();
  for (const [ref, href] of addresses) {
    const written = href === undefined ? undefined : regionOf(ref);
    const seen = written && region(written);
    if (seen) hrefs.set(cellKeyOf(seen.top, seen.left), href!);
  }
  if (hrefs.size === 0) return;
  for (const { index, columns, html } of rows) {
    for (const [at, column] of columns.entries()) {
      const href = hrefs.get(cellKeyOf(index, column));
      if (href && !html[at]!.includes('<a ')) html[at] = `<a href="${escapeAttribute(href)}">${html[at]}</a>`;
    }
  }
}
