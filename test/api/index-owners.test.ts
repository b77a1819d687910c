/** Which callers can find pages at secret URLs in the page index, for every way of reading the pages. */
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

interface TestBed {
  readonly server: TestServer;
  readonly keys: Readonly<Record<'a' | 'b', string>>;
}

async function start(settings: Record<string, unknown> = {}): Promise<TestBed> {
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

type Caller = 'a' | 'b' | 'nobody';

function callers({ server, keys }: TestBed) {
  const headers = (caller: Caller): Record<string, string> =>
    caller === 'nobody' ? {} : { authorization: `Bearer ${keys[caller]}` };
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const post = (url: string, caller: Caller, body: object) =>
    fetch(url, { method: 'POST', headers: { ...json, ...headers(caller) }, body: JSON.stringify(body) });
  const read = async (caller: Caller, path: string, options: object = {}) => {
    const answer = await post(server.reader, caller, { url: site.origin + path, engine: 'direct', ...options });
    expect(answer.status, path).toBe(200);
    await answer.json();
  };
  /** The URLs that a search for a word finds, without reading any page. */
  const find = async (caller: Caller, word: string, more: object = {}): Promise<string[]> => {
    const query = { q: word, provider: 'reader', respondWith: 'no-content', ...more };
    const answer = await post(`${server.urls.search}/search`, caller, query);
    if (answer.status === 422) return [];
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { url: string; description: string }[] };
    return data.map(({ url }) => url.replace(site.origin, ''));
  };
  /** Retries the search, because a page is indexed after its response was sent. */
  const findSoon = async (caller: Caller, word: string) => {
    await expect.poll(() => find(caller, word), { timeout: WAIT_MS }).not.toEqual([]);
    return find(caller, word);
  };
  return { read, find, findSoon, post };
}

describe('by default', () => {
  let testBed: TestBed;
  let actions: ReturnType<typeof callers>;
  beforeAll(async () => {
    testBed = await start();
    actions = callers(testBed);
  }, 60_000);
  afterAll(() => testBed.server.close());

  it('pages at open URLs are found by everybody, whoever read them', async () => {
    await actions.read('nobody', '/open');
    expect(await actions.findSoon('a', 'albatross')).toEqual(['/open']);
    expect(await actions.find('b', 'albatross')).toEqual(['/open']);
    expect(await actions.find('nobody', 'albatross')).toEqual(['/open']);
  });

  it.each([
    ['a parameter', '/share?token=abc', 'basilisk', '/share?token=abc'],
    ['a path', '/d/9xQe7Lk2mVb4RtYs8WpZc3', 'hedgehog', '/d/9xQe7Lk2mVb4RtYs8WpZc3'],
    ['a fragment', '/crawled#access_token=abc', 'ibex', '/crawled'],
    ['a parameter that the canonical URL lacks', '/with-canonical?token=abc', 'cormorant', '/clean'],
    ['a parameter that a redirect drops', '/sign-in?code=abc', 'echidna', '/home'],
    ['in the target of a redirect', '/latest', 'flamingo', '/file?X-Amz-Signature=abc'],
  ])('a page whose secret is %s is found only by its reader', async (_, path, word, shown) => {
    for (const base of ['initial', 'final']) await actions.read('a', path, { base });
    expect([path, shown]).toContain((await actions.findSoon('a', word))[0]);
    expect(await actions.find('b', word)).toEqual([]);
    expect(await actions.find('nobody', word)).toEqual([]);
    for (const more of [{ q: `${word} site:127.0.0.1` }, { fallback: true, provider: undefined }, { passages: true }])
      expect(await actions.find('b', word, more)).toEqual([]);
  });

  it('the open page at a canonical URL remains public and unchanged', async () => {
    await actions.read('b', '/clean');
    expect(await actions.findSoon('nobody', 'dromedary')).toEqual(['/clean']);
    await actions.read('a', '/with-canonical?token=other', { noCache: true });
    expect(await actions.findSoon('a', 'cormorant')).toEqual(['/clean']);
    expect(await actions.find('nobody', 'dromedary')).toEqual(['/clean']);
    expect(await actions.find('b', 'cormorant')).toEqual([]);
  });

  it('an open page with a secret canonical URL is shown at its open URL', async () => {
    await actions.read('a', '/told-secret');
    expect(await actions.findSoon('b', 'gazelle')).toEqual(['/told-secret']);
  });

  it('a page read at a secret URL without an account is not indexed', async () => {
    await actions.read('nobody', '/read-by-nobody?token=abc');
    // Pages are indexed in the order in which they were read.
    await actions.read('nobody', '/later');
    await actions.findSoon('nobody', 'kingfisher');
    for (const caller of ['a', 'b', 'nobody'] as const) expect(await actions.find(caller, 'jackal')).toEqual([]);
  });

  it('pages of a crawl are found by the owner of the crawl', async () => {
    const { post } = actions;
    const started = await post(`${testBed.server.reader}/crawl`, 'b', {
      url: `${site.origin}/share?token=crawl`,
      limit: 1,
      sitemap: false,
    });
    expect(started.status).toBeLessThan(300);
    await expect.poll(() => actions.find('b', 'basilisk'), { timeout: WAIT_MS }).toEqual(['/share?token=crawl']);
    expect(await actions.find('a', 'basilisk')).toEqual(['/share?token=abc']);
    expect(await actions.find('nobody', 'basilisk')).toEqual([]);
  }, 60_000);

  it('a page that a flow reads at a secret URL is not indexed', async () => {
    const answer = await actions.post(`${testBed.server.urls.flow}/index`, 'nobody', {
      data: [{ uri: `${site.origin}/read-by-nobody?key=abc` }],
      parameters: {},
    });
    expect(await answer.text()).toContain('jackal');
    await actions.read('nobody', '/still-later');
    await actions.findSoon('nobody', 'lemming');
    for (const caller of ['a', 'b', 'nobody'] as const) expect(await actions.find(caller, 'jackal')).toEqual([]);
  });
});

describe('LECTERN_INDEX_SHARED', () => {
  it('none: callers find only what they read themselves', async () => {
    const testBed = await start({ indexShared: 'none' });
    const { read, find, findSoon } = callers(testBed);
    await read('nobody', '/clean');
    await read('a', '/open');
    expect(await findSoon('a', 'albatross')).toEqual(['/open']);
    expect(await find('b', 'albatross')).toEqual([]);
    expect(await find('nobody', 'dromedary')).toEqual([]);
    await testBed.server.close();
  }, 60_000);

  it('all: every caller finds every page', async () => {
    const testBed = await start({ indexShared: 'all' });
    const { read, findSoon, find } = callers(testBed);
    await read('a', '/share?token=abc');
    expect(await findSoon('b', 'basilisk')).toEqual(['/share?token=abc']);
    expect(await find('nobody', 'basilisk')).toEqual(['/share?token=abc']);
    await testBed.server.close();
  }, 60_000);
});
