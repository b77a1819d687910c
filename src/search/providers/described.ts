/**
 * A provider that returns JSON, defined in the settings with placeholders and paths. Nothing in the settings is
 * executed.
 */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import { languageTag } from '../languages.ts';
import { ALL_OPERATORS } from '../operators.ts';
import { DESCRIBED_FIELDS, type DescribedProvider, type Provider, type ProviderSettings } from '../provider.ts';
import type { SearchQuery } from '../query.ts';

/** Placeholders, in braces, for a URL, a header or a body. */
export const PLACEHOLDERS = [
  'query',
  'words',
  'count',
  'page',
  'offset',
  'first',
  'country',
  'language',
  'kind',
  'key',
] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];
export const PLACEHOLDER = new RegExp(`\\{(${PLACEHOLDERS.join('|')})\\}`, 'g');
const ALONE = /^\{(count|page|offset|first)\}$/;
const MAX_DEPTH = 20;

export const described = ({ kinds, maxCount, paging }: DescribedProvider): Provider => ({
  name: 'json',
  kinds,
  needsKey: false,
  paging,
  maxCount,
  operators: ALL_OPERATORS,
  request(query, settings) {
    const { method, headers, body } = settings.described!;
    const values = valuesOf(query, settings);
    return {
      url: new URL(fill(settings.url, values, encodeURIComponent)),
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, fill(text, values, headerSafe)])),
      },
      ...(body !== undefined && { body: JSON.stringify(filled(body, values, MAX_DEPTH)) }),
    };
  },
  parse(answer, _, { described: description }) {
    const { results, fields } = description!;
    return objectsIn(valueAt(answer, results)).flatMap((result) => {
      const found = DESCRIBED_FIELDS.flatMap((name) => (fields[name] ? [[name, valueAt(result, fields[name])]] : []));
      return toHit({ title: undefined, url: undefined, ...Object.fromEntries(found) });
    });
  },
});

type Values = Readonly<Record<Placeholder, string | number>>;

function valuesOf(query: SearchQuery, { key = '' }: ProviderSettings): Values {
  const { text, words, count, page, country = '', language, kind } = query;
  const offset = (page - 1) * count;
  const tag = language === undefined ? '' : languageTag(language);
  return { query: text, words, count, page, offset, first: offset + 1, country, language: tag, kind, key };
}

const fill = (template: string, values: Values, encode: (text: string) => string): string =>
  template.replace(PLACEHOLDER, (_, name: Placeholder) => encode(String(values[name])));

/** Removes characters that a header must not contain, such as line breaks. */
const headerSafe = (text: string) => text.replace(/[^\x20-\x7e]/g, '');

/**
 * Copies a template with its placeholders filled in. If a string consists only of a numeric placeholder, it becomes a
 * number.
 */
function filled(template: unknown, values: Values, depth: number): unknown {
  if (typeof template === 'string') {
    const [, name] = ALONE.exec(template) ?? [];
    return name ? values[name as Placeholder] : fill(template, values, (text) => text);
  }
  if (typeof template !== 'object' || template === null || depth === 0) return template;
  if (Array.isArray(template)) return template.map((item) => filled(item, values, depth - 1));
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, values, depth - 1)]));
}
