/** The search host's interface description and its page, both drawn from the tables of options and errors. */
import { bodySchema, type DescribedOption, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import {
  answered,
  describedHost,
  FAILURE,
  map,
  optionsBody,
  PAGE_MEMBERS,
  ref,
  responses,
  text,
  whole,
} from '../openapi/components.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';

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
  const requestBody = optionsBody('SearchOptions');
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
    ...describedHost('Lectern search', 'A query in, the pages that answer it as Markdown out.', version),
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
    ...PAGE_MEMBERS,
    warning: text('What may be wrong with this result; that its page could not be read, for one.'),
    metadata: map('What was found of the page.'),
    external: map('The links of its head.'),
    favicon: text('With `withFavicons`: the icon of the site as a data URL, empty when it has none.'),
    usage: { type: 'object', required: ['tokens'], properties: { tokens: whole('What the result is charged.') } },
  },
};

const ANSWER = answered(
  { type: 'array', items: ref('Result') },
  { notice: text('What is to be known of the answer as a whole.') },
);

const RESPONSES = responses('The results.', {
  events: 'Events `data`, each the results as far as they are; `error` when it fails.',
  headers: { 'X-Search-Provider': { schema: { type: 'string' }, description: 'Who answered.' } },
});

const INTRO = `<p>Put a query behind this host, or post it: the answer is the pages that answer it, as Markdown. Options go in headers, in the query, or in a JSON or form body.</p>
<pre>curl HOST/how%20bees%20find%20home -H "Authorization: Bearer KEY"
curl HOST/search -H "Authorization: Bearer KEY" -H 'Accept: application/json' -d q=bees -d num=5 -d site=example.com</pre>`;
