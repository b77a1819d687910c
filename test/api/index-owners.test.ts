/** Who finds what others have read: pages at secret URLs, through every way into the index of pages and out of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pages, type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const WAIT_MS = 20_000;

const page = (word: string, head = '') =>
  `<html lang="en"><head><title>About ${word}</title>${head}</head><body><main><h1>About ${word}</h1><p>${`The word of this page is ${word}, and there is no other page with it. `.repeat(6)}</p></main></body></html>`;
const to =
  (location: string, cookie?: string): Pages[string] =>
  ({ response }) =>
    void response.writeHead(302, { location, ...(cookie && { 'set-cookie': cookie }) }).end();

const PAGES: Pages = {
  '/open': page('albatross'),
  '/share': page('basilisk'),
  '/with-canonical': page('cormorant', '<link rel="canonical" href="/clean">'),
  '/clean': page('dromedary'),
  '/sign-in': to('/home'),
  '/home': page('echidna'),
  '/latest': to('/file?X-Amz-Signature=abc'),
  '/file': page('flamingo'),
  '/told-secret': page('gazelle', '<link rel="canonical" href="/told-secret?token=abc">'),
  '/d/9xQe7Lk2mVb4RtYs8WpZc3': page('hedgehog'),
  '/crawled': page('ibex'),
  '/read-by-nobody': page('jackal'),
  '/later': page('kingfisher'),
  '/still-later': page('lemming'),
};

let site: Site;
beforeAll(async () => {
  site = await startSite(PAGES);
});
afterAll(() => site.close());

interface Bench {
  readonly server: TestServer;
  readonly keys: Readonly<Record<'a' | 'b', string>>;
}

async function start(settings: Record<string, unknown> = {}): Promise<Bench> {
  const server = await startServer({
    allowNetworks: site.allow.join(','),
    searchKeyless: 'limited',
    searchEmbedder: 'none',
    modelsWarm: [],
    ...settings,
  });
  const { accounts } = server.app.accounts;
  const mint = async (name: string) => {
    const { id: accountId } = await accounts.createAccount({ name, plan: 'premium' });
    return (await accounts.mintKey({ accountId, name })).key;
  };
  return { server, keys: { a: await mint('a'), b: await mint('b') } };
}

type Who = 'a' | 'b' | 'nobody';

function callers({ server, keys }: Bench) {
  const headers = (who: Who): Record<string, string> =>
    who === 'nobody' ? {} : { authorization: `Bearer ${keys[who]}` };
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const post = (url: string, who: Who, body: object) =>
    fetch(url, { method: 'POST', headers: { ...json, ...headers(who) }, body: JSON.stringify(body) });
  const read = async (who: Who, path: string, options: object = {}) => {
    const answer = await post(server.reader, who, { url: site.origin + path, engine: 'direct', ...options });
    expect(answer.status, path).toBe(200);
    await answer.json();
  };
  /** What search tells of the page with a word, without reading anything. */
  const find = async (who: Who, word: string, more: object = {}): Promise<string[]> => {
    const asked = { q: word, provider: 'reader', respondWith: 'no-content', ...more };
    const answer = await post(`${server.urls.search}/search`, who, asked);
    if (answer.status === 422) return [];
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { url: string; description: string }[] };
    return data.map(({ url }) => url.replace(site.origin, ''));
  };
  /** A page goes to the index after its answer is out. */
  const findSoon = async (who: Who, word: string) => {
    await expect.poll(() => find(who, word), { timeout: WAIT_MS }).not.toEqual([]);
    return find(who, word);
  };
  return { read, find, findSoon, post };
}

