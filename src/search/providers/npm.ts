/** npm, packages of JavaScript: https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

/** The registry rejects longer queries. */
const MAX_QUERY = 64;

export const npm: Provider = {
  name: 'npm',
  kinds: ['web'],
  needsKey: false,
  url: 'https://registry.npmjs.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['packages', 'code'],
    operator: 'npm',
    // The registry publishes no limit.
    limits: [{ requests: 1, seconds: 1 }],
    hosts: ['npmjs.com'],
    languages: ['en'],
    documentation: 'https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md',
  },
  request(query, { url }) {
    const { count, page } = query;
    const text = plainWords(query).slice(0, MAX_QUERY);
    return getJson(buildUrl(url, '/-/v1/search', { text, size: count, from: (page - 1) * count }));
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'objects')).flatMap((found) => {
      const of = (path: string) => valueAt(found, `package.${path}`);
      const name = plainLine(of('name'), 214);
      const version = plainLine(of('version'), 50);
      return toHit({
        title: [name, version].filter(Boolean).join(' '),
        url: name && (of('links.npm') ?? `https://www.npmjs.com/package/${name}`),
        description: of('description'),
        source: 'npm',
        date: of('date'),
      });
    }),
};
