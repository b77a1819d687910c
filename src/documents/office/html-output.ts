/** Writes HTML piece by piece up to a size limit, and escapes its content. */
import { escapeText } from '#html/serialize.ts';

/** Maximum size of a document's HTML, in bytes of UTF-8. */
export const MAX_HTML_BYTES = 32 * 1024 * 1024;

const SMALL_HTML_BYTES = 1024 * 1024;
const MAX_GROWTH = 100;

/**
 * Maximum size of a spreadsheet's HTML, relative to the file size. Repeated cells and shared texts let a small file
 * expand to millions of words; real tables grow about tenfold.
 */
export const maxHtmlBytes = (fileBytes: number): number =>
  Math.min(MAX_HTML_BYTES, Math.max(SMALL_HTML_BYTES, fileBytes * MAX_GROWTH));

/** All pages of a document share the limit. */
export class HtmlOutput {
  private left: number;
  private pieces: string[] = [];

  constructor(maxBytes = MAX_HTML_BYTES) {
    this.left = maxBytes;
  }

  /** Whether a piece was refused because of the limit. No more pieces are accepted then. */
  get full(): boolean {
    return this.left < 0;
  }

  /** Returns false if the piece exceeded the limit and was left out. */
  write(html: string): boolean {
    if (this.left < 0) return false;
    this.left -= html.length * 3 <= this.left ? Buffer.byteLength(html) : this.exactly(html);
    if (this.left < 0) return false;
    this.pieces.push(html);
    return true;
  }

  /** Writes required end tags, even beyond the limit. */
  close(html: string): void {
    this.pieces.push(html);
  }

  /** Returns the HTML written since the last call. */
  takeHtml(): string {
    const html = this.pieces.join('');
    this.pieces = [];
    return html;
  }

  private exactly(html: string): number {
    const bytes = Buffer.byteLength(html);
    return bytes <= this.left ? bytes : this.left + 1;
  }
}

/** Removes control characters that do not belong in text. */
const printable = (text: string): string =>
  /[\0-\x08\x0e-\x1f]/.test(text) ? text.replace(/[\0-\x08\x0e-\x1f]/g, '') : text;

/** Text as inline HTML with its line breaks. */
export function inlineHtml(text: string): string {
  const escaped = escapeText(printable(text));
  return /[\r\n\v\f]/.test(escaped) ? escaped.replace(/\r\n|[\r\n\v\f]/g, '<br>') : escaped;
}

/** The same, trimmed. */
export const cellHtml = (text: string): string => inlineHtml(printable(text).trim());

/** Removes spaces and line breaks at the ends of inline HTML. */
export function trimHtml(html: string): string {
  let text = html.trim();
  while (text.startsWith('<br>')) text = text.slice(4).trimStart();
  let end = text.length;
  while (text.startsWith('<br>', end - 4) || /\s/.test(text[end - 1] ?? '')) end -= text[end - 1] === '>' ? 4 : 1;
  return text.slice(0, end);
}
