/** The marked content that a place of a page is in: ISO 32000-1, sections 14.6 and 8.11.3. */
import type { InkSources } from './ink.ts';

interface Mark {
  /** The number by which the structure tree names it. */
  readonly mark: number | null;
  readonly artifact: boolean;
}

interface OpenMark extends Mark {
  readonly off: boolean;
}

const NONE: Mark = { mark: null, artifact: false };

export class MarkedContent {
  readonly #open: OpenMark[] = [];
  readonly #layers: InkSources['layers'];
  #off = 0;

  constructor(layers: InkSources['layers']) {
    this.#layers = layers;
  }

  /** `value` is what PDF.js gives for the properties: a number of the structure tree, a layer, or null. */
  begin(tag: unknown, value: unknown = null): void {
    const { mark, artifact } = this.innermost;
    const off = tag === 'OC' && value !== null && this.#layers !== null && !this.#layers.isVisible(value);
    this.#open.push({
      mark: typeof value === 'number' ? value : mark,
      artifact: artifact || nameOf(tag) === 'Artifact',
      off,
    });
    if (off) this.#off += 1;
  }

  end(): void {
    if (this.#open.pop()?.off) this.#off -= 1;
  }

  get innermost(): Mark {
    return this.#open[this.#open.length - 1] ?? NONE;
  }

  /** Whether a layer is around that is not shown. */
  get isOff(): boolean {
    return this.#off > 0;
  }
}

/** PDF.js gives a tag as it is in the file or as its text. */
const nameOf = (tag: unknown): unknown => (typeof tag === 'object' && tag !== null && 'name' in tag ? tag.name : tag);
