/** Writes search results in SearXNG's JSON format. All seven lists are always there, because clients read their length. */

import { isUrl } from '#is-url.ts';
import type { Answer } from '#search/index.ts';
import type { Category } from './to-search.ts';

type Result = Answer['results'][number];

export const TEMPLATES: Readonly<Record<Category, string>> = {
  general: 'default.html',
  images: 'images.html',
  news: 'default.html',
};

/** The name of the local index as an engine. */
const INDEX_ENGINE = 'lectern';

export function writeResults(query: string, category: Category, { results, providers, notice }: Answer): object {
  const engines = providers.map((name) => (name === 'reader' ? INDEX_ENGINE : name));
  const shown = results.filter(({ url }) => isUrl(url));
  return {
    query,
    number_of_results: shown.length,
    results: shown.map((result, at) => writeResult(result, { at, category, engines })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: shown.length === 0 && notice ? [[INDEX_ENGINE, notice]] : [],
  };
}

interface Place {
  /** From 0. */
  readonly at: number;
  readonly category: Category;
  readonly engines: readonly string[];
}

function writeResult(result: Result, { at, category, engines }: Place): object {
  const { protocol, host, pathname, search, hash } = new URL(result.url);
  const date = dateOf(result.date ?? result.publishedTime);
  return {
    url: result.url,
    title: result.title,
    content: result.description ?? '',
    engine: engines[0] ?? INDEX_ENGINE,
    engines: engines.length > 0 ? engines : [INDEX_ENGINE],
    score: 1 / (at + 1),
    category,
    template: TEMPLATES[category],
    parsed_url: [protocol.slice(0, -1), host, pathname, '', search.slice(1), hash.slice(1)],
    positions: [at + 1],
    publishedDate: date ?? null,
    ...(date !== undefined && { pubdate: date }),
    img_src: imageOf(result),
    thumbnail: imageOf(result),
    ...(result.imageWidth !== undefined &&
      result.imageHeight !== undefined && { resolution: `${result.imageWidth} x ${result.imageHeight}` }),
    ...(result.source !== undefined && { source: result.source }),
    priority: '',
  };
}

/** Clients parse this URL without a check, so a relative one is left out. */
const imageOf = ({ imageUrl }: Result): string => (imageUrl !== undefined && isUrl(imageUrl) ? imageUrl : '');

/** An ISO date; `undefined` for relative dates such as "2 days ago". */
function dateOf(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 19);
}
