/** A parsed search query: words, operators, and restrictions. */

export type SearchKind = 'web' | 'images' | 'news';

export interface SearchQuery {
  /** The text sent to a provider: words and operators (docs/reference/wire/search.md, Operators). */
  readonly text: string;
  /** The words, including those of phrases, without operators and excluded words. */
  readonly words: string;
  readonly operators: Operators;
  readonly kind: SearchKind;
  /** Results per page; 0 for the provider's whole list. */
  readonly count: number;
  /** Counted from 1. */
  readonly page: number;
  /** Two letters, in lower case. */
  readonly country?: string | undefined;
  /** A language code in lower case: `en`, `zh-cn`. */
  readonly language?: string | undefined;
  readonly location?: string | undefined;
  readonly noCorrection: boolean;
  /** Time range of the pages, in ms since 1970; `until` is exclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * Values of one operator are alternatives; different operators must all match. All values are in lower case, except
 * phrases.
 */
export interface Operators {
  /** Hosts, including their subdomains, optionally with a path prefix: `a.com/docs`. */
  readonly site: readonly string[];
  readonly notSite: readonly string[];
  /** File extensions without a dot. */
  readonly filetype: readonly string[];
  readonly ext: readonly string[];
  readonly intitle: readonly string[];
  readonly inurl: readonly string[];
  /** Countries of the pages, as two-letter codes. */
  readonly loc: readonly string[];
  /** Each phrase must occur verbatim. */
  readonly phrases: readonly string[];
  /** Words and phrases that must not occur. */
  readonly excluded: readonly string[];
}

export const NO_OPERATORS: Operators = Object.freeze({
  site: [],
  notSite: [],
  filetype: [],
  ext: [],
  intitle: [],
  inurl: [],
  loc: [],
  phrases: [],
  excluded: [],
});

type OperatorName = 'site' | 'filetype' | 'ext' | 'intitle' | 'inurl' | 'loc';
const OPERATOR_NAMES: ReadonlySet<string> = new Set<OperatorName>([
  'site',
  'filetype',
  'ext',
  'intitle',
  'inurl',
  'loc',
]);
/** Longer queries are truncated. */
const MAX_CHARACTERS = 4_000;

/** Parses the user's query, and separates operators from words. Never throws; takes linear time. */
export function parseQuery(text: string, restrictions: Partial<Omit<SearchQuery, 'text' | 'words'>> = {}): SearchQuery {
  const found = parseOperators(text.slice(0, MAX_CHARACTERS));
  const given = restrictions.operators ?? NO_OPERATORS;
  const names = Object.keys(NO_OPERATORS) as (keyof Operators)[];
  const operators = Object.fromEntries(
    names.map((name) => [name, [...new Set([...given[name], ...found.operators[name]])]]),
  ) as unknown as Operators;
  return {
    kind: 'web',
    count: 10,
    page: 1,
    noCorrection: false,
    ...restrictions,
    text: text.slice(0, MAX_CHARACTERS),
    words: found.words,
    operators,
  };
}

/** A token of a query: an optional minus, an optional operator with its colon, and a value with or without quotes. */
const TOKEN = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|([^\s"()]+))|[()]/giu;
const CONNECTIVES: ReadonlySet<string> = new Set(['AND', 'OR']);

function parseOperators(text: string): { words: string; operators: Operators } {
  const operators = Object.fromEntries(Object.keys(NO_OPERATORS).map((name) => [name, [] as string[]])) as Record<
    keyof Operators,
    string[]
  >;
  const words: string[] = [];
  for (const [whole, minus, name, quoted, plain] of text.matchAll(TOKEN)) {
    const value = (quoted ?? plain)?.trim();
    if (!value || CONNECTIVES.has(whole)) continue;
    const operator = name?.toLowerCase();
    if (operator !== undefined && OPERATOR_NAMES.has(operator)) {
      const lower = value.toLowerCase();
      if (!minus) operators[operator as OperatorName].push(lower.replace(/^\.(?=\w)/, ''));
      else if (operator === 'site') operators.notSite.push(lower);
      continue;
    }
    const phrase = name === undefined ? value : `${name}:${value}`;
    if (minus) operators.excluded.push(phrase);
    else {
      words.push(phrase);
      if (quoted !== undefined && name === undefined) operators.phrases.push(value);
    }
  }
  return { words: words.join(' '), operators };
}

/** The words without quotes and operators, for services with a syntax of their own. */
export const plainWords = ({ words, text }: Pick<SearchQuery, 'words' | 'text'>): string => words || text;

/** The words without the special characters of Lucene, so that none of them changes the meaning of the query. */
export const luceneText = (query: Pick<SearchQuery, 'words' | 'text'>): string =>
  plainWords(query)
    .replace(/[+\-&|!(){}[\]^"~*?:\\/]+/g, ' ')
    .replace(/\b(?:AND|OR|NOT)\b/g, (word) => word.toLowerCase())
    .replace(/\s+/g, ' ')
    .trim();
