/**
 * Tests the options for proxies, headers, cookies, storage state and preloaded pages in a real browser, with real
 * proxies.
 */
import { Server as ProxyServer } from 'proxy-chain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CookieJar } from '#net/fetch/cookies.ts';
import { OperatorProxy } from '#net/proxy/proxy-table.ts';
import { sendHtml, type Visited } from '../../../../test/site/site.ts';
import { type Bench, startBench, words } from './browser.suite.ts';

/** A proxy that records requested URLs, and requires credentials if a password is set. */
async function startProxy(password?: string) {
  const asked: string[] = [];
  const server = new ProxyServer({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction: ({ username, password: given, hostname, port, isHttp, request }) => {
      if (password && (username !== 'someone' || given !== password)) return { requestAuthentication: true };
      asked.push(isHttp ? request.url! : `https://${hostname}:${port}`);
      return {};
    },
  });
  await server.listen();
  const url = `http://${password ? `someone:${password}@` : ''}127.0.0.1:${server.port}`;
  return { url, port: server.port, asked, server };
}

let proxy: Awaited<ReturnType<typeof startProxy>>;
let locked: Awaited<ReturnType<typeof startProxy>>;
let bench: Bench;

const seen = new Map<string, Visited['request']['headers'][]>();
const noting = ({ request, response, url }: Visited, html: string) => {
  const list = seen.get(url.pathname) ?? [];
  seen.set(url.pathname, [...list, request.headers]);
  sendHtml(response, html);
};

beforeAll(async () => {
  proxy = await startProxy();
  locked = await startProxy('secret-word');
  bench = await startBench({
    allow: [`127.0.0.1:${proxy.port}`, `127.0.0.1:${locked.port}`],
    pages: {
      '/gallery': `<!doctype html><title>Gallery</title><link rel="stylesheet" href="/gallery.css"><p>Pictures.</p>
<img src="/gallery.svg" alt="a boat" onload="document.title = 'Picture came'"><script src="/gallery.js"></script>`,
      '/gallery.css': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/css' }).end('p { color: rgb(1, 2, 3) }'),
      '/gallery.svg': ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'image/svg+xml', 'set-cookie': 'from-picture=1' })
          .end('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'),
      '/gallery.js': ({ response }) =>
        void response
          .writeHead(200, { 'content-type': 'text/javascript' })
          .end(
            "fetch('/gallery-words').then((answer) => answer.text()).then((text) => document.body.append(text + ' ' + getComputedStyle(document.querySelector('p')).color))",
          ),
      '/gallery-words': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end('fetched words'),

      '/own': (visited) =>
        noting(
          visited,
          `<!doctype html><title>Own</title><p>Own.</p><script>fetch('/own-part'); fetch('${visited.otherOrigin}/other-part').catch(() => {});
fetch('/own-turns').catch(() => {}); document.cookie = 'by=script'</script><iframe src="${visited.otherOrigin}/other-frame"></iframe>`,
        ),
      '/own-part': (visited) => noting(visited, ''),
      '/other-part': (visited) => noting(visited, ''),
      '/other-frame': (visited) => noting(visited, '<p>Other.</p>'),
      '/own-turns': (visited) =>
        void visited.response.writeHead(302, { location: `${visited.otherOrigin}/other-turned` }).end(),
      '/other-turned': (visited) => noting(visited, ''),
      '/moves-own': (visited) => void visited.response.writeHead(302, { location: '/moved-own' }).end(),
      '/moved-own': (visited) => noting(visited, '<title>Moved</title><p>Moved.</p>'),
      '/moves-away': (visited) =>
        void visited.response.writeHead(302, { location: `${visited.otherOrigin}/moved-away` }).end(),
      '/moved-away': (visited) => noting(visited, '<title>Away</title><p>Away.</p>'),

      '/cookies': ({ request, response }) =>
        sendHtml(response, `<title>Cookies</title><p>${request.headers.cookie ?? 'none'}</p>`),
      '/welcome': ({ response }) => {
        response.setHeader('set-cookie', ['session=abc; Path=/; HttpOnly; SameSite=Strict', 'kept=long; Max-Age=3600']);
        sendHtml(
          response,
          `<title>Welcome</title><p>Welcome.</p><script>localStorage.setItem('color', 'green & blue')</script>`,
        );
      },
      '/stored': `<title>Stored</title><p id="color"></p><script>color.textContent = 'color ' + localStorage.getItem('color')</script>`,
    },
  });
});
afterAll(async () => {
  await bench.close();
  await proxy.server.close(true);
  await locked.server.close(true);
});

