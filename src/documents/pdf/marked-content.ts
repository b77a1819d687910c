/** Tracks the marked content sequences around the current operator: ISO 32000-1, sections 14.6 and 8.11.3. */
import type { DrawingSources } from './drawn-content.ts';

interface Mark {
  /** The id by which the structure tree refers to it. */
  readonly mark: number | null;
  readonly artifact: boolean;
}

interface OpenMark extends Mark {
  readonly off: boolean;
}

const NONE: Mark = { mark: null, artifact: false };

export class MarkedContent {
  readonly #open: OpenMark[] = [];
  readonly #layers: DrawingSources['layers'];
  #off = 0;

  constructor(layers: DrawingSources['layers']) {
    this.#layers = layers;
  }

  /** `value` is the property value from PDF.js: a marked content id, a layer, or null. */
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

  /** Whether an enclosing layer is hidden. */
  get isOff(): boolean {
    return this.#off > 0;
  }
}

/** PDF.js passes a tag either as a Name object or as a string. */
const nameOf = (tag: unknown): unknown => (typeof tag === 'object' && tag !== null && 'name' in tag ? tag.name : tag);
