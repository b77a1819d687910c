/** Turns a SearXNG query into parameters of the search host. */
import { daysAgo } from '../days-ago.ts';
import { ENGINE_SITES, type SearxngQuery, TIME_RANGES, type TimeRange } from './fields.ts';

/** Maximum number of results on a page. */
const RESULTS = 20;
/** Time limit in seconds. LangChain and n8n wait for 5 s, LibreChat for 10. */
const TIMEOUT_S = 4;

export interface SearchFields {
  readonly given: Readonly<Record<string, unknown>>;
  readonly category: Category;
  /** Parameters that were sent and have no effect. */
  readonly ignored: readonly string[];
}

export type Category = 'general' | 'images' | 'news';
const TYPES = { general: 'web', images: 'images', news: 'news' } as const;

/** `providers` are the names of the providers of this server. */
export function toSearchFields(query: SearxngQuery, providers: readonly string[], now: number): SearchFields {
  const { text, category: bangCategory, language: bangLanguage } = readBangs(query.q ?? '');
  const category = bangCategory ?? categoryOf(query.categories ?? []);
  const [language = '', region] = (bangLanguage ?? query.language ?? '').split(/[-_]/);
  const hasLanguage = language !== '' && language !== 'all' && language !== 'auto';
  const engines = (query.engines ?? []).map((name) => name.toLowerCase());
  const known = engines.filter((name) => providers.includes(name));
  const sites = engines.flatMap((name) => ENGINE_SITES.get(name) ?? []);
  const isSiteSearch = sites.length > 0 && sites.length === engines.length;
  const unknown = engines.filter((name) => !known.includes(name) && !(isSiteSearch && ENGINE_SITES.has(name)));
  return {
    category,
    ignored: [unknown.length > 0 && 'engines', query.safesearch && 'safesearch'].filter(
      (name) => typeof name === 'string',
    ),
    given: {
      q: text,
      type: TYPES[category],
      num: RESULTS,
      page: query.pageno ?? query.pageNumber ?? 1,
      respondWith: 'no-content',
      timeout: TIMEOUT_S,
      ...(hasLanguage && { hl: language }),
      ...(hasLanguage && region?.length === 2 && { gl: region.toLowerCase() }),
      ...(known.length === 1 && !isSiteSearch && { provider: known[0] }),
      ...(isSiteSearch && { site: sites }),
      ...sinceOf(query.time_range, now),
    },
  };
}

function categoryOf(names: readonly string[]): Category {
  const known = names.map((name) => name.toLowerCase()).filter((name) => Object.hasOwn(TYPES, name)) as Category[];
  return known.includes('general') ? 'general' : (known[0] ?? 'general');
}

const isTimeRange = (word: string | undefined): word is TimeRange =>
  word !== undefined && Object.hasOwn(TIME_RANGES, word);

function sinceOf(range: string | undefined, now: number): { since?: string } {
  if (!isTimeRange(range)) return {};
  return { since: daysAgo(TIME_RANGES[range], now) };
}

interface Bangs {
  readonly text: string;
  readonly category?: Category | undefined;
  readonly language?: string | undefined;
}

/** Removes `!category` and `:language` from the beginning of a query (SearXNG's search syntax). Others stay. */
function readBangs(query: string): Bangs {
  let text = query.trim();
  let category: Category | undefined;
  let language: string | undefined;
  for (;;) {
    const found = /^(?:!(general|images|news)|:([a-z]{2}(?:[-_][a-zA-Z]{2})?))\s+(?=\S)/.exec(text);
    if (!found) return { text, category, language };
    category = (found[1] as Category | undefined) ?? category;
    language = found[2] ?? language;
    text = text.slice(found[0].length);
  }
}
