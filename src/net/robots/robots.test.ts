import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '#errors.ts';
import { startFetch, startSecret, startServer, startTcp, until } from '../loopback.suite.ts';
import { createRobots, type Robots, type RobotsCheck } from './robots.ts';
import { parseRobots } from './robots-rules.ts';

const allows = (file: string, url: URL, agent: string) => parseRobots(file).allows(url, agent);
const at = (path: string) => new URL(path, 'https://site.example/');

describe('rules', () => {
  test('give the crawl delay and the sitemaps', () => {
    const file =
      'Sitemap: https://site.example/a.xml\nUser-agent: *\nCrawl-delay: 2.5\nDisallow: /x\n\nUser-agent: one\nUser-agent: two\nDisallow:\nCrawl-delay: 7\nSitemap: /relative\nsitemap: https://site.example/a.xml\nSITEMAP:https://other.example/b.xml.gz # packed';
    const rules = parseRobots(file);
    expect(['one', 'Two/1.0', 'three', '*'].map((agent) => rules.crawlDelayS(agent))).toEqual([7, 7, 2.5, 2.5]);
    expect(rules.sitemaps).toEqual(['https://site.example/a.xml', 'https://other.example/b.xml.gz']);
    expect(parseRobots('User-agent: *\nCrawl-delay: soon').crawlDelayS('one')).toBeUndefined();
    expect(parseRobots('').sitemaps).toEqual([]);
    const many = 'User-agent: a\nAllow: /\nCrawl-delay: 1\n'.repeat(10_000);
    expect(parseRobots(many).crawlDelayS('a')).toBe(1);
  });

  test.each([
    // RFC 9309, section 2.2.2 and 2.2.3
    ['Disallow: /', '/x', false],
    ['Disallow:', '/x', true],
    ['', '/x', true],
    ['Disallow: /a', '/A', true],
    ['Disallow: /a', '/ab', false],
    ['Disallow: /a/', '/a', true],
    ['Allow: /a/b\nDisallow: /a', '/a/b', true],
    ['Disallow: /a\nAllow: /a/b', '/a/b', true],
    ['Disallow: /a\nAllow: /a', '/a', true],
    ['Disallow: /*.gif$', '/x/y.gif', false],
    ['Disallow: /*.gif$', '/x/y.gif?z', true],
    ['Disallow: /*.gif', '/x/y.gif?z', false],
    ['Disallow: /a*/b*c', '/axx/byyc', false],
    ['Disallow: /a*/b*c', '/axx/byy', true],
    ['Disallow: /a*b$', '/a-b-b', false],
    ['Disallow: /ab*b$', '/ab', true],
    ['Disallow: /$', '/', false],
    ['Disallow: /$', '/x', true],
    ['Disallow: *', '/x', false],
    ['Disallow: /a$b', '/a$b', false],
    ['Disallow: /?q=', '/?q=1', false],
    ['Disallow: /ツ', '/%E3%83%84', false],
    ['Disallow: /%e3%83%84', '/ツ', false],
    ['Disallow: /%7ejoe', '/~joe', false],
    ['Disallow: /a%2fb', '/a/b', true],
    ['Disallow: /a%2fb', '/a%2Fb', false],
    ['Disallow: /', '/robots.txt', true],
    ['DISALLOW : /a # why', '/a', false],
    ['Disallow: /a\r\nAllow: /a/b\rDisallow: /a/b/c', '/a/b/c', false],
    ['Crawl-delay: 1\nDisallow: /a', '/a', false],
  ])('%j for %j: %j', (rules, path, expected) =>
    expect(allows(`User-agent: *\n${rules}`, at(path), '*')).toBe(expected),
  );

  const GROUPS = `\ufeffSitemap: https://site.example/s.xml
Disallow: /none
User-agent: one
User-agent: Two/2.0
Crawl-delay: 3
User-agent: three
Disallow: /a
User-agent: *
Disallow: /
User-agent: ONE
Disallow: /b
User-agent: empty
Disallow:
`;
  test.each([
    ['one', '/a', false],
    ['One/1.0 (x)', '/b', false],
    ['one', '/c', true],
    ['two', '/a', false],
    ['three', '/a', false],
    ['two', '/b', true],
    ['empty', '/a', true],
    ['other', '/a', false],
    ['on', '/c', false],
    ['*', '/c', false],
    ['one', '/none', true],
  ])('agent %s at %s: %j', (agent, path, expected) => expect(allows(GROUPS, at(path), agent)).toBe(expected));

  test('hostile patterns are matched quickly', () => {
    const path = `/${'a'.repeat(2_000)}`;
    const lines = [`/${'*a'.repeat(900)}*b`, `/${'a'.repeat(1_000)}*${'a'.repeat(900)}b`, '/*ab', '/*a$'];
    const file = `User-agent: *\n${lines
      .map((line) => `Disallow: ${line}\n`)
      .join('')
      .repeat(130)}`;
    expect(allows(file, at(path), '*')).toBe(false);
    expect(allows(file.replaceAll('$', 'b'), at(path), '*')).toBe(true);
  });

  test('a file with very many agents, different or repeated, is parsed once', () => {
    const names = Array.from(
      { length: 15_000 },
      (_, index) => `User-agent: a${index.toString(36).replace(/\d/g, '_')}\n`,
    );
    const rules = Array.from({ length: 15_000 }, (_, index) => `Allow: /${index}\n`).join('');
    for (const agents of [names.join(''), 'User-agent: one\n'.repeat(15_000)]) {
      const file = parseRobots(`${agents}User-agent: one\n${rules}Disallow: /x`);
      expect(file.allows(at('/x'), 'one')).toBe(false);
      expect(file.allows(at('/14999'), 'one')).toBe(true);
      expect(file.allows(at('/x'), 'two')).toBe(true);
    }
  });

  test('all rules without stars count, and up to 3,000 with stars', () => {
    const plain = Array.from({ length: 20_000 }, (_, index) => `Disallow: /${index}\n`).join('');
    const starred = Array.from({ length: 3_001 }, (_, index) => `Disallow: /*b${index}$\n`).join('');
    const allowed = (path: string) => allows(`User-agent: *\n${starred}${plain}`, at(path), '*');
    expect(['/x', '/19999', '/b0', '/ab2999', '/ab3000'].map(allowed)).toEqual([true, false, false, false, true]);
  });

  test('a pattern matches the same paths as the equivalent regular expression', () => {
    const piece = fc.constantFrom('/', 'a', 'b', '*', '$', '.');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[ab/.]{0,8}$/), (pieces, rest) => {
        const pattern = pieces.join('');
        if (!pattern) return;
        const body = pattern.endsWith('$') ? pattern.slice(0, -1) : pattern;
        const source = body.replace(/[.$]/g, '\\$&').replaceAll('*', '.*');
        const url = new URL('https://site.example/');
        url.pathname = rest;
        const expected = !new RegExp(`^${source}${pattern.endsWith('$') ? '$' : ''}`).test(url.pathname);
        expect(allows(`User-agent: *\nDisallow: ${pattern}`, url, '*')).toBe(expected);
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });
});

