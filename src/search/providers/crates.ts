/** crates.io, packages of Rust: https://crates.io/data-access */
import { finiteNumber, objectsIn, plainLine, toHit, toSiteLink, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

export const crates: Provider = {
  name: 'crates',
  kinds: ['web'],
  needsKey: false,
  url: 'https://crates.io',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['packages', 'code'],
    operator: 'crates.io',
    limits: [{ requests: 1, seconds: 1 }],
    contact: 'required',
    hosts: ['crates.io'],
    languages: ['en'],
    documentation: 'https://crates.io/data-access',
  },
  request(query, { url }) {
    return getJson(buildUrl(url, '/api/v1/crates', { q: plainWords(query), page: query.page, per_page: query.count }));
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'crates')).flatMap((crate) => {
      const name = plainLine(crate.name, 64);
      const downloads = finiteNumber(crate.downloads);
      const details = downloads === undefined ? '' : `${downloads} downloads`;
      return toHit({
        title: [name, plainLine(crate.max_stable_version, 50)].filter(Boolean).join(' '),
        url: name && `https://crates.io/crates/${encodeURIComponent(name)}`,
        description: [plainLine(crate.description), details].filter(Boolean).join(' · '),
        source: 'crates.io',
        date: crate.updated_at,
        siteLinks: [...toSiteLink('Documentation', crate.documentation), ...toSiteLink('Repository', crate.repository)],
      });
    }),
};