const paths = (asked: readonly string[]) => asked.map((url) => new URL(url).pathname).sort();

describe('a proxy', () => {
  it('of the caller carries all requests of the page', async () => {
    proxy.asked.length = 0;
    const page = await bench.last('/gallery', { proxyUrl: proxy.url, respondWith: 'screenshot' });
    expect(page.text).toContain('fetched words rgb(1, 2, 3)');
    expect(page.text).toContain('Picture came');
    expect(paths(proxy.asked)).toEqual(
      expect.arrayContaining(['/gallery', '/gallery-words', '/gallery.css', '/gallery.js', '/gallery.svg']),
    );
  });

  it('of the operator carries pages and scripts, and pictures and style sheets on request', async () => {
    for (const proxyResources of [false, true]) {
      proxy.asked.length = 0;
      const operator = new OperatorProxy(new URL(proxy.url), { countries: [], eu: false });
      const given = { respondWith: 'screenshot', proxyResources };
      const page = (await bench.visit('/gallery', given, { proxy: operator })).at(-1)!;
      expect(page.text).toContain('fetched words rgb(1, 2, 3)');
      expect(page.text).toContain('Picture came');
      const looks = ['/gallery.css', '/gallery.svg'].filter((path) => paths(proxy.asked).includes(path));
      expect(looks).toEqual(proxyResources ? ['/gallery.css', '/gallery.svg'] : []);
      expect(paths(proxy.asked)).toEqual(expect.arrayContaining(['/gallery', '/gallery-words', '/gallery.js']));
    }
  });

  it('gets its credentials, which the target does not', async () => {
    locked.asked.length = 0;
    const page = await bench.last('/article', { proxyUrl: locked.url });
    expect(page.text).toContain('Mackerel');
    expect(paths(locked.asked)).toContain('/article');
    expect(JSON.stringify(bench.site.headers('/article'))).not.toMatch(/proxy-auth|secret-word/i);
  });

  it('that fails is named in the error, without its credentials', async () => {
    const gone = await startProxy();
    await gone.server.close(true);
    const wrong = locked.url.replace('secret-word', 'wrong-word');
    for (const [proxyUrl, name] of [
      [wrong, 'AssertionFailureError'],
      ['http://10.0.0.1:3128', 'SecurityCompromiseError'],
      [`http://127.0.0.1:${gone.port}`, 'SecurityCompromiseError'],
      ['ftp://proxy.example', 'ParamValidationError'],
      ['nonsense', 'ParamValidationError'],
    ] as const) {
      const error = await bench.last('/article', { proxyUrl }).catch((thrown) => thrown);
      expect(error, proxyUrl).toMatchObject({ name, facts: { path: 'proxyUrl' } });
      expect(`${error.message}${JSON.stringify(error.facts)}`).not.toMatch(/word|10\.0\.0\.1|127\.0/);
    }
  });

  it('does not reach hosts that the guard refuses', async () => {
    const refused = bench.last('http://10.0.0.1/', { proxyUrl: proxy.url });
    await expect(refused).rejects.toMatchObject({ name: 'SecurityCompromiseError' });
  });
});

