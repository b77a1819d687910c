/** The OpenAPI document and HTML page of the search host, generated from the tables of options and errors. */
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { bodySchema, type DescribedOption, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { ALL_OPTIONS, MAX_QUERY_CHARACTERS } from '#search/index.ts';
import {
  answerEnvelope,
  hostDocument,
  INDEX,
  integer,
  optionsBody,
  PAGE_FIELDS,
  PLACE,
  ref,
  success,
  text,
  textMap,
} from '../openapi/components.ts';
import { FAILURE, failureComponents, failureResponses, READ_FAILURES } from '../openapi/failures.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';
import { EXPLANATION } from '../reader/page-schema.ts';
import { INDEX_ANSWER, RESULTS_ANSWER, RESULTS_EVENTS, RESULTS_TEXT, SEARCH_EXAMPLES } from './examples.ts';

const TABLE: Readonly<Record<string, DescribedOption>> = ALL_OPTIONS;

export function searchDescriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: () => createSearchDescription(INTERFACE_VERSIONS.search.version),
    page: () => docsPage({ title: `Lectern search ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs',
  });
}

/** The OpenAPI 3.1 document of the search host. `version` is the version of the interface. */
export function createSearchDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const query = queryParameters(TABLE);
  const asked = queryParameters(TABLE, { q: 'how bees find home', num: 1 });
  const queryInPath = {
    name: 'q',
    in: 'path',
    required: true,
    description: 'The query, percent-encoded. A plus sign is not decoded to a space.',
    schema: { type: 'string', maxLength: MAX_QUERY_CHARACTERS },
    example: 'how bees find home',
  };
  const operation = (operationId: string, summary: string, parameters: readonly object[], more: object = {}) => ({
    operationId,
    summary,
    tags: ['Search'],
    parameters: [...parameters, ...headers],
    responses: RESPONSES,
    ...more,
  });
  const inBody = { requestBody: optionsBody('SearchOptions', SEARCH_EXAMPLES) };
  // The query in the path is not an option.
  const others = query.filter((parameter) => (parameter as { readonly name: string }).name !== 'q');
  return {
    ...hostDocument('Lectern search', 'Searches the web and returns the found pages as Markdown.', version),
    tags: [{ name: 'Search', description: 'Search the web.' }],
    security: [{ key: [] }],
    paths: {
      '/search': {
        get: operation('search_get', 'Search', asked),
        post: operation('search_post', 'Search with options in the body', query, inBody),
      },
      '/': {
        get: operation('search_get_root', 'Search for `q`; without it, show how to use this host', asked, WITH_INDEX),
        post: operation('search_post_root', 'Search with options in the body', query, { ...inBody, ...WITH_INDEX }),
      },
      '/{q}': {
        get: operation('search_get_q', 'Search for the query in the path', [queryInPath, ...others]),
        post: operation(
          'search_post_q',
          'Search for the query in the path with options in the body',
          [queryInPath, ...others],
          {
            requestBody: optionsBody('SearchOptions', { options: { summary: 'Options', value: { num: 1 } } }),
          },
        ),
      },
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      responses: failureComponents({ names: READ_FAILURES, isNegotiated: true }),
      schemas: {
        SearchOptions: bodySchema(TABLE),
        Answer: ANSWER,
        IndexAnswer: answerEnvelope(INDEX),
        Result: RESULT,
        Explanation: EXPLANATION,
        Failure: FAILURE,
      },
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
      'The description of the page. If the page has none or is not read yet, the text from the search provider.',
    ),
    imageUrl: text('URL of the image found, or of an image on the page.'),
    imageWidth: integer('In pixels.'),
    imageHeight: integer('In pixels.'),
    source: text('The name of the site.'),
    date: text('The date as the search provider writes it; may be relative.'),
    attribution: text('Author and license, if the terms of the source ask for them.'),
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
          ...PLACE,
        },
      },
    },
    ...PAGE_FIELDS,
    warning: text('A possible problem of this result, such as a page that could not be read.'),
    metadata: textMap('The metadata of the page.'),
    favicon: text('With `withFavicons`: the icon of the site as a data URL; empty if it has none.'),
    usage: { type: 'object', required: ['tokens'], properties: { tokens: integer('Tokens charged for the result.') } },
  },
};

const ANSWER = answerEnvelope(
  { type: 'array', items: ref('Result') },
  { notice: text('A notice about the whole response.') },
);

const RESULTS = success('The results.', {
  answer: 'Answer',
  events:
    'Events `data`, each with the results so far; `trace` at the end if requested; `error` with the failure if the search fails later.',
  headers: {
    'X-Search-Provider': {
      schema: { type: 'string' },
      description: 'The providers and sources that returned the results.',
    },
    'X-Search-Notice': { schema: { type: 'string' }, description: 'Same as `notice`.' },
  },
  examples: { text: RESULTS_TEXT, json: RESULTS_ANSWER, events: RESULTS_EVENTS },
});

const RESPONSES = { 200: RESULTS, ...failureResponses(READ_FAILURES) };

/** The responses of the root, which explains how to use this host if there is no query. */
const WITH_INDEX = {
  responses: {
    ...RESPONSES,
    200: {
      ...RESULTS,
      content: {
        ...RESULTS.content,
        'application/json': {
          schema: { anyOf: [ref('Answer'), ref('IndexAnswer')] },
          examples: {
            results: { summary: 'Results', value: RESULTS_ANSWER },
            index: { summary: 'Without a query', value: INDEX_ANSWER },
          },
        },
      },
    },
  },
};

const INTRO = `<p>Append a query to the URL of this host, or post it. The response contains the pages found, as Markdown. Send options as headers, as query parameters, or in a JSON or form body.</p>
<pre>curl HOST/how%20bees%20find%20home -H "Authorization: Bearer KEY"
curl HOST/search -H "Authorization: Bearer KEY" -H 'Accept: application/json' -d q=bees -d num=5 -d site=example.com</pre>`;
