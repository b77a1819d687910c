/**
 * Searches the documentation. An entry must contain every word. Matches in names and titles have the highest weight.
 */
type Page = readonly [url: string, title: string];
/** `title` is a heading, or the comma-separated names of a table row. */
type Entry = readonly [page: number, id: string, title: string, text: string];

/** The search index that scripts/site/build.ts writes. */
export interface Index {
  readonly pages: readonly Page[];
  readonly entries: readonly Entry[];
}

export interface Found {
  readonly url: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
  readonly score: number;
}

const MAX_RESULTS = 12;
const CONTEXT = 70;

/** Splits names into words, so that "links summary" also finds `withLinksSummary`. */
const plain = (text: string) =>
  text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[_\-./]+/g, ' ');

/** The forms of an entry that queries are compared with. */
interface Forms {
  readonly names: readonly string[];
  readonly heads: readonly string[];
  readonly body: string;
  readonly loose: string;
}

/** Computed once per entry, because the search runs at each key press. */
const made = new WeakMap<Entry, Forms>();

function formsOf(entry: Entry, page: string): Forms {
  const known = made.get(entry);
  if (known) return known;
  const [, , title, text] = entry;
  const names = title.split(', ');
  const heads = [title, ...names].flatMap((head) => [head.toLowerCase(), plain(head)]);
  const body = `${text} ${page}`.toLowerCase();
  const forms = { names, heads, body, loose: plain(body) };
  made.set(entry, forms);
  return forms;
}

function scoreOf(words: readonly string[], query: string, entry: Entry, [url, page]: Page): number {
  const { names, heads, body, loose } = formsOf(entry, page);
  let score = 0;
  for (const word of words) {
    if (heads.some((head) => head === word)) score += 20;
    else if (heads.some((head) => head.startsWith(word))) score += 10;
    else if (heads.some((head) => head.includes(word))) score += 6;
    else if (body.includes(word) || loose.includes(word)) score += 1;
    else return 0;
  }
  const whole = words.join(' ');
  // A setting and its metric may differ only in case.
  if (names.includes(query)) score += 1;
  if (names.some((name) => name.toLowerCase() === whole)) score += 60;
  else if (heads.includes(whole)) score += 30;
  // The reference defines the options, so it ranks above guides that mention them.
  return url.includes('/reference/') ? score + 20 : score;
}

/** Returns the best entries for a query, best first. */
export function search({ pages, entries }: Index, query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: Found[] = [];
  for (const entry of entries) {
    const [at, id, title, text] = entry;
    const [url, page] = pages[at]!;
    const score = scoreOf(words, query.trim(), entry, pages[at]!);
    if (score > 0) found.push({ url: `${url}#${id}`, title, page, text: excerpt(text, words[0]!), score });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, MAX_RESULTS);
}

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word));
  const from = Math.max(0, at - CONTEXT);
  return `${from ? '…' : ''}${text.slice(from, at + 2 * CONTEXT)}${at + 2 * CONTEXT < text.length ? '…' : ''}`;
}
