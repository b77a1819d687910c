/** Tests the requests to each service, and the parsing of its responses. The responses were written for these tests. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderSettings } from '../provider.ts';
import { parseQuery, type SearchQuery } from '../query.ts';
import { described } from './described.ts';
import { PROVIDERS } from './providers.ts';

const KEY = 'the-key-0123456789';

interface Case {
  readonly answer: object;
  readonly first: object;
  readonly settings?: Partial<ProviderSettings>;
  readonly query?: Partial<SearchQuery>;
}

const ask = (name: string, query: SearchQuery, settings: Partial<ProviderSettings> = {}) => {
  const provider = PROVIDERS[name]!;
  const { url, method, headers, body } = provider.request(query, {
    url: provider.url ?? 'https://own.test/base',
    key: KEY,
    ...settings,
  });
  const parameters = Object.fromEntries(url.searchParams);
  return {
    place: `${method} ${url.origin}${url.pathname}`,
    parameters,
    headers,
    body: body ? JSON.parse(body) : undefined,
  };
};

const web = (text: string, more: Partial<SearchQuery> = {}) => parseQuery(text, { count: 10, page: 1, ...more });
const SINCE = Date.UTC(2026, 0, 31);
const UNTIL = Date.UTC(2026, 1, 28);

describe('requests', () => {
  it('ask SearXNG for its JSON format, a page of its own size', () => {
    const query = web('cats site:a.com', { page: 3, language: 'zh-tw', kind: 'news' });
    expect(ask('searxng', query, { engine: 'google' })).toEqual({
      place: 'GET https://own.test/base/search',
      parameters: {
        q: 'cats site:a.com',
        format: 'json',
        categories: 'news',
        pageno: '3',
        language: 'zh-TW',
        engines: 'google news',
      },
      headers: { accept: 'application/json', authorization: `Bearer ${KEY}` },
      body: undefined,
    });
    expect(ask('searxng', web('x', { language: 'es-419' })).parameters.language).toBe('es');
  });

  it('ask Brave with its own names for countries and languages', () => {
    const query = web('cats', {
      page: 2,
      count: 20,
      country: 'de',
      language: 'zh-cn',
      noCorrection: true,
      since: SINCE,
      until: UNTIL,
    });
    expect(ask('brave', query)).toMatchObject({
      place: 'GET https://api.search.brave.com/res/v1/web/search',
      parameters: {
        q: 'cats',
        count: '20',
        offset: '1',
        country: 'DE',
        search_lang: 'zh-hans',
        spellcheck: '0',
        freshness: '2026-01-31to2026-02-27',
      },
      headers: { 'x-subscription-token': KEY },
    });
    expect(ask('brave', web('cats', { country: 'bt' })).parameters.country).toBe('ALL');
    expect(ask('brave', web('cats inurl:x filetype:pdf')).parameters.q).toBe('cats filetype:pdf');
    expect(ask('brave', web('c'.repeat(900))).parameters.q).toHaveLength(400);
    expect(ask('brave', web('cats', { kind: 'images' })).place).toMatch(/\/images\/search$/);
  });

  it('ask Mojeek by the number of the first result', () => {
    const query = web('big cats -dogs "wild animals" site:a.com', {
      page: 2,
      country: 'gb',
      language: 'en',
      since: SINCE,
    });
    expect(ask('mojeek', query)).toMatchObject({
      place: 'GET https://api.mojeek.com/search',
      parameters: {
        q: 'big cats "wild animals" -dogs',
        fmt: 'json',
        s: '11',
        t: '10',
        lb: 'EN',
        rb: 'GB',
        site: 'a.com',
        since: '20260131',
        api_key: KEY,
      },
    });
  });

  it('ask Tavily and Exa with sites as fields', () => {
    const query = web('cats site:a.com -site:b.a.com', { country: 'de', since: SINCE });
    expect(ask('tavily', query)).toMatchObject({
      place: 'POST https://api.tavily.com/search',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: {
        query: 'cats',
        topic: 'general',
        max_results: 10,
        include_domains: ['a.com'],
        exclude_domains: ['b.a.com'],
        country: 'germany',
        start_date: '2026-01-31',
      },
    });
    expect(ask('exa', { ...query, kind: 'news' })).toMatchObject({
      place: 'POST https://api.exa.ai/search',
      headers: { 'x-api-key': KEY },
      body: {
        query: 'cats',
        numResults: 10,
        category: 'news',
        includeDomains: ['a.com'],
        excludeDomains: ['b.a.com'],
        startPublishedDate: '2026-01-31T00:00:00.000Z',
        userLocation: 'DE',
      },
    });
  });

  it('ask Serper by page number', () => {
    const query = web('cats loc:us', {
      page: 3,
      country: 'us',
      language: 'en',
      location: 'Berlin',
      noCorrection: true,
      until: UNTIL,
    });
    expect(ask('serper', query)).toMatchObject({
      place: 'POST https://google.serper.dev/search',
      headers: { 'x-api-key': KEY },
      body: {
        q: 'cats',
        num: 10,
        page: 3,
        gl: 'us',
        hl: 'en',
        location: 'Berlin',
        autocorrect: false,
        tbs: 'cdr:1,cd_max:2/27/2026',
      },
    });
    expect(ask('serper', { ...query, kind: 'images' }).place).toMatch(/\/images$/);
  });

  it('ask Marginalia with the shared key if there is no other', () => {
    const { place, parameters, headers } = ask('marginalia', web('cats site:a.com', { page: 2 }), { key: undefined });
    expect(place).toBe('GET https://api2.marginalia-search.com/search');
    expect(parameters).toEqual({ query: 'cats site:a.com', count: '10', page: '2' });
    expect(headers['api-key']).toBe('public');
  });

  it('ask the Wikipedia of the language', () => {
    const { place, parameters } = ask('wikipedia', web('cats intitle:lion', { page: 2, language: 'pt-br' }), {
      key: undefined,
    });
    expect(place).toBe('GET https://pt.wikipedia.org/w/api.php');
    expect(parameters).toMatchObject({
      action: 'query',
      list: 'search',
      srsearch: 'cats intitle:lion',
      srlimit: '10',
      sroffset: '10',
    });
    expect(ask('wikipedia', web('x')).place).toMatch(/\/\/en\.wikipedia/);
    expect(ask('wikipedia', web('x', { language: 'iw' })).place).toMatch(/\/\/he\.wikipedia/);
    expect(ask('wikipedia', web('x'), { url: 'https://wiki.test' }).place).toMatch(/^GET https:\/\/wiki\.test\/w/);
  });
});

const CASES: Record<string, Case> = {
  searxng: {
    answer: {
      query: 'x',
      number_of_results: 2,
      results: [
        {
          url: 'https://a.com/1',
          title: 'One &amp; more',
          content: 'It is <b>one</b>',
          engine: 'brave',
          parsed_url: ['https', 'a.com', '/1', '', '', ''],
          engines: ['brave', 'mojeek'],
          positions: [1, 3],
          score: 2.5,
          category: 'general',
          publishedDate: '2026-01-31T00:00:00',
        },
        { title: 'no address' },
      ],
      unresponsive_engines: [['google', 'CAPTCHA']],
    },
    first: {
      title: 'One & more',
      url: 'https://a.com/1',
      description: 'It is one',
      date: '2026-01-31T00:00:00',
      score: 2.5,
    },
  },
  'searxng images': {
    query: { kind: 'images' },
    answer: {
      results: [
        { url: 'https://a.com/1', title: 'One', img_src: '//a.com/1.png', resolution: '640 x 480', source: 'A' },
      ],
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: '',
      imageUrl: 'https://a.com/1.png',
      imageWidth: 640,
      imageHeight: 480,
      source: 'A',
    },
  },
  brave: {
    answer: {
      type: 'search',
      web: {
        type: 'search',
        results: [
          {
            title: 'One',
            url: 'https://a.com/1',
            description: 'About <strong>one</strong>&#x27;s own',
            age: '2 days ago',
            page_age: '2026-01-31T00:00:00',
            profile: { name: 'A site', url: 'https://a.com' },
            meta_url: { hostname: 'a.com' },
            deep_results: {
              buttons: [
                { title: 'Deep', url: 'https://a.com/deep' },
                { title: 'script', url: 'javascript:1' },
              ],
            },
          },
        ],
      },
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: "About one's own",
      source: 'A site',
      date: '2 days ago',
      siteLinks: [{ title: 'Deep', link: 'https://a.com/deep' }],
    },
  },
  'brave images': {
    query: { kind: 'images' },
    answer: {
      type: 'images',
      results: [
        {
          title: 'One',
          url: 'https://a.com/1',
          source: 'a.com',
          thumbnail: { src: 'https://imgs.test/t.png' },
          properties: { url: 'https://a.com/1.png', width: 640, height: 480 },
        },
      ],
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: '',
      source: 'a.com',
      imageUrl: 'https://a.com/1.png',
      imageWidth: 640,
      imageHeight: 480,
    },
  },
  'brave news': {
    query: { kind: 'news' },
    answer: {
      results: [
        {
          title: 'N',
          url: 'https://n.test/1',
          description: 'D',
          age: '1 hour ago',
          meta_url: { hostname: 'n.test' },
          thumbnail: { src: 'https://n.test/t.png' },
        },
      ],
    },
    first: {
      title: 'N',
      url: 'https://n.test/1',
      description: 'D',
      source: 'n.test',
      date: '1 hour ago',
      imageUrl: 'https://n.test/t.png',
    },
  },
  mojeek: {
    answer: {
      response: {
        status: 'OK',
        head: { query: 'x', results: 1, start: 1, return: 1 },
        results: [{ url: 'https://a.com/1', title: 'One', desc: 'About', size: '12kb', pdate: '2026-01-31' }],
      },
    },
    first: { title: 'One', url: 'https://a.com/1', description: 'About', date: '2026-01-31' },
  },
  tavily: {
    answer: {
      query: 'x',
      answer: null,
      images: [],
      results: [{ title: 'One', url: 'https://a.com/1', content: 'About\none', score: 0.9, raw_content: null }],
      response_time: 1.1,
    },
    first: { title: 'One', url: 'https://a.com/1', description: 'About one', score: 0.9 },
  },
  exa: {
    answer: {
      requestId: 'r',
      results: [
        {
          id: 'https://a.com/1',
          title: 'One',
          url: 'https://a.com/1',
          publishedDate: '2026-01-31T00:00:00.000Z',
          author: null,
          score: 0.3,
          highlights: ['About one'],
          highlightScores: [0.4],
        },
      ],
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: 'About one',
      date: '2026-01-31T00:00:00.000Z',
      score: 0.3,
    },
  },
  serper: {
    answer: {
      searchParameters: { q: 'x', type: 'search' },
      organic: [
        {
          title: 'One',
          link: 'https://a.com/1',
          snippet: 'About',
          date: 'Jan 31, 2026',
          position: 1,
          sitelinks: [{ title: 'Deep', link: 'https://a.com/deep' }],
        },
      ],
      credits: 1,
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: 'About',
      date: 'Jan 31, 2026',
      siteLinks: [{ title: 'Deep', link: 'https://a.com/deep' }],
    },
  },
  'serper images': {
    query: { kind: 'images' },
    answer: {
      images: [
        {
          title: 'One',
          imageUrl: 'https://a.com/1.png',
          imageWidth: 640,
          imageHeight: 480,
          thumbnailUrl: 'https://t.test/t',
          source: 'A',
          domain: 'a.com',
          link: 'https://a.com/1',
          position: 1,
        },
      ],
    },
    first: {
      title: 'One',
      url: 'https://a.com/1',
      description: '',
      source: 'A',
      imageUrl: 'https://a.com/1.png',
      imageWidth: 640,
      imageHeight: 480,
    },
  },
  marginalia: {
    answer: {
      license: 'CC-BY-NC-SA 4.0',
      page: 1,
      query: 'x',
      results: [{ url: 'https://a.com/1', title: 'One', description: 'About', quality: 4.2, details: [] }],
    },
    first: { title: 'One', url: 'https://a.com/1', description: 'About' },
  },
  wikipedia: {
    settings: { url: 'https://{language}.wikipedia.org' },
    query: { language: 'de' },
    answer: {
      batchcomplete: true,
      continue: { sroffset: 10 },
      query: {
        searchinfo: { totalhits: 2 },
        search: [
          {
            ns: 0,
            title: 'Große Katze? (Tier)',
            pageid: 1,
            snippet: 'Die <span class="searchmatch">Katze</span> ist &quot;groß&quot;',
          },
        ],
      },
    },
    first: {
      title: 'Große Katze? (Tier)',
      url: 'https://de.wikipedia.org/wiki/Gro%C3%9Fe_Katze%3F_(Tier)',
      description: 'Die Katze ist "groß"',
      source: 'Wikipedia',
      attribution: 'Wikipedia contributors, CC BY-SA 4.0',
    },
  },
};

describe('answers', () => {
  it.each(Object.keys(CASES))('of %s are read', (name) => {
    const { answer, first, settings, query } = CASES[name]!;
    const provider = PROVIDERS[name.split(' ')[0]!]!;
    const hits = provider.parse(answer, web('x', query), { url: provider.url ?? 'https://own.test', ...settings });
    expect(hits).toEqual([first]);
  });

  it('of an unexpected shape yield no hits', () => {
    const providers = [...Object.values(PROVIDERS), OWN];
    const settings = { url: 'https://x.test', described: DESCRIBED };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(...providers), (value, provider) => {
        for (const answer of [
          value,
          {
            results: value,
            organic: [value],
            web: { results: [value] },
            response: { results: value },
            query: { search: [value] },
          },
        ]) {
          expect(provider.parse(answer, web('x'), settings).every(({ url }) => /^https?:/.test(url))).toBe(true);
        }
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it('are truncated to what is shown, in linear time', () => {
    const long = '<b>'.repeat(400_000) + '&'.repeat(400_000);
    const [hit] = PROVIDERS.searxng!.parse(
      { results: [{ url: 'https://a.com', title: long, content: long }] },
      web('x'),
      { url: 'x' },
    );
    expect(hit!.title.length).toBeLessThanOrEqual(500);
    expect(hit!.description.length).toBeLessThanOrEqual(3_000);
  });
});

const DESCRIBED = {
  method: 'POST',
  headers: { authorization: 'Token {key}', 'x-q': '{query}' },
  body: {
    text: '{query}',
    size: '{count}',
    from: '{offset}',
    deep: [{ lang: '{language}-x', keep: 5, key: '{other}' }],
  },
  results: 'data.items',
  fields: { title: 'name', url: 'links.0.href', description: 'about.text' },
  maxCount: 20,
  paging: 'exact',
  kinds: ['web'],
} as const;
const OWN = described(DESCRIBED);

describe('a described service', () => {
  const settings = { url: 'https://own.test/find?q={query}&p={page}', key: KEY, described: DESCRIBED };

  it('is asked with its placeholders filled in', () => {
    const { url, headers, body } = OWN.request(web('cats & "dögs" {key}', { page: 3, language: 'zh-cn' }), settings);
    expect(url.href).toBe('https://own.test/find?q=cats%20%26%20%22d%C3%B6gs%22%20%7Bkey%7D&p=3');
    expect(headers).toMatchObject({ authorization: `Token ${KEY}`, 'x-q': 'cats & "dgs" {key}' });
    expect(JSON.parse(body!)).toEqual({
      text: 'cats & "dögs" {key}',
      size: 10,
      from: 20,
      deep: [{ lang: 'zh-CN-x', keep: 5, key: '{other}' }],
    });
  });

  it('is read by its paths, own properties only', () => {
    const answer = {
      data: {
        items: [
          { name: 'One', links: [{ href: 'https://a.com/1' }], about: { text: 'About' } },
          { links: [] },
          5,
          null,
        ],
      },
    };
    expect(OWN.parse(answer, web('x'), settings)).toEqual([
      { title: 'One', url: 'https://a.com/1', description: 'About' },
    ]);
    const inherited = { ...DESCRIBED, results: 'constructor.prototype' };
    expect(described(inherited).parse({}, web('x'), { ...settings, described: inherited })).toEqual([]);
  });
});
