/** The OpenAPI document and HTML page of the search host, made from the tables of options and errors. */
import { bodySchema, type DescribedOption, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import {
  answerEnvelope,
  FAILURE,
  hostDocument,
  integer,
  map,
  optionsBody,
  PAGE_FIELDS,
  ref,
  responses,
  text,
} from '../openapi/components.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';

const TABLE: Readonly<Record<string, DescribedOption>> = ALL_OPTIONS;

export function searchDescriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: () => createSearchDescription(version),
    page: () => docsPage({ title: `Lectern search ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs',
  });
}

/** The OpenAPI 3.1 document of the search host. */
function createSearchDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const query = queryParameters(TABLE);
  const requestBody = optionsBody('SearchOptions');
  const queryInPath = {
    name: 'query',
    in: 'path',
    required: true,
    description: 'The query, percent-encoded. A plus sign is not decoded to a space.',
    schema: { type: 'string' },
  };
  const getAndPost = (id: string, summary: string, more: readonly object[]) => ({
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
    ...hostDocument('Lectern search', 'Searches the web and returns the found pages as Markdown.', version),
    security: [{ key: [] }],
    paths: {
      '/search': getAndPost('search', 'Search', []),
      '/': getAndPost('searchOrIndex', 'Search for `q`; without it, show how to use this host', []),
      '/{query}': getAndPost('searchPath', 'Search for the query in the path', [queryInPath]),
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { SearchOptions: bodySchema(TABLE), Answer: ANSWER, Result: RESULT, Failure: FAILURE },
    },
  };
}

const RESULT = {
  type: 'object',
  required: ['title', 'url', 'description', 'content', 'usage'],
  properties: {
    title: text('The title of the page; until the page is read, the title from the search provider.'),
    url: text('The URL of the page.'),
    description: text(
      'The description of the page; if it has none or is not read yet, the text from the search provider.',
    ),
    imageUrl: text('URL of the image found, or of an image on the page.'),
    imageWidth: integer('In pixels.'),
    imageHeight: integer('In pixels.'),
    source: text('The name of the site.'),
    date: text('The date as the search provider writes it; may be relative.'),
    siteLinks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['title', 'link'],
        properties: { title: text('The text of the link.'), link: text('Its URL.'), snippet: text('Its description.') },
      },
    },
    content: text('The page as Markdown; empty if it was not read.'),
    passages: {
      type: 'array',
      description: 'With `passages`: the selected parts of the page, in page order. `content` consists of them.',
      items: {
        type: 'object',
        required: ['text', 'tokens'],
        properties: {
          text: text('Markdown.'),
          heading: text('The headings above it.'),
          tokens: integer('Its number of tokens.'),
        },
      },
    },
    ...PAGE_FIELDS,
    warning: text('A possible problem of this result, such as a page that could not be read.'),
    metadata: map('The metadata of the page.'),
    external: map('The links in the head of the page.'),
    favicon: text('With `withFavicons`: the icon of the site as a data URL; empty if it has none.'),
    usage: { type: 'object', required: ['tokens'], properties: { tokens: integer('Tokens charged for the result.') } },
  },
};

const ANSWER = answerEnvelope(
  { type: 'array', items: ref('Result') },
  { notice: text('A remark on the answer as a whole.') },
);

const RESPONSES = responses('The results.', {
  events: 'Events `data`, each with the results so far; `error` on failure.',
  headers: { 'X-Search-Provider': { schema: { type: 'string' }, description: 'The provider that answered.' } },
});

const INTRO = `<p>Append a query to the URL of this host, or post it. The answer is the found pages as Markdown. Send options as headers, as query parameters, or in a JSON or form body.</p>
<pre>curl HOST/how%20bees%20find%20home -H "Authorization: Bearer KEY"
curl HOST/search -H "Authorization: Bearer KEY" -H 'Accept: application/json' -d q=bees -d num=5 -d site=example.com</pre>`;
