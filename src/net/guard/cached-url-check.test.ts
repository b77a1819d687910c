import { expect, it } from 'vitest';
import { createCachedUrlCheck } from './cached-url-check.ts';
import { createGuard } from './guard.ts';

/** A check that resolves names from a table and records the lookups. */
function createCheck(names: Record<string, string[] | Error | 'silent'>, allow: string[] = []) {
  const lookups: string[] = [];
  const lookup = async (name: string) => {
    lookups.push(name);
    const found = names[name] ?? Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    if (found === 'silent') return new Promise<never>(() => {});
    if (found instanceof Error) throw found;
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { lookups, mayServeCached: createCachedUrlCheck(createGuard({ allow, lookup }), 20) };
}

it('decides without DNS where the URL alone decides', async () => {
  const { lookups, mayServeCached } = createCheck({}, ['10.1.0.0/16']);
  const decided = {
    'http://10.0.0.1/': false,
    'http://10.1.0.1/': true,
    'https://93.184.216.34/': true,
    'http://[::1]/': false,
    'http://localhost/': false,
    'http://printer.local/': false,
    'http://93.184.216.34:22/': false,
    'blob:0123': true,
    nonsense: true,
  };
  for (const [url, expected] of Object.entries(decided))
    expect([url, await mayServeCached(url)]).toEqual([url, expected]);
  expect(lookups).toEqual([]);
});

it('refuses a name that resolves to a refused address', async () => {
  const { mayServeCached } = createCheck({
    'inside.example': ['10.0.0.1'],
    'both.example': ['93.184.216.34', '10.0.0.1'],
    'outside.example': ['93.184.216.34'],
  });
  expect(await mayServeCached('https://inside.example/')).toBe(false);
  expect(await mayServeCached('https://both.example/')).toBe(false);
  expect(await mayServeCached('https://outside.example/')).toBe(true);
});

it('refuses nothing if DNS fails or the name no longer exists, and does not wait long', async () => {
  const { mayServeCached } = createCheck({
    'silent.example': 'silent',
    'failing.example': Object.assign(new Error('refused'), { code: 'ESERVFAIL' }),
  });
  for (const host of ['silent.example', 'failing.example', 'gone.example'])
    expect([host, await mayServeCached(`https://${host}/`)]).toEqual([host, true]);
});

it('rejects when the caller aborts', async () => {
  const { mayServeCached } = createCheck({ 'silent.example': 'silent' });
  await expect(mayServeCached('https://silent.example/', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
