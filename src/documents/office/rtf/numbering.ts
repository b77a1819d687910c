/** Converts the RTF list table to the definitions that Word's counters use. */
import { countNumbers, type Level, type Numbering } from '../word/numbering.ts';

/** Number formats by the value of `\levelnfc`. */
const FORMATS: Readonly<Record<number, string>> = {
  0: 'decimal',
  1: 'upperRoman',
  2: 'lowerRoman',
  3: 'upperLetter',
  4: 'lowerLetter',
  22: 'decimalZero',
  23: 'bullet',
  255: 'none',
};

interface RtfLevel {
  format: number;
  start: number;
  indent: number | undefined;
  /** A length, followed by that many characters; codes below 9 stand for level numbers. */
  readonly text: number[];
}

interface Override {
  listId: number;
  /** The level being overridden. */
  level: number;
  readonly starts: Map<number, number>;
}

const MAX_LISTS = 10_000;
const MAX_LEVELS = 9;
const LONGEST_TEXT = 100;

/** Collects lists while the table is read. An override of an unknown list is ignored. */
export class ListTable {
  readonly #lists = new Map<number, readonly RtfLevel[]>();
  readonly #overrides = new Map<number, Override>();
  #levels: RtfLevel[] = [];
  #override: Override | undefined;

  startList(): void {
    this.#levels = [];
  }

  /** Called where the list table ends and overrides begin. */
  startOverride(): void {
    this.#override = { listId: 0, level: -1, starts: new Map() };
  }

  startLevel(): void {
    if (!this.#override && this.#levels.length < MAX_LEVELS)
      this.#levels.push({ format: 0, start: 1, indent: undefined, text: [] });
  }

  control(word: string, parameter: number): void {
    if (this.#override) this.#overrideControl(this.#override, word, parameter);
    else if (word === 'listid') {
      if (this.#levels.length > 0 && this.#lists.size < MAX_LISTS) this.#lists.set(parameter, this.#levels);
    } else this.#levelControl(word, parameter);
  }

  #levelControl(word: string, parameter: number): void {
    const level = this.#levels.at(-1);
    if (!level) return;
    if (word === 'levelnfc' || word === 'levelnfcn') level.format = parameter;
    else if (word === 'levelstartat') level.start = parameter;
    else if (word === 'li' || word === 'lin') level.indent = parameter;
  }

  #overrideControl(override: Override, word: string, parameter: number): void {
    if (word === 'listid') override.listId = parameter;
    else if (word === 'lfolevel') override.level += 1;
    else if (word === 'levelstartat' && override.level < MAX_LEVELS) override.starts.set(override.level, parameter);
    else if (word === 'ls' && this.#overrides.size < MAX_LISTS) this.#overrides.set(parameter, override);
  }

  letter(code: number): void {
    const text = this.#levels.at(-1)?.text;
    if (text && text.length < LONGEST_TEXT) text.push(code);
  }

  /** Lists are identified by the number of their override. */
  numbering(): Numbering {
    return countNumbers((id) => {
      const { listId = 0, starts = new Map() } = this.#overrides.get(Number(id)) ?? {};
      const levels = this.#lists.get(listId);
      if (!levels) return undefined;
      return {
        abstractId: String(listId),
        levels: new Map(levels.map((level, at) => [at, toLevel(level)])),
        starts,
      };
    });
  }
}

function toLevel({ format, start, indent, text: [length = 0, ...letters] }: RtfLevel): Level {
  const text = letters
    .slice(0, length)
    .map((code) => (code < MAX_LEVELS ? `%${code + 1}` : String.fromCharCode(code)))
    .join('');
  return {
    start,
    format: FORMATS[format] ?? 'decimal',
    text,
    style: undefined,
    legal: false,
    restart: undefined,
    indent,
  };
}
