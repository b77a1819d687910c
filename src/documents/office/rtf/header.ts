/** Reads the header of an RTF file: fonts, colors, styles, lists, and metadata. */

import { ownValue } from '#own-value.ts';
import { isCodeFont } from '../fonts.ts';
import type { Numbering } from '../word/numbering.ts';
import { type Charset, charsetOfFont, charsetOfPage } from './charsets.ts';
import type { Sink } from './format.ts';
import { ListTable } from './numbering.ts';

interface Font {
  readonly name: string;
  readonly charset: Charset | undefined;
}

export interface Style {
  readonly name: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly outlineLevel: number | undefined;
}

const MAX_ENTRIES = 20_000;
const LONGEST = 2_000;
const WHITE = 0xffffff;

const ABOUT: Readonly<Record<string, string>> = {
  title: 'title',
  subject: 'subject',
  author: 'creator',
  operator: 'lastModifiedBy',
  keywords: 'keywords',
  doccomm: 'description',
  category: 'category',
  company: 'company',
  manager: 'manager',
  creatim: 'created',
  revtim: 'modified',
};

export class Header {
  readonly #fonts = new Map<number, Font>();
  readonly #colors: (number | undefined)[] = [];
  readonly #styles = new Map<number, Style>();
  readonly #lists = new ListTable();
  readonly #metadata: Record<string, string> = {};
  /** Whether characters are needed as numbers, for the label of a list. */
  wantsCodes = false;
  defaultFont = 0;

  get metadata(): Readonly<Record<string, string>> {
    return this.#metadata;
  }

  numbering(): Numbering {
    return this.#lists.numbering();
  }

  letter(code: number): void {
    this.#lists.letter(code);
  }

  charsetOf(font: number | undefined): Charset | undefined {
    return this.#fonts.get(font ?? this.defaultFont)?.charset;
  }

  /** Whether text in a font is code. False if the whole document uses such a font. */
  isCode(font: number | undefined): boolean {
    if (font === undefined || isCodeFont(this.#fonts.get(this.defaultFont)?.name)) return false;
    return isCodeFont(this.#fonts.get(font)?.name);
  }

  isWhite(color: number): boolean {
    return this.#colors[color] === WHITE;
  }

  styleOf(number: number | undefined): Style | undefined {
    return this.#styles.get(number ?? 0);
  }

  /** Returns the receiver for a group that begins with this word; `undefined` if it is not a header group. */
  sinkOf(word: string, outer: Sink | undefined): Sink | undefined {
    switch (word) {
      case 'fonttbl':
        return this.#fontSink();
      case 'colortbl':
        return this.#colorSink();
      case 'stylesheet':
        return this.#styleSink();
      case 'listtable':
      case 'listoverridetable':
        return this.#listSink;
      case 'leveltext':
        if (outer === this.#listSink) this.wantsCodes = true;
        return outer;
      case 'info':
        return this.#infoSink;
      default:
        return outer === this.#infoSink ? this.#aboutSink(word) : undefined;
    }
  }

  leave(word: string): void {
    if (word === 'leveltext') this.wantsCodes = false;
  }

  #fontSink(): Sink {
    let [number, charset, page, name] = [0, -1, -1, ''];
    return {
      control: (word, parameter = 0) => {
        if (word === 'f') [number, charset, page, name] = [parameter, -1, -1, ''];
        else if (word === 'fcharset') charset = parameter;
        else if (word === 'cpg') page = parameter;
      },
      text: (text) => {
        const end = text.indexOf(';');
        if (name.length < LONGEST) name += end < 0 ? text : text.slice(0, end);
        if (end < 0 || this.#fonts.size >= MAX_ENTRIES) return;
        const found = page > 0 ? charsetOfPage(page) : charsetOfFont(charset, name.trim());
        this.#fonts.set(number, { name: name.trim(), charset: found });
        name = '';
      },
    };
  }

  #colorSink(): Sink {
    let color: number | undefined;
    const shifts: Readonly<Record<string, number>> = { red: 16, green: 8, blue: 0 };
    return {
      control: (word, parameter = 0) => {
        const shift = ownValue(shifts, word);
        if (shift !== undefined) color = (color ?? 0) | ((parameter & 0xff) << shift);
      },
      text: (text) => {
        for (const letter of text) {
          if (letter !== ';' || this.#colors.length >= MAX_ENTRIES) continue;
          this.#colors.push(color);
          color = undefined;
        }
      },
    };
  }

  #styleSink(): Sink {
    let number: number | undefined = 0;
    let style = { name: '', bold: false, italic: false, outlineLevel: undefined as number | undefined };
    return {
      control: (word, parameter = 1) => {
        if (word === 's') number = parameter;
        else if (word === 'cs' || word === 'ds' || word === 'ts') number = undefined;
        else if (word === 'b') style.bold = parameter !== 0;
        else if (word === 'i') style.italic = parameter !== 0;
        else if (word === 'outlinelevel') style.outlineLevel = parameter;
      },
      text: (text) => {
        const end = text.indexOf(';');
        if (style.name.length < LONGEST) style.name += end < 0 ? text : text.slice(0, end);
        if (end < 0) return;
        const name = style.name.trim().toLowerCase();
        if (number !== undefined && this.#styles.size < MAX_ENTRIES) this.#styles.set(number, { ...style, name });
        number = 0;
        style = { name: '', bold: false, italic: false, outlineLevel: undefined };
      },
    };
  }

  readonly #listSink: Sink = {
    control: (word, parameter = 0) => {
      if (word === 'list') this.#lists.startList();
      else if (word === 'listoverride') this.#lists.startOverride();
      else if (word === 'listlevel') this.#lists.startLevel();
      else this.#lists.control(word, parameter);
    },
  };

  readonly #infoSink: Sink = {};

  #aboutSink(word: string): Sink {
    const name = ownValue(ABOUT, word);
    // If there are two authors, the first one is used.
    if (name === undefined || this.#metadata[name] !== undefined) return {};
    if (word.endsWith('tim')) return this.#timeSink(name);
    return {
      text: (text) => {
        this.#metadata[name] = ((this.#metadata[name] ?? '') + text).slice(0, LONGEST);
      },
    };
  }

  /** Times have no zone and are read as UTC. */
  #timeSink(name: string): Sink {
    const parts: Record<string, number> = { yr: 0, mo: 1, dy: 1, hr: 0, min: 0, sec: 0 };
    return {
      control: (word, parameter = 0) => {
        if (!Object.hasOwn(parts, word)) return;
        parts[word] = parameter;
        const time = Date.UTC(parts.yr!, parts.mo! - 1, parts.dy, parts.hr, parts.min, parts.sec);
        if (parts.yr! > 0 && !Number.isNaN(time)) this.#metadata[name] = new Date(time).toISOString();
      },
    };
  }
}
