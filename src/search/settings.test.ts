import { expect, it } from 'vitest';
import { ConfigError } from '#config.ts';
import { LOCAL_INDEX_ROW, parseProviderRows } from './settings.ts';

it('parses providers by name, in order, with the local index among them', () => {
  const rows = parseProviderRows([
    'wikipedia',
    'local',
    { name: 'brave', key: 'k', budgetPerDay: 5 },
    { name: 'mine', kind: 'searxng', url: 'http://x' },
  ]);
  expect(rows.map((row) => (row === LOCAL_INDEX_ROW ? row : [row.name, row.provider.name, row.budgetPerDay]))).toEqual([
    ['wikipedia', 'wikipedia', undefined],
    LOCAL_INDEX_ROW,
    ['brave', 'brave', 5],
    ['mine', 'searxng', undefined],
  ]);
  const [own] = parseProviderRows([{ name: 'own', url: 'https://x/{query}', fields: { url: 'u' } }]);
  expect(own).toMatchObject({ settings: { described: { method: 'GET', paging: 'exact', kinds: ['web'] } } });
});

const SECRET = 'a-key-that-nobody-may-see';
it.each([
  [{ name: 'brave' }, /row 1: brave needs a key/],
  [{ name: 'searxng' }, /needs a url/],
  [{ name: 'searxng', url: 'ftp://x' }, /must begin with http/],
  [{ name: 'nobody', key: SECRET }, /nobody is not one of searxng, brave/],
  [{ name: 'brave', key: SECRET, budget: 5 }, /budget/],
  [{ name: 'brave', key: SECRET, budgetPerDay: 0 }, /budgetPerDay/],
  [{ name: 'bing', kind: 'searxng', url: 'https://x' }, /name of an engine/],
  [{ name: 'own', url: 'https://x/{q}', fields: { url: 'u' } }, /unknown placeholder \{q\}/],
  [{ name: 'own', url: 'https://x', fields: { title: 't' } }, /path of `url`/],
  [{ name: 'own', url: 'https://x', fields: { url: 'a..b' } }, /path/],
  [{ kind: 'brave', key: SECRET }, /name/],
  [5, /row 1/],
])('refuses %j', (row, message) => {
  const read = () => parseProviderRows([row]);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(message);
  expect(() => read()).not.toThrow(SECRET);
});

it('refuses two rows with the same name', () => {
  expect(() => parseProviderRows(['wikipedia', { name: 'wikipedia', url: 'https://x.test' }])).toThrow(/twice/);
  expect(() => parseProviderRows(['local', 'reader'])).toThrow(/twice/);
});
