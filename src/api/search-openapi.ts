/** The search host's interface description and its page, both drawn from the tables of options and errors. */
import { bodySchema, type DescribedOption, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { docsPage, FAILURE, serveDescription } from './description.ts';
import { TRACE_SCHEMA } from './trace-openapi.ts';

const TABLE: Readonly<Record<string, DescribedOption>> = ALL_OPTIONS;

export function searchDescriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: searchDescription(version),
    page: docsPage({ title: `Lectern search ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs',
  });
}

/** The OpenAPI 3.1 document of the search host. */
function searchDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const query = queryParameters(TABLE);
  const requestBody = {
    required: false,
    content: Object.fromEntries(
      ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => [
        type,
        { schema: { $ref: '#/components/schemas/SearchOptions' } },
      ]),
    ),
  };
  const typed = {
    name: 'query',
    in: 'path',
    required: true,
    description: 'What is searched for, percent-encoded; a plus sign stays one.',
    schema: { type: 'string' },
  };
  const pair = (id: string, summary: string, more: readonly object[]) => ({
    get: { operationId: `${id}ByQuery`, summary, responses: RESPONSES, parameters: [...more, ...query, ...headers] },
    post: {
      operationId: `${id}ByBody`,
      summary,
      responses: RESPONSES,
      parameters: [...more, ...query, ...headers],
      requestBody,
    },
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lectern search',
      version,
      description: 'A query in, the pages that answer it as Markdown out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths: {
      '/search': pair('search', 'Search', []),
      '/': pair('searchOrIndex', 'Search for `q`, or show the index without one', []),
      '/{query}': pair('searchPath', 'Search for what stands in the path', [typed]),
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { SearchOptions: bodySchema(TABLE), Answer: ANSWER, Result: RESULT, Failure: FAILURE },
    },
  };
}

const text = (description: string) => ({ type: 'string', description });
const whole = (description: string) => ({ type: 'integer', description });

const RESULT = {
  type: 'object',
  required: ['title', 'url', 'description', 'content', 'usage'],
  properties: {
    title: text('The title of the page; before it was read, that of the search.'),
    url: text('The address of the page.'),
    description: text('What the page says of itself; before it was read, or without that, what the search says of it.'),
    imageUrl: text('The picture, or one of the page.'),
    imageWidth: whole('In pixels.'),
    imageHeight: whole('In pixels.'),
    source: text('The name of the site.'),
    date: text('As the search service writes it; may be relative.'),
    siteLinks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['title', 'link'],
        properties: { title: text('Its text.'), link: text('Its address.'), snippet: text('What is said of it.') },
      },
    },
    content: text('The page as Markdown; empty when it was not read.'),
    passages: {
      type: 'array',
      description: 'With `passages`: the chosen parts of the page, in its order; `content` is these.',
      items: {
        type: 'object',
        required: ['text', 'tokens'],
        properties: {
          text: text('Markdown.'),
          heading: text('The headings that it stands below.'),
          tokens: whole('How many tokens it has.'),
        },
      },
    },
    chunks: { type: 'array', items: { type: 'string' }, description: 'The Markdown in pieces.' },
    publishedTime: text('When the page was published.'),
    html: text('The document.'),
    text: text('The text of the document.'),
    screenshotUrl: text('Where the picture of the window is for four hours.'),
    pageshotUrl: text('Where the picture of the whole page is for four hours.'),
    images: { type: 'object', additionalProperties: true, description: 'Label to address.' },
    links: { description: 'Text to address, or pairs of them.', anyOf: [{ type: 'object' }, { type: 'array' }] },
    warning: text('What may be wrong with this result; that its page could not be read, for one.'),
    metadata: { type: 'object', additionalProperties: true, description: 'What was found of the page.' },
    external: { type: 'object', additionalProperties: true, description: 'The links of its head.' },
    favicon: text('With `withFavicons`: the icon of the site as a data URL, empty when it has none.'),
    usage: { type: 'object', required: ['tokens'], properties: { tokens: whole('What the result is charged.') } },
  },
};

const ANSWER = {
  type: 'object',
  required: ['code', 'status', 'data', 'meta'],
  properties: {
    code: { const: 200 },
    status: { const: 20_000 },
    data: { type: 'array', items: { $ref: '#/components/schemas/Result' } },
    meta: {
      type: 'object',
      properties: {
        usage: { type: 'object' },
        trace: TRACE_SCHEMA,
        notice: text('What is to be known of the answer as a whole.'),
      },
    },
  },
};

const RESPONSES = {
  200: {
    description: 'The results.',
    headers: {
      'X-Usage-Tokens': { schema: { type: 'integer' }, description: 'What the answer is charged.' },
      'X-Search-Provider': { schema: { type: 'string' }, description: 'Who answered.' },
    },
    content: {
      'text/plain': { schema: { type: 'string' } },
      'application/json': { schema: { $ref: '#/components/schemas/Answer' } },
      'text/event-stream': {
        schema: {
          type: 'string',
          description: 'Events `data`, each the results as far as they are; `error` when it fails.',
        },
      },
    },
  },
  default: {
    description: 'A failure; its code is the HTTP status.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  },
};

const INTRO = `<p>Put a query behind this host, or post it: the answer is the pages that answer it, as Markdown. Options go in headers, in the query, or in a JSON or form body.</p>
<pre>curl HOST/how%20bees%20find%20home -H "Authorization: Bearer KEY"
curl HOST/search -H "Authorization: Bearer KEY" -H 'Accept: application/json' -d q=bees -d num=5 -d site=example.com</pre>`;