describe('headers of the caller', () => {
  const customHeader = { 'X-Secret': 'mine', Authorization: 'Bearer mine', 'User-Agent': 'Reader of tests' };
  const mine = (path: string) => seen.get(path)?.at(-1);

  it('are sent to the target, and to no other site', async () => {
    await bench.last('/own', { customHeader, respondTiming: 'network-idle' });
    for (const path of ['/own', '/own-part']) {
      expect(mine(path), path).toMatchObject({ 'x-secret': 'mine', authorization: 'Bearer mine' });
    }
    expect(mine('/own')!['user-agent']).toBe('Reader of tests');
    for (const path of ['/other-part', '/other-frame', '/other-turned']) {
      expect(mine(path), path).toBeDefined();
      expect(JSON.stringify(mine(path)), path).not.toMatch(/mine|Reader of tests/);
    }
  });

  it('do not stop submitted HTML from requesting another site first', async () => {
    const asked = seen.get('/other-part')?.length ?? 0;
    const other = `${bench.site.otherOrigin}/other-part`;
    const html = `<title>Brought</title><p>Around.<script>fetch(${JSON.stringify(other)}, { mode: 'no-cors' })</script>`;
    await bench.visit('/own', { customHeader, respondTiming: 'network-idle' }, { html });
    expect(seen.get('/other-part')).toHaveLength(asked + 1);
  });

  it('are sent after a redirect within the site, but not to another site', async () => {
    await bench.last('/moves-own', { customHeader });
    expect(mine('/moved-own')).toMatchObject({ 'x-secret': 'mine' });
    const page = await bench.last('/moves-away', { customHeader });
    expect(page.text).toContain('Away.');
    expect(JSON.stringify(mine('/moved-away'))).not.toMatch(/mine/);
  });

  it('may be cookies, which are sent only to the host', async () => {
    expect((await bench.last('/cookies', { customHeader: { cookie: 'a=1; b=2' } })).text).toContain('a=1; b=2');
  });

  it('do not change a page with a password prompt', async () => {
    const page = await bench.last('/protected', { customHeader: { 'x-nothing': '1' } });
    expect(page).toMatchObject({ status: 401, text: expect.stringContaining('Say who you are.') });
  });

  it('that belong to the connection are refused', async () => {
    const refused = { name: 'ParamValidationError', facts: { path: 'customHeader' } };
    for (const header of [{ Host: 'other.example' }, { 'Content-Length': '3' }, { 'bad name': 'x' }, { x: 'a\nb' }])
      await expect(bench.last('/own', { customHeader: header })).rejects.toMatchObject(refused);
  });
});

describe('cookies', () => {
  it('apply to their path and host, until they expire', async () => {
    const cookies = async (path: string, ...setCookies: string[]) =>
      words((await bench.last(path, { setCookies })).text)
        .replace('Cookies', '')
        .trim();
    expect(await cookies('/cookies', 'a=1', 'b=2; Path=/elsewhere', 'c=3; Max-Age=0', 'd=4; Path=/cookies')).toBe(
      'd=4; a=1',
    );
    expect(await cookies('/cookies', 'a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT, b=x%20y')).toBe('b=x%20y');
    expect(await cookies('/cookies', 'a=1; HttpOnly; SameSite=Strict')).toBe('a=1');
  });

  it('that are invalid in a browser are refused', async () => {
    for (const setCookies of [
      'a=1; Domain=other.example',
      '__Host-a=1',
      'a=1; SameSite=None',
      'nothing',
      `a=${'x'.repeat(5_000)}`,
    ]) {
      const refused = { name: 'ParamValidationError', facts: { path: 'cookies' } };
      await expect(bench.last('/cookies', { setCookies: [setCookies] }), setCookies.slice(0, 40)).rejects.toMatchObject(
        refused,
      );
    }
  });

  it('of an earlier engine are sent', async () => {
    const jar = new CookieJar();
    jar.setCookieSync('gate=open; Path=/; HttpOnly', bench.site.origin);
    jar.setCookieSync('gone=1; Max-Age=0', bench.site.origin);
    jar.setCookieSync('own=2', `${bench.site.origin}/elsewhere/x`);
    const page = (await bench.visit('/cookies', {}, { jar })).at(-1)!;
    expect(words(page.text)).toContain('gate=open');
    expect(words(page.text)).not.toMatch(/gone|own/);
  });
});

