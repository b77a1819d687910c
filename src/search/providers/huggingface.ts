/** Hugging Face, models and data sets: https://huggingface.co/docs/hub/en/api */
import { finiteNumber, objectsIn, plainLine, toHit } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

const MAX_TAGS = 12;
/** Names of repositories consist of an owner and a name. */
const REPOSITORY = /^[\w.-]{1,100}(?:\/[\w.-]{1,100})?$/;

/** `place` is the path of the API, `folder` the path of the pages. */
const createHub = (name: string, place: 'models' | 'datasets', folder: string): Provider => ({
  name,
  kinds: ['web'],
  needsKey: false,
  url: 'https://huggingface.co',
  // Further pages are found only by a link in the response.
  paging: 'none',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['models'],
    operator: 'huggingface',
    // The limit depends on the IP address and is not published.
    limits: [{ requests: 1, seconds: 1 }],
    hosts: ['huggingface.co'],
    documentation: 'https://huggingface.co/docs/hub/en/api',
  },
  request: (query, { url, key }) =>
    getJson(
      buildUrl(url, `/api/${place}`, { search: plainWords(query), limit: query.count, sort: 'downloads', full: true }),
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    ),
  parse: (answer) =>
    objectsIn(answer).flatMap((found) => {
      const id = typeof found.id === 'string' && REPOSITORY.test(found.id) ? found.id : '';
      const tags = Array.isArray(found.tags) ? found.tags.filter((tag) => typeof tag === 'string') : [];
      const license = tags.find((tag) => tag.startsWith('license:'))?.slice('license:'.length);
      const shown = tags.filter((tag) => !tag.includes(':')).slice(0, MAX_TAGS);
      const downloads = finiteNumber(found.downloads);
      const parts = [
        plainLine(found.pipeline_tag, 50),
        plainLine(found.description, 500),
        shown.join(', '),
        downloads === undefined ? '' : `${downloads} downloads`,
      ];
      return toHit({
        title: id,
        url: id && `https://huggingface.co/${folder}${id}`,
        description: parts.filter(Boolean).join(' · '),
        source: 'Hugging Face',
        date: found.lastModified,
        attribution: license,
      });
    }),
});

export const huggingface = createHub('huggingface', 'models', '');
export const huggingfaceDatasets = createHub('huggingface-datasets', 'datasets', 'datasets/');
