/** Numbering of list items and headings in OpenDocument. */
import { ownValue } from '#own-value.ts';
import { formatNumber } from './numerals.ts';
import type { ListLevel } from './odf-styles.ts';

const FORMATS: Readonly<Record<string, string>> = {
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
};

const format = (value: number, { format: name }: ListLevel): string =>
  name === '' ? '' : formatNumber(value, ownValue(FORMATS, name) ?? 'decimal');

/** Levels count from 1. */
export class Counter {
  readonly #counts: number[] = [];

  /** The next number at a level. Resets deeper levels. */
  next(level: number, start: number): number {
    this.#counts.length = Math.min(this.#counts.length, level + 1);
    const value = this.#counts[level] === undefined ? start : this.#counts[level] + 1;
    this.#counts[level] = value;
    return value;
  }

  /** Sets the number of the next item. */
  set(level: number, value: number): void {
    this.#counts[level] = value - 1;
  }

  restart(level: number): void {
    this.#counts.length = Math.min(this.#counts.length, level);
  }

  /** The number of the last item as shown: `1.2.`. */
  label(level: number, styleOf: (level: number) => ListLevel | undefined): string {
    const style = styleOf(level);
    if (!style || style.format === '') return '';
    const numbers: string[] = [];
    for (let at = Math.max(1, level - style.shown + 1); at <= level; at++) {
      const own = styleOf(at);
      const shown = own ? format(this.#counts[at] ?? own.start, own) : '';
      if (shown !== '') numbers.push(shown);
    }
    return `${style.prefix}${numbers.join('.')}${style.suffix}`.trim();
  }
}
