/** The OpenAPI document and HTML page of the reader, generated from the tables of options and errors. */
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { bodySchema, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { OPTIONS, type OptionRow } from '#reader/index.ts';
import { CRAWL_OPERATIONS, CRAWL_SCHEMAS } from '../crawl/openapi.ts';
import { answerEnvelope, hostDocument, INDEX, optionsBody, ref, success } from '../openapi/components.ts';
import { CRAWL_FAILURES, FAILURE, failureComponents, failureResponses, READ_FAILURES } from '../openapi/failures.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';
import { INDEX_ANSWER, PAGE_ANSWER, PAGE_EVENTS, PAGE_TEXT, READ_EXAMPLES } from './examples.ts';
import { EXPLANATION, PAGE } from './page-schema.ts';

export const DESCRIPTION_PATHS = ['/openapi.json', '/docs', '/docs/'] as const;

const TABLE: Readonly<Record<string, OptionRow>> = OPTIONS;

export function descriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: () => createReaderDescription(INTERFACE_VERSIONS.reader.version),
    page: () => docsPage({ title: `Lectern reader ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs/api/options',
  });
}

/** The OpenAPI 3.1 document of the reader host. `version` is the version of the interface. */
export function createReaderDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const body = optionsBody('ReadOptions', READ_EXAMPLES);
  const target = {
    name: 'url',
    in: 'path',
    required: true,
    description: 'The URL to read: the rest of the request line, including its query.',
    schema: { type: 'string' },
    example: 'https://example.com/',
  };
  const operation = (operationId: string, summary: string, extra: object) => ({
    operationId,
    summary,
    tags: ['Reader'],
    security: [{}, { key: [] }],
    responses: RESPONSES,
    ...extra,
  });
  return {
    ...hostDocument(
      'Lectern reader',
      'Converts web pages and files to Markdown, HTML, text, front matter or screenshots.',
      version,
    ),
    tags: [
      { name: 'Reader', description: 'Read a page or a file.' },
      { name: 'Crawl', description: 'Read the pages of a site.' },
    ],
    paths: {
      '/': {
        get: operation('reader_get_root', 'Read the page named by the query; without one, show how to use this host', {
          parameters: [...queryParameters(TABLE, { url: 'https://example.com/' }), ...headers],
          responses: { ...RESPONSES, 200: INDEX_OR_PAGE },
        }),
        post: operation('reader_post_root', 'Read the page, HTML or file in the body', {
          parameters: headers,
          requestBody: body,
        }),
      },
      '/{url}': {
        get: operation('reader_get_url', 'Read the page whose URL is in the path', {
          parameters: [target, ...headers],
        }),
        post: operation('reader_post_url', 'Read the page in the path with options in the body', {
          parameters: [target, ...headers],
          requestBody: optionsBody('ReadOptions', { format: READ_EXAMPLES.format }),
        }),
      },
      ...CRAWL_OPERATIONS,
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      responses: failureComponents({ names: CRAWL_FAILURES, isNegotiated: true }),
      schemas: {
        ReadOptions: bodySchema(TABLE),
        Answer: answerEnvelope(ref('Page')),
        IndexAnswer: answerEnvelope(INDEX),
        Page: PAGE,
        Explanation: EXPLANATION,
        Failure: FAILURE,
        ...CRAWL_SCHEMAS,
      },
    },
  };
}

const PAGE_RESPONSE = success('The page.', {
  answer: 'Answer',
  events:
    'Events `data`, each with a newer page object; `trace` at the end if requested; `error` with the failure if the read fails later.',
  headers: {
    'X-Stale-Copy': {
      schema: { type: 'string', format: 'date-time' },
      description:
        'Set if a cached copy is returned because the page could not be read: the time when the copy was stored.',
    },
    'X-Target-Status': { schema: { type: 'integer' }, description: 'Same as `targetStatus`. Not sent with streams.' },
    'X-Warning': {
      schema: { type: 'string' },
      description: 'Same as `warning`, on one line separated by ` | `. Not sent with streams.',
    },
  },
  examples: { text: PAGE_TEXT, json: PAGE_ANSWER, events: PAGE_EVENTS },
});

/** A text response in a screenshot format. */
const PICTURE = { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } };

const PAGE_OR_PICTURE = { ...PAGE_RESPONSE, content: { ...PAGE_RESPONSE.content, ...PICTURE } };

const INDEX_OR_PAGE = {
  ...PAGE_OR_PICTURE,
  description: 'The page, or how to use this host.',
  content: {
    ...PAGE_OR_PICTURE.content,
    'application/json': {
      schema: { anyOf: [ref('Answer'), ref('IndexAnswer')] },
      examples: {
        page: { summary: 'A page', value: PAGE_ANSWER },
        index: { summary: 'Without a target', value: INDEX_ANSWER },
      },
    },
  },
};

const RESPONSES = {
  200: PAGE_OR_PICTURE,
  302: {
    description: 'Redirect to the screenshot, for text responses in a screenshot format.',
    headers: { Location: { schema: { type: 'string', format: 'uri' }, description: 'URL of the screenshot.' } },
    content: { 'text/plain': { schema: { type: 'string' } } },
  },
  ...failureResponses(READ_FAILURES),
};

const INTRO = `<p>Append a URL to the URL of this host, or post it. The response is the page as Markdown. Send options as headers, in the query of <code>/</code>, or in a JSON or form body.</p>
<pre>curl HOST/https://example.com
curl HOST/ -H 'Accept: application/json' -d url=https://example.com -d withLinksSummary=true</pre>`;
