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

export type Ended = (html: string) => void;

export class ListWriter {
  readonly #open: OpenList[] = [];
  #html: string[] = [];

  item({ level, ordered, value = 1, key, indent = 0 }: ListPlace, html: string, onEnd: Ended): void {
    while (this.#open.length > 0 && this.#open.at(-1)!.level > level) this.#close();
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
