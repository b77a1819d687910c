/**
 * Responses of the public sources, in their documented shapes. The contents were written for these tests. Each case
 * names the page that documents the shape.
 */
import type { Hit } from '../hit.ts';
import type { SearchKind } from '../query.ts';

export interface SourceCase {
  /** The page that documents the response. */
  readonly documentation: string;
  /** The responses to the requests of one search, in order; a string is sent as it is. */
  readonly answers: readonly (object | string)[];
  /** The first hit. */
  readonly first: Hit;
  /** The response if nothing was found. */
  readonly empty: readonly (object | string)[];
  /** The path of the first request. */
  readonly path: string;
  /** Parameters of the first request for `red kettle`, ten results, page 2. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly kind?: SearchKind;
}

const EMPTY_FEED = '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>none</title></feed>';
/** https://info.arxiv.org/help/api/user-manual.html#api_response */
const FEED = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="html">Query results</title>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults>
  <entry>
    <id>http://arxiv.org/abs/2601.00042v2</id>
    <updated>2026-02-01T00:00:00Z</updated>
    <published>2026-01-05T10:00:00Z</published>
    <title>Heat in red kettles &amp; pans</title>
    <summary>  We measure
  a kettle. </summary>
    <author><name>Ada Example</name></author>
    <author><name>Bo Sample</name></author>
    <link href="http://arxiv.org/abs/2601.00042v2" rel="alternate" type="text/html"/>
    <category term="physics.app-ph"/>
  </entry>
</feed>`;

/** https://www.mediawiki.org/wiki/API:Search#Response */
const wikiCase = (url: string, source: string, attribution: string): SourceCase => ({
  documentation: 'https://www.mediawiki.org/wiki/API:Search',
  answers: [
    {
      batchcomplete: true,
      continue: { sroffset: 10, continue: '-||' },
      query: {
        searchinfo: { totalhits: 1 },
        search: [
          {
            ns: 0,
            title: 'Red kettle',
            pageid: 7,
            size: 900,
            wordcount: 120,
            snippet: 'A <span class="searchmatch">kettle</span> that is &quot;red&quot;',
            timestamp: '2026-01-31T10:00:00Z',
          },
        ],
      },
    },
  ],
  empty: [{ batchcomplete: true, query: { searchinfo: { totalhits: 0 }, search: [] } }],
  first: {
    title: 'Red kettle',
    url: `${url}/wiki/Red_kettle`,
    description: 'A kettle that is "red"',
    source,
    date: '2026-01-31T10:00:00Z',
    attribution,
  },
  path: '/w/api.php',
  parameters: { action: 'query', list: 'search', srsearch: 'red kettle', srlimit: '10', sroffset: '10', maxlag: '5' },
});

/** https://api.stackexchange.com/docs/types/question, with the wrapper of https://api.stackexchange.com/docs/wrapper */
const questionCase = (site: string, source: string): SourceCase => ({
  documentation: 'https://api.stackexchange.com/docs/advanced-search',
  answers: [
    {
      items: [
        {
          tags: ['kettle'],
          owner: { user_id: 5, display_name: 'Ada &amp; Co' },
          is_answered: true,
          answer_count: 1,
          score: 4,
          creation_date: 1_769_853_600,
          question_id: 42,
          content_license: 'CC BY-SA 4.0',
          link: 'https://questions.example/questions/42/why',
          title: 'Why is my kettle &quot;red&quot;?',
          body: '<p>It was <code>blue</code>.</p>',
        },
      ],
      has_more: false,
      quota_max: 300,
      quota_remaining: 299,
    },
  ],
  empty: [{ items: [], has_more: false, quota_max: 300, quota_remaining: 298 }],
  first: {
    title: 'Why is my kettle "red"?',
    url: 'https://questions.example/questions/42/why',
    description: '1 answer, answered. It was blue.',
    source,
    date: '2026-01-31T10:00:00.000Z',
    attribution: `Ada & Co, ${source}, CC BY-SA 4.0`,
  },
  path: '/search/advanced',
  parameters: { q: 'red kettle', site, order: 'desc', sort: 'relevance', page: '2', pagesize: '10' },
});

/** https://huggingface.co/docs/hub/en/api#get-apimodels */
const hubCase = (place: string, folder: string): SourceCase => ({
  documentation: 'https://huggingface.co/docs/hub/en/api',
  answers: [
    [
      {
        id: 'example/red-kettle',
        author: 'example',
        tags: ['onnx', 'license:mit', 'en'],
        pipeline_tag: 'image-classification',
        downloads: 12,
        likes: 1,
        lastModified: '2026-01-31T10:00:00.000Z',
      },
    ],
  ],
  empty: [[]],
  first: {
    title: 'example/red-kettle',
    url: `https://huggingface.co/${folder}example/red-kettle`,
    description: 'image-classification · onnx, en · 12 downloads',
    source: 'Hugging Face',
    date: '2026-01-31T10:00:00.000Z',
    attribution: 'mit',
  },
  path: `/api/${place}`,
  parameters: { search: 'red kettle', limit: '10', sort: 'downloads', full: 'true' },
});

