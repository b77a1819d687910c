/** Wikidata, people, places and things with their data: https://www.wikidata.org/wiki/Wikidata:Data_access */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { baseLanguage } from '../languages.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

const MAX_QUERY = 250;

export const wikidata: Provider = {
  name: 'wikidata',
  kinds: ['web'],
  needsKey: false,
  url: 'https://www.wikidata.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['encyclopedia'],
    operator: 'wikimedia',
    limits: [{ requests: 10, seconds: 1 }],
    contact: 'required',
    hosts: ['wikidata.org'],
    documentation: 'https://www.wikidata.org/wiki/Wikidata:Data_access',
  },
  request(query, { url }) {
    const { count, page, language = 'en' } = query;
    const code = baseLanguage(language);
    return getJson(
      buildUrl(url, '/w/api.php', {
        action: 'wbsearchentities',
        search: plainWords(query).slice(0, MAX_QUERY),
        language: code,
        uselang: code,
        format: 'json',
        limit: count,
        continue: (page - 1) * count || undefined,
      }),
    );
  },
  inspect: (answer) => (valueAt(answer, 'error') === undefined ? {} : { error: 'answered with an error' }),
  parse: (answer) =>
    objectsIn(valueAt(answer, 'search')).flatMap((entity) => {
      const id = typeof entity.id === 'string' && /^[QPL]\d{1,12}$/.test(entity.id) ? entity.id : '';
      return toHit({
        title: plainLine(entity.label, 300) || id,
        url: id && `https://www.wikidata.org/wiki/${id}`,
        description: entity.description,
        source: 'Wikidata',
        attribution: 'Wikidata, CC0',
      });
    }),
};
