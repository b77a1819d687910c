/** Nests list items by their levels. */

export interface ListPlace {
  /** Counted from 0. */
  readonly level: number;
  readonly ordered: boolean;
  /** The number shown. */
  readonly value?: number | undefined;
  /** Distinguishes lists at the same level. */
  readonly key: string;
  readonly indent?: number | undefined;
}

interface OpenList {
  readonly level: number;
  readonly ordered: boolean;
  readonly key: string;
  indent: number;
  last: number;
}

/** The least indent of a nested list from the list around it, in twentieths of a point. */
const INDENT_STEP = 360;

export type Ended = (html: string) => void;

export class ListWriter {
  readonly #open: OpenList[] = [];
  /** The lists that have begun. */
  readonly #keys = new Set<string>();
  #html: string[] = [];

  item({ level, ordered, value = 1, key, indent = 0 }: ListPlace, html: string, onEnd: Ended): void {
    const own = this.#open.findLastIndex(
      (list) => list.key === key && list.level === level && list.ordered === ordered,
    );
    if (own >= 0) while (this.#open.length > own + 1) this.#close();
    while (this.#isBelow(level, key, indent)) this.#close();
    this.#keys.add(key);
    let list = this.#open.at(-1);
    if (list && list.level === level && (list.ordered !== ordered || (ordered && list.key !== key))) {
      this.#close();
      list = this.#open.at(-1);
      if (!list) this.end(onEnd);
    }
    if (list && list.level === level) {
      this.#html.push(ordered && value !== list.last + 1 ? `</li>\n<li value="${value}">` : '</li>\n<li>', html);
    } else {
      list = { level, ordered, key, indent, last: value };
      this.#open.push(list);
      this.#html.push(ordered ? (value === 1 ? '<ol><li>' : `<ol start="${value}"><li>`) : '<ul><li>', html);
    }
    list.last = value;
    list.indent = indent;
  }

  /**
   * Whether the open list is deeper than an item. Levels of different lists cannot be compared: a new list that is
   * indented further is nested, whatever its level.
   */
  #isBelow(level: number, key: string, indent: number): boolean {
    const list = this.#open.at(-1);
    if (!list || list.level <= level) return false;
    return this.#keys.has(key) || list.indent <= 0 || indent < list.indent + INDENT_STEP;
  }

  /** Adds a paragraph to the open item if it has the item's indent. Returns whether it did. */
  continueItem(html: string, indent = 0): boolean {
    const list = this.#open.at(-1);
    if (!list || indent <= 0 || list.indent <= 0) return false;
    while (this.#open.length > 0 && this.#open.at(-1)!.indent > indent) {
      if (this.#open.length === 1) return false;
      this.#close();
    }
    this.#html.push(`<p>${html}</p>`);
    return true;
  }

  #close(): void {
    this.#html.push(this.#open.pop()!.ordered ? '</li></ol>' : '</li></ul>');
  }

  /** Ends all open lists and passes on their HTML. */
  end(ended: Ended): void {
    if (this.#html.length === 0) return;
    while (this.#open.length > 0) this.#close();
    ended(this.#html.join(''));
    this.#html = [];
  }
}
