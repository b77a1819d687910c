/** Chooses one URL of a `srcset` (HTML standard, "parsing a srcset attribute"). */

export interface SrcsetCandidate {
  readonly url: string;
  /** Width in pixels (`640w`); `undefined` if the candidate states none. */
  readonly width?: number;
  /** Density (`2x`); 1 if the candidate states neither. */
  readonly density: number;
}

/** Larger pictures cost bandwidth and show a reader, or a model, nothing more. */
const MAX_WIDTH_PIXELS = 1280;
/** No page lists more sizes of a picture. */
const MAX_CANDIDATES = 200;

const SPACE = /\s/;

/** The candidates in the order of the attribute. Linear in its length. */
export function readSrcset(srcset: string): SrcsetCandidate[] {
  const found: SrcsetCandidate[] = [];
  const length = srcset.length;
  let at = 0;
  while (at < length && found.length < MAX_CANDIDATES) {
    while (at < length && (srcset[at] === ',' || SPACE.test(srcset[at]!))) at++;
    const start = at;
    while (at < length && !SPACE.test(srcset[at]!)) at++;
    let end = at;
    while (end > start && srcset[end - 1] === ',') end--;
    if (end === start) continue;
    const url = srcset.slice(start, end);
    // A comma at the end of the URL means that no descriptor follows.
    if (end < at) {
      found.push({ url, density: 1 });
      continue;
    }
    const from = at;
    while (at < length && srcset[at] !== ',') at++;
    found.push({ url, ...descriptorIn(srcset.slice(from, Math.min(at, from + 100))) });
  }
  return found;
}

function descriptorIn(text: string): Pick<SrcsetCandidate, 'width' | 'density'> {
  const [, number, unit] = /(?:^|\s)(\d{1,9}(?:\.\d{1,9})?)([wx])(?=\s|$)/.exec(text) ?? [];
  if (unit === 'w') return { width: Number(number), density: 1 };
  return { density: unit === 'x' ? Number(number) : 1 };
}

/**
 * The largest candidate of at most 1,280 pixels, else the smallest. Densities need the width at which the page shows
 * the picture: without it, the candidate for an ordinary screen is chosen. Undefined for an empty list.
 */
export function bestCandidate(candidates: readonly SrcsetCandidate[], shownWidth?: number): string | undefined {
  const byWidth = candidates.flatMap(({ url, width }) => (width === undefined ? [] : [{ url, size: width }]));
  if (byWidth.length > 0) return largestWithin(byWidth, MAX_WIDTH_PIXELS);
  const byDensity = candidates.map(({ url, density }) => ({ url, size: density }));
  return largestWithin(byDensity, shownWidth ? Math.max(1, MAX_WIDTH_PIXELS / shownWidth) : 1);
}

function largestWithin(sizes: readonly { readonly url: string; readonly size: number }[], limit: number) {
  const isBetter = (size: number, than: number) =>
    size <= limit ? than > limit || size > than : than > limit && size < than;
  let best = sizes[0];
  for (const entry of sizes) if (best && isBetter(entry.size, best.size)) best = entry;
  return best?.url;
}