describe('the state of a page', () => {
  it('is exported, and loaded before another', async () => {
    const first = await bench.last('/welcome', { exportStorageState: true });
    const state = first.storageState!;
    expect(state.cookies.map(({ name, value }) => [name, value]).sort()).toEqual([
      ['kept', 'long'],
      ['session', 'abc'],
    ]);
    expect(state.cookies.find(({ name }) => name === 'session')).toEqual({
      name: 'session',
      value: 'abc',
      domain: '127.0.0.1',
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: false,
      sameSite: 'Strict',
    });
    expect(state.origins).toEqual([
      { origin: bench.site.origin, localStorage: [{ name: 'color', value: 'green & blue' }] },
    ]);

    const welcomed = bench.site.hits('/welcome');
    expect(words((await bench.last('/stored', { storageState: state })).text)).toContain('color green');
    expect(words((await bench.last('/cookies', { storageState: state })).text)).toMatch(/session=abc/);
    expect(bench.site.hits('/welcome')).toBe(welcomed);
    const again = await bench.last('/stored', { storageState: state, exportStorageState: true });
    expect(again.storageState).toEqual(state);
  });

  it('is exported without the part that is too large to be submitted', async () => {
    const fill = "localStorage.setItem('much', 'x'.repeat(2 ** 20)); document.cookie = 'small=1'";
    const page = await bench.last('/article', { exportStorageState: true, injectPageScript: fill });
    expect(page.storageState).toMatchObject({ cookies: [{ name: 'small' }], origins: [] });
    expect(page.notes).toEqual(['The storage state of the page is too large; part of it was left out']);
  });

  it('is left out, with a note, if the scripts of the page block it', async () => {
    const page = await bench.last('/hang', { exportStorageState: true }, 4_000);
    expect(page.text).toContain('Before the hang.');
    expect(page.storageState?.origins ?? []).toEqual([]);
    expect(page.notes).toContain('The scripts of the page did not finish and were stopped');
    const isTold = page.notes.some((note) => note.startsWith('The storage state of the page could not be read'));
    expect(isTold).toBe(page.storageState === undefined);
    expect(bench.pool.status().pages).toBe(0);
  });

  it('is returned only on request, and does not affect the next read', async () => {
    expect((await bench.last('/welcome')).storageState).toBeUndefined();
    expect(words((await bench.last('/stored')).text)).toContain('color null');
    expect(words((await bench.last('/cookies')).text)).toContain('none');
  });

  it('that is invalid in a browser is refused', async () => {
    const cookie = { name: 'a', value: '1', domain: 'a.example', path: '/' };
    for (const storageState of [
      { cookies: [{ ...cookie, domain: '' }] },
      { cookies: [{ ...cookie, expires: 'soon' }] },
      { origins: [{ origin: 'file:///etc', localStorage: [] }] },
    ]) {
      const refused = { name: 'ParamValidationError', facts: { path: 'storageState' } };
      await expect(bench.last('/article', { storageState })).rejects.toMatchObject(refused);
    }
  });
});

describe('a page that is visited first', () => {
  it('sets cookies and storage for the target', async () => {
    const preloadUrl = `${bench.site.origin}/welcome`;
    expect(words((await bench.last('/cookies', { preloadUrl })).text)).toMatch(/session=abc/);
    expect(words((await bench.last('/stored', { preloadUrl })).text)).toContain('color green');
  });

  it('may fail, within its share of the time', async () => {
    await Promise.all(
      ['/missing', '/silent', '/hang', '/paper.pdf'].map(async (path) => {
        const page = await bench.last('/article', { preloadUrl: bench.site.origin + path }, 15_000);
        expect(page.text, path).toContain('Mackerel');
      }),
    );
    expect(
      (await bench.last('/article', { preloadUrl: 'http://no-such-host.invalid/' }).catch((error) => error)).name,
    ).toBe('ParamValidationError');
  });

  it('is refused like a target', async () => {
    for (const preloadUrl of ['http://10.0.0.1/', 'http://localhost/']) {
      await expect(bench.last('/article', { preloadUrl }), preloadUrl).rejects.toMatchObject({
        name: 'SecurityCompromiseError',
        facts: { path: 'preloadUrl' },
      });
    }
  });
});

describe('HTML that was fetched before', () => {
  const html =
    '<title>Fetched</title><p id="a">fetched before</p><script>if (!sessionStorage.again) { sessionStorage.again = 1; } else document.title = "x"</script>';

  it('replaces the first response, with its status and date', async () => {
    const answer = { status: 999, statusText: 'Denied Here', lastModified: 'Tue, 03 Mar 2026 10:00:00 GMT' };
    const page = (await bench.visit('/never-fetched', {}, { html, fetchedResponse: answer })).at(-1)!;
    expect(page).toMatchObject({ ...answer, settled: true });
    expect(page.text).toContain('fetched before');
    expect(bench.site.hits('/never-fetched')).toBe(0);
  });

  it('does not replace the next response: a page that reloads is requested', async () => {
    const gate = '<title>Gate</title><p>gate</p><script>document.cookie = "gate=open"; location.reload()</script>';
    const page = (
      await bench.visit('/cookies', {}, { html: gate, fetchedResponse: { status: 200, statusText: 'OK' } })
    ).at(-1)!;
    expect(words(page.text)).toContain('gate=open');
    expect(page.status).toBe(200);
  });
});
