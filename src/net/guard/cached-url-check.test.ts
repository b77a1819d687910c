import { expect, it } from 'vitest';
import { createCachedUrlCheck } from './cached-url-check.ts';
import { createGuard } from './guard.ts';

/** Answers names by a table, and counts the questions. */
function bench(names: Record<string, string[] | Error | 'silent'>, allow: string[] = []) {
  const asked: string[] = [];
  const lookup = async (name: string) => {
    asked.push(name);
    const found = names[name] ?? Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    if (found === 'silent') return new Promise<never>(() => {});
    if (found instanceof Error) throw found;
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, mayServeCached: createCachedUrlCheck(createGuard({ allow, lookup }), 20) };
}

it('asks no name server about what its spelling decides', async () => {
  const { asked, mayServeCached } = bench({}, ['10.1.0.0/16']);
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
  expect(asked).toEqual([]);
});

it('refuses a name whose addresses are refused now', async () => {
  const { mayServeCached } = bench({
    'inside.example': ['10.0.0.1'],
    'both.example': ['93.184.216.34', '10.0.0.1'],
    'outside.example': ['93.184.216.34'],
  });
  expect(await mayServeCached('https://inside.example/')).toBe(false);
  expect(await mayServeCached('https://both.example/')).toBe(false);
  expect(await mayServeCached('https://outside.example/')).toBe(true);
});

it('refuses nothing while DNS is away or the name is gone, and does not wait for long', async () => {
  const { mayServeCached } = bench({
    'silent.example': 'silent',
    'failing.example': Object.assign(new Error('refused'), { code: 'ESERVFAIL' }),
  });
  for (const host of ['silent.example', 'failing.example', 'gone.example'])
    expect([host, await mayServeCached(`https://${host}/`)]).toEqual([host, true]);
});

it('ends with its caller', async () => {
  const { mayServeCached } = bench({ 'silent.example': 'silent' });
  await expect(mayServeCached('https://silent.example/', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
});
