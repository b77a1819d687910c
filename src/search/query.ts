/** What is searched for, with everything that narrows it. */

export type SearchKind = 'web' | 'images' | 'news';

export interface SearchQuery {
  /** As it is sent to a provider: the words with the operators (contract, section 3.1). */
  readonly text: string;
  /** The words alone, those of phrases among them, those that are excluded not. */
  readonly words: string;
  readonly operators: Operators;
  readonly kind: SearchKind;
  /** Results a page; 0 for the provider's list as it is. */
  readonly count: number;
  /** From 1. */
  readonly page: number;
  /** Two letters, in lower case. */
  readonly country?: string | undefined;
  /** A language code in lower case: `en`, `zh-cn`. */
  readonly language?: string | undefined;
  readonly location?: string | undefined;
  readonly noCorrection: boolean;
  /** Pages of that time only, in ms since 1970: from `since` up to `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Values of one operator are alternatives; different operators must all hold. All in lower case but phrases. */
export interface Operators {
  /** Hosts with everything below them, perhaps with the beginning of a path: `a.com/docs`. */
  readonly site: readonly string[];
  readonly notSite: readonly string[];
  /** Without a dot. */
  readonly filetype: readonly string[];
  readonly ext: readonly string[];
  readonly intitle: readonly string[];
  readonly inurl: readonly string[];
  /** Countries of the pages, by two letters. */
  readonly loc: readonly string[];
  /** Each must be there, word for word. */
  readonly phrases: readonly string[];
  /** Words and phrases, none of which may be there. */
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
/** Longer queries are read as far as this. */
const MAX_CHARACTERS = 4_000;

/** A query from what was typed: operators in the text are taken out of it. Never throws; linear in its length. */
export function parseQuery(text: string, narrowed: Partial<Omit<SearchQuery, 'text' | 'words'>> = {}): SearchQuery {
  const found = parseOperators(text.slice(0, MAX_CHARACTERS));
  const given = narrowed.operators ?? NO_OPERATORS;
  const names = Object.keys(NO_OPERATORS) as (keyof Operators)[];
  const operators = Object.fromEntries(
    names.map((name) => [name, [...new Set([...given[name], ...found.operators[name]])]]),
  ) as unknown as Operators;
  return {
    kind: 'web',
    count: 10,
    page: 1,
    noCorrection: false,
    ...narrowed,
    text: text.slice(0, MAX_CHARACTERS),
    words: found.words,
    operators,
  };
}

/** One piece of a query: a minus, an operator's name with its colon, and what is said, in quotes or not. */
const PIECE = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|([^\s"()]+))|[()]/giu;
const JOINTS: ReadonlySet<string> = new Set(['AND', 'OR']);

function parseOperators(text: string): { words: string; operators: Operators } {
  const operators = Object.fromEntries(Object.keys(NO_OPERATORS).map((name) => [name, [] as string[]])) as Record<
    keyof Operators,
    string[]
  >;
  const words: string[] = [];
  for (const [whole, minus, name, quoted, plain] of text.matchAll(PIECE)) {
    const value = (quoted ?? plain)?.trim();
    if (!value || JOINTS.has(whole)) continue;
    const operator = name?.toLowerCase();
    if (operator !== undefined && OPERATOR_NAMES.has(operator)) {
      const lower = value.toLowerCase();
      if (!minus) operators[operator as OperatorName].push(lower.replace(/^\.(?=\w)/, ''));
      else if (operator === 'site') operators.notSite.push(lower);
      continue;
    }
    const said = name === undefined ? value : `${name}:${value}`;
    if (minus) operators.excluded.push(said);
    else {
      words.push(said);
      if (quoted !== undefined && name === undefined) operators.phrases.push(value);
    }
  }
  return { words: words.join(' '), operators };
}
