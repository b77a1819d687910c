/**
 * PubMed, papers of medicine and biology: https://www.ncbi.nlm.nih.gov/books/NBK25500/. A search returns ids; a second
 * request returns the papers.
 */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider, type ProviderSettings } from '../provider.ts';
import { plainWords } from '../query.ts';
import { PMID } from './identifiers.ts';

const MAX_AUTHORS = 5;

/** The parameters by which NCBI recognizes a program and reaches its operator. */
const identity = ({ email, key }: ProviderSettings) => ({ retmode: 'json', tool: 'lectern', email, api_key: key });

const idsIn = (answer: unknown): string[] => {
  const ids = valueAt(answer, 'esearchresult.idlist');
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string' && /^\d{1,12}$/.test(id)) : [];
};

export const pubmed: Provider = {
  name: 'pubmed',
  kinds: ['web'],
  needsKey: false,
  url: 'https://eutils.ncbi.nlm.nih.gov/entrez/eutils',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  takesDates: true,
  source: {
    groups: ['papers'],
    operator: 'ncbi',
    limits: [{ requests: 3, seconds: 1 }],
    keyLimits: [{ requests: 10, seconds: 1 }],
    requests: 2,
    contact: 'welcome',
    hosts: ['nih.gov'],
    languages: ['en'],
    documentation: 'https://support.nlm.nih.gov/knowledgebase/article/KA-05317/en-us',
  },
  request(query, settings) {
    const { count, page, since, until } = query;
    const [, id] = PMID.exec(query.words) ?? [];
    const dates =
      since === undefined && until === undefined
        ? {}
        : { datetype: 'pdat', mindate: day(since ?? 0), maxdate: day((until ?? Date.now()) - 1) };
    return getJson(
      buildUrl(settings.url, '/esearch.fcgi', {
        db: 'pubmed',
        term: id === undefined ? plainWords(query) : `${id}[uid]`,
        retmax: count,
        retstart: (page - 1) * count,
        sort: 'relevance',
        ...dates,
        ...identity(settings),
      }),
    );
  },
  inspect: (answer) =>
    valueAt(answer, 'error') === undefined ? {} : { error: 'asks for a pause', restMs: LIMIT_PAUSE_MS },
  followUp(answer, _, settings) {
    const ids = idsIn(answer);
    if (!ids.length) return undefined;
    const parameters = { db: 'pubmed', id: ids.join(','), ...identity(settings) };
    return getJson(buildUrl(settings.url, '/esummary.fcgi', parameters));
  },
  parse(answer) {
    const ids = valueAt(answer, 'result.uids');
    return (Array.isArray(ids) ? ids : []).flatMap((id: unknown) => {
      if (typeof id !== 'string' || !/^\d{1,12}$/.test(id)) return [];
      const paper = (path: string) => valueAt(answer, `result.${id}.${path}`);
      const authors = objectsIn(paper('authors')).map(({ name }) => plainLine(name, 100));
      const named = authors.slice(0, MAX_AUTHORS).join(', ') + (authors.length > MAX_AUTHORS ? ' and others' : '');
      const description = [named, plainLine(paper('source'), 200)].filter(Boolean).join('. ');
      return toHit({
        title: paper('title'),
        url: `https://pubmed.ncbi.nlm.nih.gov/${id}/`,
        description,
        source: 'PubMed',
        date: paper('pubdate'),
      });
    });
  },
};

/** The error is an exceeded limit per second. */
const LIMIT_PAUSE_MS = 2_000;
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '/');
