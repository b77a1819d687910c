/** Cell styles of Excel 2003 XML ("XML Spreadsheet Reference", `ss:Style`). */
import { ownValue } from '#own-value.ts';
import type { Attributes } from '../../xml/read.ts';
import { compileFormat, type NumberFormat } from './number-format.ts';
import { type CellStyle, isPlainFormat, PLAIN } from './styles.ts';

/** Formats that have a name instead of a code, as in US English. */
const NAMED: Readonly<Record<string, string>> = {
  'general number': 'General',
  'general date': 'm/d/yyyy h:mm',
  'long date': 'dddd, mmmm dd, yyyy',
  'medium date': 'd-mmm-yy',
  'short date': 'm/d/yyyy',
  'long time': 'h:mm:ss AM/PM',
  'medium time': 'h:mm AM/PM',
  'short time': 'h:mm',
  currency: '"$"#,##0.00_);("$"#,##0.00)',
  'euro currency': '"€"#,##0.00_);("€"#,##0.00)',
  fixed: '0.00',
  standard: '#,##0.00',
  percent: '0.00%',
  scientific: '0.00E+00',
  'yes/no': '"Yes";"Yes";"No"',
  'true/false': '"True";"True";"False"',
  'on/off': '"On";"On";"Off"',
};

interface Definition {
  readonly parent: string | undefined;
  bold?: boolean;
  white?: boolean;
  filled?: boolean;
  code?: string;
}

/** Longer chains of parents are cyclic. */
const LONGEST_CHAIN = 32;
const DEFAULT = 'Default';

export type Value = (attribute: string) => string | undefined;

/** Collects the styles of a workbook. Cells refer to them by the index that `indexOf` returns. */
export class ExcelXmlStyles {
  readonly #definitions = new Map<string, Definition>();
  readonly #indexes = new Map<string, number>();
  readonly #styles: CellStyle[] = [];
  readonly #formats = new Map<string, NumberFormat | undefined>();
  #open: Definition | undefined;
  date1904 = false;

  /** An element inside `ss:Styles`. */
  open(name: string, value: Value): void {
    const style = this.#open;
    if (name === 'ss:Style') {
      this.#open = { parent: value('Parent') };
      this.#definitions.set(value('ID') ?? '', this.#open);
    } else if (!style) return;
    else if (name === 'ss:Font') {
      const [bold, color] = [value('Bold'), value('Color')];
      if (bold !== undefined) style.bold = bold === '1';
      if (color !== undefined) style.white = /^#ffffff$/i.test(color);
    } else if (name === 'ss:Interior') {
      const isWhite = /^#ffffff$/i.test(value('Color') ?? '');
      style.filled = !isWhite && (value('Pattern') ?? 'None') !== 'None';
    } else if (name === 'ss:NumberFormat') style.code = value('Format') ?? 'General';
  }

  readonly style = (index: number): CellStyle => this.#styles[index] ?? PLAIN;

  indexOf(id = DEFAULT): number {
    let index = this.#indexes.get(id);
    if (index === undefined) {
      index = this.#styles.push(this.#resolve(id)) - 1;
      this.#indexes.set(id, index);
    }
    return index;
  }

  #resolve(id: string): CellStyle {
    const chain: Definition[] = [];
    let next = this.#definitions.get(id);
    while (next && chain.length < LONGEST_CHAIN) {
      chain.push(next);
      next = next.parent === undefined ? undefined : this.#definitions.get(next.parent);
    }
    const first = <Key extends keyof Definition>(key: Key) => chain.find((one) => one[key] !== undefined)?.[key];
    return {
      format: this.#formatOf(first('code') ?? 'General'),
      bold: first('bold') ?? false,
      white: (first('white') ?? false) && !(first('filled') ?? false),
    };
  }

  #formatOf(written: string): NumberFormat | undefined {
    const code = ownValue(NAMED, written.toLowerCase()) ?? written;
    if (!this.#formats.has(code))
      this.#formats.set(code, isPlainFormat(code) ? undefined : compileFormat(code, this.date1904));
    return this.#formats.get(code);
  }
}

/** Attributes are in the namespace of the elements, but some programs write them without it. */
export const valueIn =
  (attributes: Attributes): Value =>
  (name) => {
    for (let at = 0; at < attributes.length; at += 2)
      if (attributes[at] === `ss:${name}` || attributes[at] === name) return attributes[at + 1];
    return undefined;
  };
