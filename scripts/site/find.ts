/** Finds places in the documentation: every word must be there, and names and titles count most. */
type Page = readonly [address: string, title: string];
/** `title` is a heading, or the names of a row of a table, joined by a comma. */
type Entry = readonly [page: number, id: string, title: string, text: string];

/** As scripts/site/build.ts writes it. */
export interface Index {
  readonly pages: readonly Page[];
  readonly entries: readonly Entry[];
}

export interface Found {
  readonly address: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
  readonly score: number;
}

const MOST_FOUND = 12;
const CONTEXT = 70;

/** `withLinksSummary` is also found by its words: with links summary. */
const plain = (text: string) =>
  text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[_\-./]+/g, ' ');

function scoreOf(words: readonly string[], query: string, [, , title, text]: Entry, [address, page]: Page): number {
  const names = title.split(', ');
  const heads = [title, ...names].flatMap((head) => [head.toLowerCase(), plain(head)]);
  const body = `${text} ${page}`.toLowerCase();
  const loose = plain(body);
  let score = 0;
  for (const word of words) {
    if (heads.some((head) => head === word)) score += 20;
    else if (heads.some((head) => head.startsWith(word))) score += 10;
    else if (heads.some((head) => head.includes(word))) score += 6;
    else if (body.includes(word) || loose.includes(word)) score += 1;
    else return 0;
  }
  const whole = words.join(' ');
  // A setting and the metric of it may differ by their letters' case alone.
  if (names.includes(query)) score += 1;
  if (names.some((name) => name.toLowerCase() === whole)) score += 60;
  else if (heads.includes(whole)) score += 30;
  // What an option is stands in the reference; guides tell what it is good for.
  return address.includes('/reference/') ? score + 20 : score;
}

/** The best places for a query, best first. */
export function search({ pages, entries }: Index, query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: Found[] = [];
  for (const entry of entries) {
    const [at, id, title, text] = entry;
    const [address, page] = pages[at]!;
    const score = scoreOf(words, query.trim(), entry, pages[at]!);
    if (score > 0) found.push({ address: `${address}#${id}`, title, page, text: excerpt(text, words[0]!), score });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, MOST_FOUND);
}

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const from = Math.max(0, at - CONTEXT);
  return `${from ? '…' : ''}${text.slice(from, at + 2 * CONTEXT)}${at + 2 * CONTEXT < text.length ? '…' : ''}`;
}
