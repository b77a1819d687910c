/** Converts Markdown to the text that a reader sees, without link URLs, markup and table delimiter rows. */

const MAX_LINK_UNITS = 4_000;
/** Inline markup. */
const MARKS = /[*`|~\\]+/g;
const LINE_START = /^[ \t]*(?:#{1,6} |>[ >]*|[-+] |\d{1,9}[.)] )+/;
const RULE = /^[\s|:=_*-]+$/;

/** Returns one line of plain text for each line of Markdown and omits empty lines. Takes linear time. */
export function markdownToPlainText(markdown: string): string {
  const lines: string[] = [];
  for (const line of withoutLinkUrls(markdown).split('\n')) {
    if (line.length === 0 || RULE.test(line)) continue;
    const plain = line.replace(LINE_START, '').replace(MARKS, ' ').trim();
    if (plain) lines.push(plain);
  }
  return lines.join('\n');
}

/** Reduces `[words](url "title")` to its words. */
function withoutLinkUrls(markdown: string): string {
  let plain = '';
  let at = 0;
  for (let bracket = markdown.indexOf(']('); bracket >= 0; bracket = markdown.indexOf('](', at)) {
    const end = endOfLinkUrl(markdown, bracket + 2);
    plain += markdown.slice(at, bracket);
    if (end < 0) plain += ' ';
    at = end < 0 ? bracket + 2 : end;
  }
  plain += markdown.slice(at);
  return plain.replace(/!?\[|\]/g, '');
}

/** Returns the position after the closing parenthesis, or -1 if there is none on this line. */
function endOfLinkUrl(markdown: string, start: number): number {
  const limit = Math.min(markdown.length, start + MAX_LINK_UNITS);
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
