/** Markdown as the words that a reader sees: addresses of links and pictures, marks and table rules fall away. */

const MAX_ADDRESS_UNITS = 4_000;
/** Marks within a line that are no words. */
const MARKS = /[*`|~\\]+/g;
const LINE_START = /^[ \t]*(?:#{1,6} |>[ >]*|[-+] |\d{1,9}[.)] )+/;
const RULE = /^[\s|:=_*-]+$/;

/** One line of plain text a line of Markdown, empty ones left out. Linear. */
export function plainOf(markdown: string): string {
  const lines: string[] = [];
  for (const line of withoutAddresses(markdown).split('\n')) {
    if (line.length === 0 || RULE.test(line)) continue;
    const plain = line.replace(LINE_START, '').replace(MARKS, ' ').trim();
    if (plain) lines.push(plain);
  }
  return lines.join('\n');
}

/** `[words](address "title")` is its words. */
function withoutAddresses(markdown: string): string {
  let plain = '';
  let at = 0;
  for (let bracket = markdown.indexOf(']('); bracket >= 0; bracket = markdown.indexOf('](', at)) {
    const end = endOfAddress(markdown, bracket + 2);
    plain += markdown.slice(at, bracket);
    if (end < 0) plain += ' ';
    at = end < 0 ? bracket + 2 : end;
  }
  plain += markdown.slice(at);
  return plain.replace(/!?\[|\]/g, '');
}

/** After the parenthesis that closes; -1 when none does in this line. */
function endOfAddress(markdown: string, start: number): number {
  const limit = Math.min(markdown.length, start + MAX_ADDRESS_UNITS);
  let depth = 1;
  for (let at = start; at < limit; at++) {
    const unit = markdown.charCodeAt(at);
    if (unit === 0x0a) return -1;
    if (unit === 0x5c) at += 1;
    else if (unit === 0x28) depth += 1;
    else if (unit === 0x29) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
