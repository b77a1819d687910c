/** Hacker News, stories about technology and their discussions: https://hn.algolia.com/api */
import { finiteNumber, objectsIn, plainLine, toHit, toSiteLink, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

const ITEM = 'https://news.ycombinator.com/item?id=';
const MAX_QUERY = 500;

export const hackernews: Provider = {
  name: 'hackernews',
  kinds: ['web', 'news'],
  needsKey: false,
  url: 'https://hn.algolia.com',
  paging: 'exact',
  maxCount: 50,
  // About 1,000 results can be requested for a query.
  maxPage: 20,
  operators: NO_OPERATOR,
  takesDates: true,
  source: {
    groups: ['discussions'],
    operator: 'hackernews',
    // The limit is said to be 10,000 an hour.
    limits: [{ requests: 2, seconds: 1 }],
    languages: ['en'],
    documentation: 'https://hn.algolia.com/api',
  },
  request(query, { url }) {
    const { count, page, since, until } = query;
    const filters = [
      ...(since === undefined ? [] : [`created_at_i>=${Math.floor(since / 1_000)}`]),
      ...(until === undefined ? [] : [`created_at_i<${Math.floor(until / 1_000)}`]),
    ];
    return getJson(
      buildUrl(url, '/api/v1/search', {
        query: plainWords(query).slice(0, MAX_QUERY),
        tags: 'story',
        page: page - 1,
        hitsPerPage: count,
        numericFilters: filters.join(',') || undefined,
      }),
    );
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'hits')).flatMap((story) => {
      const discussion =
        typeof story.objectID === 'string' && /^\d+$/.test(story.objectID) ? ITEM + story.objectID : '';
      const facts = `${finiteNumber(story.points) ?? 0} points, ${finiteNumber(story.num_comments) ?? 0} comments`;
      return toHit({
        title: story.title,
        // Text posts have no URL.
        url: story.url || discussion,
        description: [facts, plainLine(story.story_text)].filter(Boolean).join('. '),
        source: 'Hacker News',
        date: story.created_at,
        siteLinks: story.url ? toSiteLink('Discussion on Hacker News', discussion) : undefined,
      });
    }),
};
