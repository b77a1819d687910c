/** Texts of a workbook: the table of shared strings, and formatted runs inside a cell. */
import { type Attributes, attributeIn, type XmlHandler } from '../../xml/read.ts';
import { inlineHtml, trimHtml } from '../html-output.ts';

/** Collects one text (`si`, `is`) from its runs. Phonetic text (furigana) is left out. */
export class RichText {
  private parts: string[] = [];
  private marks: string[] = [];
  private inText = false;
  private inPhonetic = false;
  private piece = '';

  open(name: string, attributes: Attributes): void {
    if (name === 'x:t') this.inText = !this.inPhonetic;
    else if (name === 'x:r') this.marks = [];
    else if (name === 'x:rPh') this.inPhonetic = true;
    else if (isOn(attributes)) {
      if (name === 'x:b') this.marks.push('b');
      else if (name === 'x:i') this.marks.push('i');
      else if (name === 'x:strike') this.marks.push('s');
      else if (name === 'x:vertAlign') this.raise(attributeIn(attributes, 'val'));
    }
  }

  private raise(value: string | undefined): void {
    if (value === 'superscript') this.marks.push('sup');
    else if (value === 'subscript') this.marks.push('sub');
  }

  text(text: string): void {
    if (this.inText) this.piece += text;
  }

  close(name: string): void {
    if (name === 'x:t') {
      if (this.piece !== '') this.parts.push(marked(inlineHtml(unescaped(this.piece)), this.marks));
      this.piece = '';
      this.inText = false;
    } else if (name === 'x:r') this.marks = [];
    else if (name === 'x:rPh') this.inPhonetic = false;
  }

  /** Returns the text as trimmed inline HTML and resets. */
  take(): string {
    const html = this.parts.length === 1 ? this.parts[0]! : this.parts.join('');
    this.parts = [];
    this.marks = [];
    return trimHtml(html);
  }
}

const isOn = (attributes: Attributes): boolean => {
  const value = attributeIn(attributes, 'val');
  return value !== '0' && value !== 'false';
};

/** Wraps the text in tags, with leading and trailing spaces outside. */
function marked(html: string, marks: readonly string[]): string {
  if (marks.length === 0) return html;
  const text = html.trim();
  if (text === '') return html;
  const start = html.length - html.trimStart().length;
  const open = marks.map((mark) => `<${mark}>`).join('');
  const close = marks.map((mark) => `</${mark}>`).reverse();
  return html.slice(0, start) + open + text + close.join('') + html.slice(start + text.length);
}

/** Characters that XML does not allow are written as `_x000D_` (ECMA-376 part 1, 22.9.2.19, ST_Xstring). */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;

/** The strings as inline HTML, in file order. `read` calls the handler with the content of the part. */
export function readSharedStrings(read: (handler: XmlHandler) => void): string[] {
  const strings: string[] = [];
  const rich = new RichText();
  const handler = {
    open: (name: string, attributes: Attributes) => rich.open(name, attributes),
    text: (text: string) => rich.text(text),
    close(name: string) {
      rich.close(name);
      if (name === 'x:si') strings.push(rich.take());
    },
  };
  read(handler);
  return strings;
}
