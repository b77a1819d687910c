/** HTML that is written piece by piece up to a bound, and what is written into it. */
import { escapeText } from '#html/serialize.ts';

/** Bytes of HTML, in UTF-8, that a whole document may become. */
export const MAX_HTML_BYTES = 32 * 1024 * 1024;

const SMALL_HTML_BYTES = 1024 * 1024;
const MAX_GROWTH = 100;

/**
 * What a spreadsheet of so many bytes may become. Cells can be repeated, and texts shared, so that a small file means
 * millions of words; those of real tables grow tenfold.
 */
export const maxHtmlBytes = (fileBytes: number): number =>
  Math.min(MAX_HTML_BYTES, Math.max(SMALL_HTML_BYTES, fileBytes * MAX_GROWTH));

/** The bound is shared by all pages of a document. */
export class HtmlOutput {
  private left: number;
  private pieces: string[] = [];

  constructor(maxBytes = MAX_HTML_BYTES) {
    this.left = maxBytes;
  }

  /** Whether something was refused because it did not fit; nothing is taken after that. */
  get full(): boolean {
    return this.left < 0;
  }

  /** False when the piece did not fit and was left out. */
  write(html: string): boolean {
    if (this.left < 0) return false;
    this.left -= html.length * 3 <= this.left ? Buffer.byteLength(html) : this.exactly(html);
    if (this.left < 0) return false;
    this.pieces.push(html);
    return true;
  }

  /** For end tags, which must not be missing: written even when the bound is reached. */
  close(html: string): void {
    this.pieces.push(html);
  }

  /** What was written since the last call. */
  take(): string {
    const html = this.pieces.join('');
    this.pieces = [];
    return html;
  }

  private exactly(html: string): number {
    const bytes = Buffer.byteLength(html);
    return bytes <= this.left ? bytes : this.left + 1;
  }
}

/** Without the control characters that no text has. */
const printable = (text: string): string =>
  /[\0-\x08\x0e-\x1f]/.test(text) ? text.replace(/[\0-\x08\x0e-\x1f]/g, '') : text;

/** Text as inline HTML with its line breaks. */
export function inlineHtml(text: string): string {
  const escaped = escapeText(printable(text));
  return /[\r\n\v\f]/.test(escaped) ? escaped.replace(/\r\n|[\r\n\v\f]/g, '<br>') : escaped;
}

/** The same without space around it. */
export const cellHtml = (text: string): string => inlineHtml(printable(text).trim());

/** Inline HTML without space or line breaks at its ends. */
export function trimHtml(html: string): string {
  let text = html.trim();
  while (text.startsWith('<br>')) text = text.slice(4).trimStart();
  let end = text.length;
  while (text.startsWith('<br>', end - 4) || /\s/.test(text[end - 1] ?? '')) end -= text[end - 1] === '>' ? 4 : 1;
  return text.slice(0, end);
}
