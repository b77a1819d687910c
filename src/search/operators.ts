/** Operators of a query: how they are written into its text, and whether a hit keeps to them. */
import type { Hit } from './hit.ts';
import type { Operators, SearchQuery } from './query.ts';

export type OperatorName = Exclude<keyof Operators, 'phrases' | 'excluded'>;

/** Those that callers may give beside the query, in the order in which their groups are written. */
export const GIVEN_OPERATORS = ['ext', 'filetype', 'intitle', 'loc', 'site'] as const;
export type GivenOperators = Readonly<Partial<Record<(typeof GIVEN_OPERATORS)[number], readonly string[]>>>;

const EVERY: readonly OperatorName[] = ['ext', 'filetype', 'intitle', 'inurl', 'loc', 'site', 'notSite'];
export const ALL_OPERATORS: ReadonlySet<OperatorName> = new Set(EVERY);
export const NO_OPERATOR: ReadonlySet<OperatorName> = new Set();

const formatOperator = (name: string, value: string) => `${name}:${/\s/.test(value) ? `"${value}"` : value}`;

/** The query with operators as providers are sent it (contract, section 3.1): one group bare, several in brackets. */
export function composeText(words: string, given: GivenOperators): string {
  const groups = GIVEN_OPERATORS.flatMap((name) => {
    const values = (given[name] ?? []).map((value) => value.replaceAll('"', '').trim()).filter(Boolean);
    return values.length ? [values.map((value) => formatOperator(name, value)).join(' OR ')] : [];
  });
  const narrowed = groups.length > 1 ? groups.map((group) => `(${group})`).join(' AND ') : groups.join('');
  return [words, narrowed].filter(Boolean).join(' ');
}

/** The operators of a query that are not among those understood. */
const unsupportedOperators = ({ operators }: SearchQuery, understood: ReadonlySet<OperatorName>): OperatorName[] =>
  EVERY.filter((name) => operators[name].length > 0 && !understood.has(name));

export const hasUnsupported = (query: SearchQuery, understood: ReadonlySet<OperatorName>): boolean =>
  unsupportedOperators(query, understood).length > 0;

/** What a service is sent that understands only these: the text as it is, or without the operators it would search for. */
export function textFor(query: SearchQuery, understood: ReadonlySet<OperatorName>): string {
  return hasUnsupported(query, understood)
    ? [bareText(query), ...EVERY.filter((name) => understood.has(name)).flatMap((name) => group(query, name))].join(' ')
    : query.text;
}

function group({ operators }: SearchQuery, name: OperatorName): string[] {
  const values = operators[name];
  if (name === 'notSite') return values.map((value) => `-${formatOperator('site', value)}`);
  return values.length ? [values.map((value) => formatOperator(name, value)).join(' OR ')] : [];
}

/** The words, phrases in quotes and what is excluded with a minus; the whole text when there is nothing of it. */
export function bareText({ text, words, operators: { phrases, excluded } }: SearchQuery): string {
  if (!words) return text;
  const quoted = phrases.reduce((all, phrase) => all.replace(phrase, () => `"${phrase}"`), words);
  return [quoted, ...excluded.map((text) => `-${/\s/.test(text) ? `"${text}"` : text}`)].filter(Boolean).join(' ');
}

/** Whether a hit keeps to the operators that its provider did not understand. Countries of pages cannot be told. */
export function matchesOperators(hit: Hit, query: SearchQuery, understood: ReadonlySet<OperatorName>): boolean {
  const names = unsupportedOperators(query, understood);
  if (!names.length) return true;
  const url = new URL(hit.url);
  const path = url.pathname.toLowerCase();
  const title = hit.title.toLowerCase();
  const address = hit.url.toLowerCase();
  const holds: Record<OperatorName, (value: string) => boolean> = {
    site: (value) => isBelow(url, value),
    notSite: (value) => isBelow(url, value),
    ext: (value) => path.endsWith(`.${value}`),
    filetype: (value) => path.endsWith(`.${value}`),
    intitle: (value) => title.includes(value),
    inurl: (value) => address.includes(value),
    loc: () => true,
  };
  return names.every((name) => query.operators[name].some(holds[name]) !== (name === 'notSite'));
}

/** Whether an address is on a host or below it, and below the path when the site has one. */
function isBelow({ hostname, pathname }: URL, site: string): boolean {
  const [host = '', ...rest] = site
    .replace(/^https?:\/\//, '')
    .replace(/^(?:www|\*)\./, '')
    .split('/');
  const name = hostname.toLowerCase();
  const onHost = name === host || name.endsWith(host.startsWith('.') ? host : `.${host}`);
  return onHost && pathname.toLowerCase().startsWith(`/${rest.join('/')}`);
}