export const SOURCE_CASES: Readonly<Record<string, SourceCase>> = {
  wikipedia: wikiCase('https://en.wikipedia.org', 'Wikipedia', 'Wikipedia contributors, CC BY-SA 4.0'),
  wiktionary: wikiCase('https://en.wiktionary.org', 'Wiktionary', 'Wiktionary contributors, CC BY-SA 4.0'),
  wikivoyage: wikiCase('https://en.wikivoyage.org', 'Wikivoyage', 'Wikivoyage contributors, CC BY-SA 4.0'),
  wikinews: wikiCase('https://en.wikinews.org', 'Wikinews', 'Wikinews contributors, CC BY'),
  commons: {
    documentation: 'https://www.mediawiki.org/wiki/API:Imageinfo',
    kind: 'images',
    answers: [
      {
        batchcomplete: true,
        query: {
          pages: [
            {
              pageid: 2,
              ns: 6,
              title: 'File:Other.jpg',
              index: 2,
              imageinfo: [{ url: 'https://files.example/o.jpg', descriptionurl: 'https://files.example/o' }],
            },
            {
              pageid: 1,
              ns: 6,
              title: 'File:Red kettle.jpg',
              index: 1,
              imageinfo: [
                {
                  timestamp: '2026-01-31T10:00:00Z',
                  width: 640,
                  height: 480,
                  url: 'https://files.example/k.jpg',
                  descriptionurl: 'https://files.example/wiki/File:Red_kettle.jpg',
                  extmetadata: {
                    Artist: { value: '<a href="//files.example/a">Ada</a>' },
                    LicenseShortName: { value: 'CC BY 4.0' },
                    ImageDescription: { value: 'A kettle' },
                  },
                },
              ],
            },
          ],
        },
      },
    ],
    empty: [{ batchcomplete: true }],
    first: {
      title: 'Red kettle.jpg',
      url: 'https://files.example/wiki/File:Red_kettle.jpg',
      description: 'A kettle',
      source: 'Wikimedia Commons',
      date: '2026-01-31T10:00:00Z',
      imageUrl: 'https://files.example/k.jpg',
      imageWidth: 640,
      imageHeight: 480,
      attribution: 'Ada, CC BY 4.0',
    },
    path: '/w/api.php',
    parameters: { generator: 'search', gsrsearch: 'red kettle', gsrnamespace: '6', gsrlimit: '10', gsroffset: '10' },
  },
  wikidata: {
    documentation: 'https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities',
    answers: [
      {
        searchinfo: { search: 'red kettle' },
        search: [
          {
            id: 'Q42000000',
            concepturi: 'http://www.wikidata.org/entity/Q42000000',
            label: 'red kettle',
            description: 'kettle of one color',
            match: { type: 'label', language: 'en', text: 'red kettle' },
          },
        ],
        success: 1,
      },
    ],
    empty: [{ searchinfo: { search: 'x' }, search: [], success: 1 }],
    first: {
      title: 'red kettle',
      url: 'https://www.wikidata.org/wiki/Q42000000',
      description: 'kettle of one color',
      source: 'Wikidata',
      attribution: 'Wikidata, CC0',
    },
    path: '/w/api.php',
    parameters: { action: 'wbsearchentities', search: 'red kettle', language: 'en', limit: '10', continue: '10' },
  },
  stackoverflow: questionCase('stackoverflow', 'Stack Overflow'),
  serverfault: questionCase('serverfault', 'Server Fault'),
  superuser: questionCase('superuser', 'Super User'),
  askubuntu: questionCase('askubuntu', 'Ask Ubuntu'),
  unix: questionCase('unix', 'Unix & Linux'),
  mathematics: questionCase('math', 'Mathematics'),
  hackernews: {
    documentation: 'https://hn.algolia.com/api',
    answers: [
      {
        hits: [
          {
            objectID: '123',
            title: 'A red kettle',
            url: 'https://kettle.example/',
            author: 'ada',
            points: 9,
            num_comments: 3,
            created_at: '2026-01-31T10:00:00Z',
            created_at_i: 1_769_853_600,
            story_text: null,
          },
        ],
        nbHits: 1,
        page: 1,
        nbPages: 1,
        hitsPerPage: 10,
      },
    ],
    empty: [{ hits: [], nbHits: 0, page: 0, nbPages: 0, hitsPerPage: 10 }],
    first: {
      title: 'A red kettle',
      url: 'https://kettle.example/',
      description: '9 points, 3 comments',
      source: 'Hacker News',
      date: '2026-01-31T10:00:00Z',
      siteLinks: [{ title: 'Discussion on Hacker News', link: 'https://news.ycombinator.com/item?id=123' }],
    },
    path: '/api/v1/search',
    parameters: { query: 'red kettle', tags: 'story', page: '1', hitsPerPage: '10' },
  },
  github: {
    documentation: 'https://docs.github.com/rest/search/search#search-repositories',
    answers: [
      {
        total_count: 1,
        incomplete_results: false,
        items: [
          {
            full_name: 'example/kettle',
            html_url: 'https://github.com/example/kettle',
            description: 'A kettle in code',
            language: 'Rust',
            stargazers_count: 7,
            topics: [],
            license: { spdx_id: 'MIT' },
            pushed_at: '2026-01-31T10:00:00Z',
          },
        ],
      },
    ],
    empty: [{ total_count: 0, incomplete_results: false, items: [] }],
    first: {
      title: 'example/kettle',
      url: 'https://github.com/example/kettle',
      description: 'A kettle in code · Rust · 7 stars',
      source: 'GitHub',
      date: '2026-01-31T10:00:00Z',
      attribution: 'MIT',
    },
    path: '/search/repositories',
    parameters: { q: 'red kettle', per_page: '10', page: '2' },
  },
  'github-issues': {
    documentation: 'https://docs.github.com/rest/search/search#search-issues-and-pull-requests',
    answers: [
      {
        total_count: 1,
        incomplete_results: false,
        items: [
          {
            html_url: 'https://github.com/example/kettle/issues/3',
            repository_url: 'https://api.github.com/repos/example/kettle',
            title: 'It boils over',
            state: 'open',
            body: 'Steps:\n1. Fill it',
            updated_at: '2026-01-31T10:00:00Z',
          },
        ],
      },
    ],
    empty: [{ total_count: 0, incomplete_results: false, items: [] }],
    first: {
      title: 'It boils over',
      url: 'https://github.com/example/kettle/issues/3',
      description: 'example/kettle, open · Steps: 1. Fill it',
      source: 'GitHub',
      date: '2026-01-31T10:00:00Z',
    },
    path: '/search/issues',
    parameters: { q: 'red kettle is:issue', per_page: '10', page: '2' },
  },
  npm: {
    documentation: 'https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md#get-v1search',
    answers: [
      {
        objects: [
          {
            package: {
              name: '@example/kettle',
              version: '1.2.3',
              description: 'Boils',
              date: '2026-01-31T10:00:00.000Z',
              links: { npm: 'https://www.npmjs.com/package/%40example%2Fkettle' },
            },
          },
        ],
        total: 1,
      },
    ],
    empty: [{ objects: [], total: 0 }],
    first: {
      title: '@example/kettle 1.2.3',
      url: 'https://www.npmjs.com/package/%40example%2Fkettle',
      description: 'Boils',
      source: 'npm',
      date: '2026-01-31T10:00:00.000Z',
    },
    path: '/-/v1/search',
    parameters: { text: 'red kettle', size: '10', from: '10' },
  },
  crates: {
    documentation: 'https://crates.io/data-access',
    answers: [
      {
        crates: [
          {
            name: 'kettle',
            description: 'Boils',
            max_stable_version: '0.3.0',
            documentation: 'https://docs.example/kettle',
            homepage: null,
            repository: null,
            downloads: 5,
            updated_at: '2026-01-31T10:00:00Z',
          },
        ],
        meta: { total: 1 },
      },
    ],
    empty: [{ crates: [], meta: { total: 0 } }],
    first: {
      title: 'kettle 0.3.0',
      url: 'https://crates.io/crates/kettle',
      description: 'Boils · 5 downloads',
      source: 'crates.io',
      date: '2026-01-31T10:00:00Z',
      siteLinks: [{ title: 'Documentation', link: 'https://docs.example/kettle' }],
    },
    path: '/api/v1/crates',
    parameters: { q: 'red kettle', page: '2', per_page: '10' },
  },
  huggingface: hubCase('models', ''),
  'huggingface-datasets': hubCase('datasets', 'datasets/'),
  crossref: {
    documentation: 'https://api.crossref.org/swagger-ui/index.html',
    answers: [
      {
        status: 'ok',
        message: {
          'total-results': 1,
          items: [
            {
              DOI: '10.5555/kettle.1',
              title: ['The red kettle'],
              author: [{ given: 'Ada', family: 'Example' }, { name: 'Kettle Group' }],
              'container-title': ['Journal of Kettles'],
              issued: { 'date-parts': [[2026, 1, 5]] },
              abstract: '<jats:p>It boils.</jats:p>',
              URL: 'https://doi.org/10.5555/kettle.1',
            },
          ],
        },
      },
    ],
    empty: [{ status: 'ok', message: { 'total-results': 0, items: [] } }],
    first: {
      title: 'The red kettle',
      url: 'https://doi.org/10.5555/kettle.1',
      description: 'Ada Example, Kettle Group. Journal of Kettles. It boils.',
      source: 'Crossref',
      date: '2026-01-05',
    },
    path: '/works',
    parameters: { query: 'red kettle', rows: '10', offset: '10' },
  },
  arxiv: {
    documentation: 'https://info.arxiv.org/help/api/user-manual.html',
    answers: [FEED],
    empty: [EMPTY_FEED],
    first: {
      title: 'Heat in red kettles & pans',
      url: 'https://arxiv.org/abs/2601.00042',
      description: 'Ada Example, Bo Sample. We measure a kettle.',
      source: 'arXiv',
      date: '2026-01-05T10:00:00Z',
    },
    path: '/api/query',
    parameters: { search_query: 'all:red AND all:kettle', start: '10', max_results: '10', sortBy: 'relevance' },
  },
  pubmed: {
    documentation: 'https://www.ncbi.nlm.nih.gov/books/NBK25499/',
    answers: [
      { header: { type: 'esearch' }, esearchresult: { count: '1', retmax: '1', retstart: '0', idlist: ['31000001'] } },
      {
        header: { type: 'esummary' },
        result: {
          uids: ['31000001'],
          31000001: {
            uid: '31000001',
            pubdate: '2026 Jan 5',
            source: 'J Kettles',
            authors: [{ name: 'Example A', authtype: 'Author' }],
            title: 'Burns by kettles.',
            articleids: [{ idtype: 'doi', value: '10.5555/burn' }],
          },
        },
      },
    ],
    empty: [{ esearchresult: { count: '0', idlist: [] } }],
    first: {
      title: 'Burns by kettles.',
      url: 'https://pubmed.ncbi.nlm.nih.gov/31000001/',
      description: 'Example A. J Kettles',
      source: 'PubMed',
      date: '2026 Jan 5',
    },
    path: '/esearch.fcgi',
    parameters: { db: 'pubmed', term: 'red kettle', retmax: '10', retstart: '10', retmode: 'json', tool: 'lectern' },
  },
  europepmc: {
    documentation: 'https://europepmc.org/RestfulWebService',
    answers: [
      {
        hitCount: 1,
        nextCursorMark: 'x',
        resultList: {
          result: [
            {
              id: '31000001',
              source: 'MED',
              doi: '10.5555/burn',
              title: 'Burns by kettles.',
              authorString: 'Example A.',
              journalTitle: 'J Kettles',
              pubYear: '2026',
              abstractText: 'They are hot.',
              license: 'cc by',
            },
          ],
        },
      },
    ],
    empty: [{ hitCount: 0, resultList: { result: [] } }],
    first: {
      title: 'Burns by kettles.',
      url: 'https://doi.org/10.5555/burn',
      description: 'Example A.. J Kettles. They are hot.',
      source: 'Europe PMC',
      date: '2026',
      attribution: 'cc by',
    },
    path: '/search',
    parameters: { query: 'red kettle', format: 'json', resultType: 'core', pageSize: '10', cursorMark: '*' },
  },
  semanticscholar: {
    documentation: 'https://api.semanticscholar.org/api-docs/graph',
    answers: [
      {
        total: 1,
        offset: 10,
        data: [
          {
            paperId: 'abc',
            title: 'The red kettle',
            abstract: 'It boils.',
            url: 'https://www.semanticscholar.org/paper/abc',
            year: 2026,
            authors: [{ authorId: '1', name: 'Ada Example' }],
            openAccessPdf: { url: 'https://papers.example/k.pdf' },
            externalIds: { DOI: '10.5555/kettle.1' },
          },
        ],
      },
    ],
    empty: [{ total: 0, offset: 0 }],
    first: {
      title: 'The red kettle',
      url: 'https://doi.org/10.5555/kettle.1',
      description: 'Ada Example. It boils.',
      source: 'Semantic Scholar',
      date: '2026',
      attribution: 'Semantic Scholar',
      siteLinks: [{ title: 'PDF', link: 'https://papers.example/k.pdf' }],
    },
    path: '/graph/v1/paper/search',
    parameters: { query: 'red kettle', offset: '10', limit: '10' },
  },
  doaj: {
    documentation: 'https://doaj.org/api/docs',
    answers: [
      {
        total: 1,
        page: 2,
        results: [
          {
            id: 'a1',
            bibjson: {
              title: 'The red kettle',
              year: '2026',
              abstract: 'It boils.',
              author: [{ name: 'Ada Example' }],
              journal: { title: 'Journal of Kettles' },
              identifier: [{ type: 'doi', id: '10.5555/kettle.1' }],
              link: [{ type: 'fulltext', url: 'https://papers.example/k' }],
            },
          },
        ],
      },
    ],
    empty: [{ total: 0, page: 1, results: [] }],
    first: {
      title: 'The red kettle',
      url: 'https://doi.org/10.5555/kettle.1',
      description: 'Ada Example. Journal of Kettles. It boils.',
      source: 'DOAJ',
      date: '2026',
    },
    path: '/api/search/articles/red%20kettle',
    parameters: { page: '2', pageSize: '10' },
  },
  openlibrary: {
    documentation: 'https://openlibrary.org/dev/docs/api/search',
    answers: [
      {
        numFound: 1,
        start: 10,
        docs: [
          {
            key: '/works/OL1W',
            title: 'Kettles of the world',
            author_name: ['Ada Example'],
            first_publish_year: 1990,
            edition_count: 3,
          },
        ],
      },
    ],
    empty: [{ numFound: 0, start: 0, docs: [] }],
    first: {
      title: 'Kettles of the world',
      url: 'https://openlibrary.org/works/OL1W',
      description: 'Ada Example, first published in 1990, editions: 3',
      source: 'Open Library',
      date: '1990',
    },
    path: '/search.json',
    parameters: { q: 'red kettle', page: '2', limit: '10' },
  },
  internetarchive: {
    documentation: 'https://archive.org/help/aboutsearch.htm',
    answers: [
      {
        response: {
          numFound: 1,
          start: 10,
          docs: [
            {
              identifier: 'red-kettle_1990',
              title: 'Kettles',
              creator: ['Ada Example', 'Bo'],
              description: ['A film', 'in two parts'],
              date: '1990-01-01T00:00:00Z',
              mediatype: 'movies',
            },
          ],
        },
      },
    ],
    empty: [{ response: { numFound: 0, start: 0, docs: [] } }],
    first: {
      title: 'Kettles',
      url: 'https://archive.org/details/red-kettle_1990',
      description: 'movies. Ada Example. A film',
      source: 'Internet Archive',
      date: '1990-01-01T00:00:00Z',
    },
    path: '/advancedsearch.php',
    parameters: { q: 'red kettle', rows: '10', page: '2', output: 'json' },
  },
  gdelt: {
    documentation: 'https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/',
    kind: 'news',
    answers: [
      {
        articles: [
          {
            url: 'https://news.example/kettle',
            url_mobile: '',
            title: 'Kettle wins prize',
            seendate: '20260131T100000Z',
            socialimage: 'https://news.example/k.jpg',
            domain: 'news.example',
            language: 'English',
            sourcecountry: 'Ireland',
          },
        ],
      },
    ],
    empty: [{}],
    first: {
      title: 'Kettle wins prize',
      url: 'https://news.example/kettle',
      description: '',
      source: 'news.example',
      date: '2026-01-31T10:00:00Z',
      imageUrl: 'https://news.example/k.jpg',
      attribution: 'Found by the GDELT Project (https://www.gdeltproject.org/)',
    },
    path: '/api/v2/doc/doc',
    parameters: { query: 'red kettle', mode: 'artlist', format: 'json', maxrecords: '10' },
  },
};
