/** GitHub, repositories and issues: https://docs.github.com/rest/search/search */
import { finiteNumber, objectsIn, optionalLine, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider, type ProviderSettings } from '../provider.ts';
import { plainWords, type SearchQuery } from '../query.ts';

/** GitHub rejects longer queries. */
const MAX_QUERY = 256;
const MAX_BODY = 600;

const facts = (groups: NonNullable<Provider['source']>['groups']) =>
  ({
    groups,
    operator: 'github',
    limits: [{ requests: 10, seconds: 60 }],
    keyLimits: [{ requests: 30, seconds: 60 }],
    hosts: ['github.com'],
    documentation: 'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api',
  }) as const;

const shared = {
  kinds: ['web'],
  needsKey: false,
  url: 'https://api.github.com',
  paging: 'exact',
  maxCount: 50,
  // Only the first 1,000 results of a query can be requested.
  maxPage: 20,
  operators: NO_OPERATOR,
} as const;

function request(what: string, qualifier: string, query: SearchQuery, { url, key }: ProviderSettings) {
  const words = plainWords(query).slice(0, MAX_QUERY - qualifier.length);
  const parameters = { q: `${words}${qualifier}`, per_page: query.count, page: query.page };
  return getJson(buildUrl(url, `/search/${what}`, parameters), {
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  });
}

export const github: Provider = {
  name: 'github',
  ...shared,
  source: facts(['code']),
  request: (query, settings) => request('repositories', '', query, settings),
  parse: (answer) =>
    objectsIn(valueAt(answer, 'items')).flatMap((item) => {
      const stars = finiteNumber(item.stargazers_count);
      const details = [optionalLine(item.language, 50), stars === undefined ? undefined : `${stars} stars`];
      return toHit({
        title: item.full_name,
        url: item.html_url,
        description: [plainLine(item.description), ...details].filter(Boolean).join(' · '),
        source: 'GitHub',
        date: item.pushed_at,
        attribution: valueAt(item, 'license.spdx_id'),
      });
    }),
};

export const githubIssues: Provider = {
  name: 'github-issues',
  ...shared,
  source: facts(['code', 'discussions']),
  request: (query, settings) => request('issues', ' is:issue', query, settings),
  parse: (answer) =>
    objectsIn(valueAt(answer, 'items')).flatMap((item) => {
      const [, repository] = /\/repos\/(.+)$/.exec(String(item.repository_url ?? '').slice(0, 500)) ?? [];
      const details = [optionalLine(repository, 150), optionalLine(item.state, 20)].filter(Boolean).join(', ');
      return toHit({
        title: item.title,
        url: item.html_url,
        description: [details, plainLine(item.body, MAX_BODY)].filter(Boolean).join(' · '),
        source: 'GitHub',
        date: item.updated_at,
      });
    }),
};