describe('by default', () => {
  let bench: Bench;
  let on: ReturnType<typeof callers>;
  beforeAll(async () => {
    bench = await start();
    on = callers(bench);
  }, 60_000);
  afterAll(() => bench.server.close());

  it('pages at open URLs are found by everybody, whoever read them', async () => {
    await on.read('nobody', '/open');
    expect(await on.findSoon('a', 'albatross')).toEqual(['/open']);
    expect(await on.find('b', 'albatross')).toEqual(['/open']);
    expect(await on.find('nobody', 'albatross')).toEqual(['/open']);
  });

  it.each([
    ['a parameter', '/share?token=abc', 'basilisk', '/share?token=abc'],
    ['a path', '/d/9xQe7Lk2mVb4RtYs8WpZc3', 'hedgehog', '/d/9xQe7Lk2mVb4RtYs8WpZc3'],
    ['a fragment', '/crawled#access_token=abc', 'ibex', '/crawled'],
    ['a canonical URL that is none', '/with-canonical?token=abc', 'cormorant', '/clean'],
    ['one that redirects to one that is none', '/sign-in?code=abc', 'echidna', '/home'],
    ['the one that is redirected to', '/latest', 'flamingo', '/file?X-Amz-Signature=abc'],
  ])('a page whose secret is %s is found by its reader alone', async (_, path, word, shown) => {
    for (const base of ['initial', 'final']) await on.read('a', path, { base });
    expect([path, shown]).toContain((await on.findSoon('a', word))[0]);
    expect(await on.find('b', word)).toEqual([]);
    expect(await on.find('nobody', word)).toEqual([]);
    for (const more of [{ q: `${word} site:127.0.0.1` }, { fallback: true, provider: undefined }, { passages: true }])
      expect(await on.find('b', word, more)).toEqual([]);
  });

  it('the open page at a canonical URL stays what it was, and is nobody`s but everybody`s', async () => {
    await on.read('b', '/clean');
    expect(await on.findSoon('nobody', 'dromedary')).toEqual(['/clean']);
    await on.read('a', '/with-canonical?token=other', { noCache: true });
    expect(await on.findSoon('a', 'cormorant')).toEqual(['/clean']);
    expect(await on.find('nobody', 'dromedary')).toEqual(['/clean']);
    expect(await on.find('b', 'cormorant')).toEqual([]);
  });

  it('an open page that calls a secret URL its own is shown at its open one', async () => {
    await on.read('a', '/told-secret');
    expect(await on.findSoon('b', 'gazelle')).toEqual(['/told-secret']);
  });

  it('a page that was read by a secret URL without an account is kept for nobody', async () => {
    await on.read('nobody', '/read-by-nobody?token=abc');
    // Pages are written in the order of their reading.
    await on.read('nobody', '/later');
    await on.findSoon('nobody', 'kingfisher');
    for (const who of ['a', 'b', 'nobody'] as const) expect(await on.find(who, 'jackal')).toEqual([]);
  });

  it('pages of a crawl are found by whose crawl it is', async () => {
    const { post } = on;
    const started = await post(`${bench.server.reader}/crawl`, 'b', {
      url: `${site.origin}/share?token=crawl`,
      limit: 1,
      sitemap: false,
    });
    expect(started.status).toBeLessThan(300);
    await expect.poll(() => on.find('b', 'basilisk'), { timeout: WAIT_MS }).toEqual(['/share?token=crawl']);
    expect(await on.find('a', 'basilisk')).toEqual(['/share?token=abc']);
    expect(await on.find('nobody', 'basilisk')).toEqual([]);
  }, 60_000);

  it('a page that a flow reads by a secret URL does not come to the index', async () => {
    const answer = await on.post(`${bench.server.urls.flow}/index`, 'nobody', {
      data: [{ uri: `${site.origin}/read-by-nobody?key=abc` }],
      parameters: {},
    });
    expect(await answer.text()).toContain('jackal');
    await on.read('nobody', '/still-later');
    await on.findSoon('nobody', 'lemming');
    for (const who of ['a', 'b', 'nobody'] as const) expect(await on.find(who, 'jackal')).toEqual([]);
  });
});

describe('LECTERN_INDEX_SHARED', () => {
  it('none: everybody finds what they read themselves', async () => {
    const bench = await start({ indexShared: 'none' });
    const { read, find, findSoon } = callers(bench);
    await read('nobody', '/clean');
    await read('a', '/open');
    expect(await findSoon('a', 'albatross')).toEqual(['/open']);
    expect(await find('b', 'albatross')).toEqual([]);
    expect(await find('nobody', 'dromedary')).toEqual([]);
    await bench.server.close();
  }, 60_000);

  it('all: everybody finds everything', async () => {
    const bench = await start({ indexShared: 'all' });
    const { read, findSoon, find } = callers(bench);
    await read('a', '/share?token=abc');
    expect(await findSoon('b', 'basilisk')).toEqual(['/share?token=abc']);
    expect(await find('nobody', 'basilisk')).toEqual(['/share?token=abc']);
    await bench.server.close();
  }, 60_000);
});
