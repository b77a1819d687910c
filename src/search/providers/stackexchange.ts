/**
 * Stack Exchange, questions and answers on many sites: https://api.stackexchange.com/docs/advanced-search. The `site`
 * parameter of the URL selects the site. Responses are always compressed.
 */
import { finiteNumber, isoDate, objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

const API = 'https://api.stackexchange.com/2.3';
/** The error code of too many requests (https://api.stackexchange.com/docs/error-handling). */
const THROTTLED = 502;
/** How long a throttled caller waits. The response does not say it in a field. */
const THROTTLED_MS = 3_600_000;
const MAX_BODY = 600;

interface Site {
  readonly name: string;
  /** The value of `site` in the API. */
  readonly site: string;
  readonly title: string;
  readonly host: string;
}

function createSite({ name, site, title, host }: Site): Provider {
  return {
    name,
    kinds: ['web'],
    needsKey: false,
    url: API,
    paging: 'exact',
    maxCount: 50,
    operators: NO_OPERATOR,
    takesDates: true,
    source: {
      groups: ['questions', 'code'],
      operator: 'stackexchange',
      limits: [
        { requests: 300, seconds: 86_400 },
        { requests: 2, seconds: 1 },
      ],
      keyLimits: [
        { requests: 10_000, seconds: 86_400 },
        { requests: 10, seconds: 1 },
      ],
      hosts: [host],
      languages: ['en'],
      documentation: 'https://api.stackexchange.com/docs/throttle',
    },
    request(query, { url, key }) {
      const { count, page, since, until } = query;
      const own = new URL(url).searchParams.get('site');
      return getJson(
        buildUrl(url, '/search/advanced', {
          q: plainWords(query),
          site: own ?? site,
          order: 'desc',
          sort: 'relevance',
          page,
          pagesize: count,
          filter: 'withbody',
          fromdate: since === undefined ? undefined : Math.floor(since / 1_000),
          todate: until === undefined ? undefined : Math.floor(until / 1_000),
          key,
        }),
      );
    },
    inspect(answer) {
      const seconds = finiteNumber(valueAt(answer, 'backoff')) ?? 0;
      const isUsedUp = valueAt(answer, 'quota_remaining') === 0;
      const code = valueAt(answer, 'error_id');
      const restMs = Math.max(seconds * 1_000, isUsedUp || code === THROTTLED ? THROTTLED_MS : 0);
      return { restMs, error: code === undefined ? undefined : 'answered with an error' };
    },
    parse: (answer) =>
      objectsIn(valueAt(answer, 'items')).flatMap((item) => {
        const answers = finiteNumber(item.answer_count) ?? 0;
        const facts = `${answers} ${answers === 1 ? 'answer' : 'answers'}${item.is_answered === true ? ', answered' : ''}`;
        const author = plainLine(valueAt(item, 'owner.display_name'), 100);
        const license = plainLine(item.content_license, 30) || 'CC BY-SA';
        return toHit({
          title: item.title,
          url: item.link,
          description: [facts, plainLine(item.body, MAX_BODY)].filter(Boolean).join('. '),
          source: title,
          date: isoDate(item.creation_date),
          attribution: [author, title, license].filter(Boolean).join(', '),
        });
      }),
  };
}

export const stackexchangeSites: readonly Provider[] = [
  createSite({ name: 'stackoverflow', site: 'stackoverflow', title: 'Stack Overflow', host: 'stackoverflow.com' }),
  createSite({ name: 'serverfault', site: 'serverfault', title: 'Server Fault', host: 'serverfault.com' }),
  createSite({ name: 'superuser', site: 'superuser', title: 'Super User', host: 'superuser.com' }),
  createSite({ name: 'askubuntu', site: 'askubuntu', title: 'Ask Ubuntu', host: 'askubuntu.com' }),
  createSite({ name: 'unix', site: 'unix', title: 'Unix & Linux', host: 'unix.stackexchange.com' }),
  createSite({ name: 'mathematics', site: 'math', title: 'Mathematics', host: 'math.stackexchange.com' }),
];
