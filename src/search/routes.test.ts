/** Tests the table of the router, and the sources that it names. */
import { describe, expect, it } from 'vitest';
import { PUBLIC_SOURCES } from './providers/providers.ts';
import { parseQuery } from './query.ts';
import { DEFAULT_ROUTE, languageOfQuery, MAX_ROUTED, ROUTES, routeInGroup, routeQuery } from './routes.ts';

const known = new Map(Object.values(PUBLIC_SOURCES).map(({ name, source }) => [name, source]));
const route = (text: string, more = {}) => routeQuery(parseQuery(text, more), known);

it('names only sources that exist', () => {
  const named = [...ROUTES.flatMap(({ sources }) => sources), ...DEFAULT_ROUTE];
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

describe('a query', () => {
  it.each([
    ['10.1038/nphys1170', ['crossref', 'europepmc']],
    ['arXiv:2301.00001', ['arxiv']],
    ['pmid 31000001', ['pubmed']],
    ['isbn 978-0-00-000000-2', ['openlibrary']],
    ["TypeError: Cannot read properties of undefined (reading 'map')", ['stackoverflow', 'github-issues']],
    ['connect ECONNREFUSED 127.0.0.1:5432', ['stackoverflow', 'github-issues']],
    ['std::vector reserve', ['stackoverflow', 'github-issues', 'github']],
    ['@scope/package peer dependency', ['npm', 'github']],
    ['rust crate for dates', ['crates', 'stackoverflow', 'github']],
    ['fine-tuned embedding models for German', ['huggingface', 'huggingface-datasets', 'arxiv', 'github']],
    ['side effects of ibuprofen in patients', ['pubmed', 'europepmc', 'wikipedia']],
    ['books by Italo Calvino', ['openlibrary', 'wikipedia', 'internetarchive']],
    ['latest election results', ['gdelt', 'wikinews', 'hackernews', 'wikipedia']],
    ['etymology of kettle', ['wiktionary', 'wikipedia']],
    ['things to do in Porto', ['wikivoyage', 'wikipedia']],
    ['who invented the kettle', ['wikipedia', 'wikidata', 'hackernews']],
  ])('%j goes to %j', (text, sources) => expect(route(text)).toEqual(sources));

  it('in another language goes to sources that have it', () => {
    expect(route('История чайника')).toEqual(['wikipedia', 'wikidata']);
    expect(route('kettle', { language: 'de' })).toEqual(['wikipedia', 'wikidata']);
    // An error message is in English whatever the language of the searcher is.
    expect(route('Fehler ENOENT beim Start', { language: 'de' })).toEqual(['stackoverflow', 'github-issues']);
  });

  it('of another kind goes to sources of that kind', () => {
    expect(route('python', { kind: 'images' })).toEqual(['commons']);
    expect(route('python', { kind: 'news' })).toEqual(['gdelt', 'wikinews', 'hackernews']);
  });

  it('never goes to many sources, and at most twice to one operator', () => {
    const all = ROUTES.map(({ subject }) => subject).join(' ');
    for (const text of ['linux ubuntu bash nginx python github npm', all]) {
      const sources = route(text);
      expect(sources.length).toBeLessThanOrEqual(MAX_ROUTED);
      const operators = sources.map((name) => known.get(name)!.operator);
      for (const operator of operators) expect(operators.filter((one) => one === operator).length).toBeLessThan(3);
    }
  });

  it('goes only to sources that are on', () => {
    const some = new Map([...known].filter(([name]) => name === 'arxiv' || name === 'wikipedia'));
    expect(routeQuery(parseQuery('rust crate'), some)).toEqual(['wikipedia']);
    expect(routeQuery(parseQuery('rust crate'), new Map())).toEqual([]);
  });

  it('takes linear time', () => {
    const startedAt = process.cpuUsage();
    for (const part of ['a_', '10.1234/', '@a/', 'E', '9 7 8 ', 'a::', '(', 'isbn '])
      route(part.repeat(4_000).slice(0, 4_000));
    expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(1_500);
  });
});

it('a group without a matching rule goes to one source of each operator', () => {
  const questions = new Map([...known].filter(([, { groups }]) => groups.includes('questions')));
  expect(routeInGroup(parseQuery('kettle'), questions)).toEqual(['stackoverflow']);
  expect(routeInGroup(parseQuery('proof of the lemma'), questions)).toEqual(['mathematics']);
});

it.each([
  ['die hard', undefined],
  ['Как вскипятить воду', 'ru'],
  ['やかんの歴史', 'ja'],
  ['wie lange muss das Wasser kochen', 'de'],
])('the language of %j is %s', (text, language) => expect(languageOfQuery(parseQuery(text))).toBe(language));