describe('robots.txt', () => {
  const DENIED = { name: 'ResourcePolicyDenyError', code: 409, status: 40902 };
  const serve = async (body: string | Buffer, status = 200, headers: Record<string, string> = {}) => {
    let fetchCount = 0;
    const site = await startServer((request, response) => {
      if (request.url !== '/robots.txt') return response.writeHead(500).end();
      fetchCount++;
      response.writeHead(status, headers).end(body);
    });
    return { ...site, fetchCount: () => fetchCount };
  };
  const verdict = (robots: Robots, url: string, agent = 'true', options?: RobotsCheck) =>
    robots.check(url, agent, options).then(
      () => 'allowed',
      (error) => (error.name === DENIED.name ? 'denied' : error),
    );

  test('at the root of the origin is applied to the agent', async () => {
    const site = await serve('User-agent: *\nDisallow: /a\nUser-agent: own\nDisallow: /b');
    const robots = createRobots({ fetch: startFetch([site]) });
    await expect(robots.check(`${site.origin}/a/deep?x`, '*')).rejects.toMatchObject(DENIED);
    expect(await verdict(robots, `${site.origin}/b`, 'true')).toBe('allowed');
    expect(await verdict(robots, `${site.origin}/b`, 'Own/1')).toBe('denied');
    expect(await verdict(robots, `${site.origin}/a`, 'own')).toBe('allowed');
    expect(site.fetchCount()).toBe(1);
  });

  test.each([404, 410, 500, 503])('with status %i allows everything', async (status) => {
    const site = await serve('User-agent: *\nDisallow: /', status);
    expect(await verdict(createRobots({ fetch: startFetch([site]) }), `${site.origin}/a`)).toBe('allowed');
  });

  test('that is unreachable or private allows everything', async () => {
    const secret = await startSecret();
    const redirecting = await startServer((_, response) => response.writeHead(302, { location: secret.origin }).end());
    const closing = await startTcp((socket) => socket.destroy());
    const robots = createRobots({ fetch: startFetch([redirecting, closing]) });
    for (const site of [redirecting, closing, secret]) {
      expect(await verdict(robots, site.origin)).toBe('allowed');
      expect((await robots.rules(site.origin)).unknownFor).toBeInstanceOf(Problem);
    }
    expect(secret.connections()).toBe(0);
  });

  test('is fetched over at most five redirects', async () => {
    const chain = async (count: number) => {
      let left = count;
      const site = await startServer((_, response) => {
        if (left-- > 0) response.writeHead(301, { location: `/${left}` }).end();
        else response.end('User-agent: *\nDisallow: /');
      });
      return verdict(createRobots({ fetch: startFetch([site]) }), `${site.origin}/a`);
    };
    expect(await chain(5)).toBe('denied');
    expect(await chain(6)).toBe('allowed');
    const endless = await startServer((_, response) => response.writeHead(301, { location: '/again' }).end());
    const rules = await createRobots({ fetch: startFetch([endless]) }).rules(endless.origin);
    expect(rules.unknownFor).toBeUndefined();
  });

  test('of 10 MB is read up to 500 KiB, and not downloaded further', async () => {
    const filler = `# ${'x'.repeat(1_000)}\n`;
    const early = `User-agent: *\nDisallow: /a\n${filler.repeat(10_000)}Disallow: /b\n`;
    const site = await serve(early);
    const robots = createRobots({ fetch: startFetch([site]) });
    expect(await verdict(robots, `${site.origin}/a`)).toBe('denied');
    expect(await verdict(robots, `${site.origin}/b`)).toBe('allowed');
    await until(() => site.open() === 0);
  });

  test.each(['\n', '\r'])(
    'with two endless lines separated by %j is applied up to the end of the first',
    { timeout: 60_000 },
    async (end) => {
      const line = `# ${'x'.repeat(200_000)}`;
      const site = await serve(`User-agent: *\nDisallow: /a\n${line}${end}Disallow: /b${'x'.repeat(400_000)}`);
      const robots = createRobots({ fetch: startFetch([site]) });
      expect(await verdict(robots, `${site.origin}/a`)).toBe('denied');
      expect(await verdict(robots, `${site.origin}/bx`)).toBe('allowed');
    },
  );

  test('is fetched again after ten minutes', async () => {
    const site = await serve('User-agent: *\nDisallow: /a');
    let now = 0;
    const robots = createRobots({ fetch: startFetch([site]), clock: () => now });
    for (const time of [0, 599_000, 600_000, 600_001]) {
      now = time;
      expect(await verdict(robots, `${site.origin}/a`)).toBe('denied');
    }
    expect(site.fetchCount()).toBe(2);
  });

  test('is fetched separately with and without certificate verification', async () => {
    const site = await serve('User-agent: *\nDisallow: /a');
    const robots = createRobots({ fetch: startFetch([site]) });
    for (const acceptInvalidCertificates of [true, false, true, false]) {
      expect(await verdict(robots, `${site.origin}/a`, '*', { acceptInvalidCertificates })).toBe('denied');
    }
    expect(await verdict(robots, `${site.origin}/a`)).toBe('denied');
    expect(site.fetchCount()).toBe(2);
  });

  test('is not cached with zero data retention', async () => {
    const site = await serve('User-agent: *\nDisallow: /a');
    const robots = createRobots({ fetch: startFetch([site]) });
    for (let i = 0; i < 2; i++) {
      expect(await verdict(robots, `${site.origin}/a`, '*', { zeroDataRetention: true })).toBe('denied');
    }
    expect(site.fetchCount()).toBe(2);
  });

  test.each([
    [404, undefined, [0, 599_000], 1],
    [404, undefined, [0, 600_000], 2],
    [503, 503, [0, 19_000], 1],
    [429, 429, [0, 20_000], 2],
  ])('with status %i is cached as unknown or empty (%j)', async (status, unknownFor, times, expectedFetches) => {
    const site = await serve('', status);
    let now = 0;
    const robots = createRobots({ fetch: startFetch([site]), clock: () => now });
    for (const time of times) {
      now = time;
      const rules = await robots.rules(`${site.origin}/a`);
      expect(rules.unknownFor).toBe(unknownFor);
      expect(rules.allows(at('/a'), 'x')).toBe(true);
    }
    expect(site.fetchCount()).toBe(expectedFetches);
  });

  test('an abort ends the wait', async () => {
    const site = await startTcp((socket) => socket.resume());
    const controller = new AbortController();
    const check = createRobots({ fetch: startFetch([site]) }).check(site.origin, '*', { signal: controller.signal });
    await until(() => site.open() === 1);
    controller.abort(new Error('aborted'));
    await expect(check).rejects.toThrow('aborted');
  });
});
