/** Search operators: adds them to the text of a query, and checks hits against them. */
import type { Hit } from './hit.ts';
import type { Operators, SearchQuery } from './query.ts';

export type OperatorName = Exclude<keyof Operators, 'phrases' | 'excluded'>;

/** Operators that callers may send as parameters, in the order in which they are written. */
export const GIVEN_OPERATORS = ['ext', 'filetype', 'intitle', 'loc', 'site'] as const;
export type GivenOperators = Readonly<Partial<Record<(typeof GIVEN_OPERATORS)[number], readonly string[]>>>;

const EVERY: readonly OperatorName[] = ['ext', 'filetype', 'intitle', 'inurl', 'loc', 'site', 'notSite'];
export const ALL_OPERATORS: ReadonlySet<OperatorName> = new Set(EVERY);
export const NO_OPERATOR: ReadonlySet<OperatorName> = new Set();

const formatOperator = (name: string, value: string) => `${name}:${/\s/.test(value) ? `"${value}"` : value}`;

/**
 * Builds the text sent to providers. A single group of operators has no brackets; several groups are each enclosed in
 * brackets (docs/reference/wire/search.md, Operators).
 */
export function composeText(words: string, given: GivenOperators): string {
  const groups = GIVEN_OPERATORS.flatMap((name) => {
    const values = (given[name] ?? []).map((value) => value.replaceAll('"', '').trim()).filter(Boolean);
    return values.length ? [values.map((value) => formatOperator(name, value)).join(' OR ')] : [];
  });
  const operators = groups.length > 1 ? groups.map((group) => `(${group})`).join(' AND ') : groups.join('');
  return [words, operators].filter(Boolean).join(' ');
}

/** Returns the operators of a query that a provider does not support. */
const unsupportedOperators = ({ operators }: SearchQuery, supported: ReadonlySet<OperatorName>): OperatorName[] =>
  EVERY.filter((name) => operators[name].length > 0 && !supported.has(name));

export const hasUnsupported = (query: SearchQuery, supported: ReadonlySet<OperatorName>): boolean =>
  unsupportedOperators(query, supported).length > 0;

/**
 * Builds the query text for a provider that supports only these operators. Other operators are omitted, because the
 * provider would search for them as words.
 */
export function textFor(query: SearchQuery, supported: ReadonlySet<OperatorName>): string {
  return hasUnsupported(query, supported)
    ? [bareText(query), ...EVERY.filter((name) => supported.has(name)).flatMap((name) => group(query, name))].join(' ')
    : query.text;
}

function group({ operators }: SearchQuery, name: OperatorName): string[] {
  const values = operators[name];
  if (name === 'notSite') return values.map((value) => `-${formatOperator('site', value)}`);
  return values.length ? [values.map((value) => formatOperator(name, value)).join(' OR ')] : [];
}

/**
 * Returns the words, with quotes around phrases and a minus before excluded words. If the query has no words, returns
 * the whole text.
 */
export function bareText({ text, words, operators: { phrases, excluded } }: SearchQuery): string {
  if (!words) return text;
  const quoted = phrases.reduce((all, phrase) => all.replace(phrase, () => `"${phrase}"`), words);
  return [quoted, ...excluded.map((text) => `-${/\s/.test(text) ? `"${text}"` : text}`)].filter(Boolean).join(' ');
}

/**
 * Whether a hit matches the operators that its provider did not apply. `loc` always matches, because the country of a
 * page is unknown.
 */
export function matchesOperators(hit: Hit, query: SearchQuery, supported: ReadonlySet<OperatorName>): boolean {
  const names = unsupportedOperators(query, supported);
  if (!names.length) return true;
  const url = new URL(hit.url);
  const path = url.pathname.toLowerCase();
  const title = hit.title.toLowerCase();
  const lowerUrl = hit.url.toLowerCase();
  const tests: Record<OperatorName, (value: string) => boolean> = {
    site: (value) => isBelow(url, value),
    notSite: (value) => isBelow(url, value),
    ext: (value) => path.endsWith(`.${value}`),
    filetype: (value) => path.endsWith(`.${value}`),
    intitle: (value) => title.includes(value),
    inurl: (value) => lowerUrl.includes(value),
    loc: () => true,
  };
  return names.every((name) => query.operators[name].some(tests[name]) !== (name === 'notSite'));
}

/** Whether a URL is on a host or one of its subdomains, and below the site's path if there is one. */
function isBelow({ hostname, pathname }: URL, site: string): boolean {
  const [host = '', ...rest] = site
    .replace(/^https?:\/\//, '')
    .replace(/^(?:www|\*)\./, '')
    .split('/');
  const name = hostname.toLowerCase();
  const onHost = name === host || name.endsWith(host.startsWith('.') ? host : `.${host}`);
  return onHost && pathname.toLowerCase().startsWith(`/${rest.join('/')}`);
}
