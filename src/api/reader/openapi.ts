/** The OpenAPI document and HTML page of the reader, made from the tables of options and errors. */
import { bodySchema, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { OPTIONS, type OptionRow, PAGE_KINDS, REMOVAL_STEPS } from '#reader/index.ts';
import { CRAWL_OPERATIONS, CRAWL_SCHEMAS } from '../crawl/openapi.ts';
import {
  answerEnvelope,
  FAILURE,
  fraction,
  hostDocument,
  integer,
  map,
  optionsBody,
  PAGE_FIELDS,
  ref,
  responses,
  text,
  texts,
} from '../openapi/components.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';

export const DESCRIPTION_PATHS = ['/openapi.json', '/docs', '/docs/'] as const;

const TABLE: Readonly<Record<string, OptionRow>> = OPTIONS;

export function descriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: () => createReaderDescription(version),
    page: () => docsPage({ title: `Lectern reader ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs/api',
  });
}

/** The OpenAPI 3.1 document of the reader host. */
export function createReaderDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const body = optionsBody('ReadOptions');
  const target = {
    name: 'target',
    in: 'path',
    required: true,
    description: 'The URL to read: the rest of the request line, including its query.',
    schema: { type: 'string' },
  };
  const operation = (id: string, summary: string, extra: object) => ({
    operationId: id,
    summary,
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
    paths: {
      '/': {
        get: operation('readByQuery', 'Read the page named by the query; without one, show how to use this host', {
          parameters: [...queryParameters(TABLE), ...headers],
        }),
        post: operation('readByBody', 'Read the page, HTML or file in the body', {
          parameters: headers,
          requestBody: body,
        }),
      },
      '/{target}': {
        get: operation('readByPath', 'Read the page whose URL is in the path', {
          parameters: [target, ...headers],
        }),
        post: operation('readByPathWithBody', 'Read the page in the path with options in the body', {
          parameters: [target, ...headers],
          requestBody: body,
        }),
      },
      ...CRAWL_OPERATIONS,
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: {
        ReadOptions: bodySchema(TABLE),
        Answer: ANSWER,
        Page: PAGE,
        Explanation: EXPLANATION,
        Failure: FAILURE,
        ...CRAWL_SCHEMAS,
      },
    },
  };
}

/** Metadata that the reader adds, under names that no page can use (docs/guide/metadata.md). */
const METADATA = {
  ...map('The language and meta elements of the page, and findings of the reader under `lectern:`.'),
  properties: {
    'lectern:author': text('Names, separated by commas.'),
    'lectern:modifiedTime': text('When the page was last changed, ISO 8601.'),
    'lectern:siteName': text('The name of the site, as the page states it.'),
    'lectern:image': text('URL of the preview image of the page.'),
    'lectern:canonicalUrl': text('The canonical URL that the page declares.'),
    'lectern:language': text('A language tag.'),
    'lectern:kind': { enum: PAGE_KINDS, description: 'The kind of page.' },
    'lectern:kindConfidence': text('Confidence in the kind, 0.00 to 1.00.'),
    'lectern:extraction': text(
      'The version of the extraction. The same version gives the same Markdown for the same bytes.',
    ),
    'lectern:engine': text('The engine that read the page.'),
    'lectern:engineReason': text('Why this engine was chosen.'),
    'lectern:staleCopy': text('When the cached copy was stored that is returned because the page could not be read.'),
  },
};

const PAGE = {
  type: 'object',
  required: ['title', 'description', 'url', 'usage'],
  properties: {
    title: text('The title of the article or document.'),
    description: text('The description that the page declares.'),
    url: text('The URL that was read.'),
    content: text('The page as Markdown.'),
    ...PAGE_FIELDS,
    numPages: integer('Number of pages of a document that was read completely.'),
    storageState: map('With `exportStorageState`: cookies and local storage after the read.'),
    warning: text('Possible problems of this answer, one per line.'),
    metadata: METADATA,
    external: map('The links in the head of the page: rel, URL, attributes.'),
    explanation: ref('Explanation'),
    usage: { type: 'object', properties: { tokens: { type: 'integer' } }, required: ['tokens'] },
  },
};

const SELECTOR = text('A CSS selector that matches only this element, in the unmodified document.');

const EXPLANATION = {
  type: 'object',
  description: 'With `explain`: what was removed and why, and the source of each block of the Markdown.',
  required: ['version', 'confidence', 'source', 'removed', 'removedCount', 'blocks', 'blockCount'],
  properties: {
    version: text('The version of the extraction.'),
    kind: { enum: PAGE_KINDS, description: 'The kind of page.' },
    kindConfidence: fraction('Confidence in the kind.'),
    confidence: fraction('Confidence in the choice of the content.'),
    source: {
      enum: ['main', 'container', 'page', 'head', 'nothing'],
      description:
        'Where the content comes from: `main` selected blocks, `container` everything outside the page frame, `page` the whole page, `head` the metadata, `nothing`.',
    },
    removed: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        required: ['step', 'rule', 'selector', 'words', 'text'],
        properties: {
          step: { enum: REMOVAL_STEPS, description: 'The step that removed it.' },
          rule: text('The reason.'),
          selector: SELECTOR,
          words: integer('Its number of words.'),
          text: text('Its first words.'),
          hidden: { const: true, description: 'The text is invisible on the page.' },
          probability: fraction('The probability that it is content.'),
          threshold: fraction('The probability from which it would have been kept.'),
          signs: texts('The strongest signs against it.'),
        },
      },
    },
    removedCount: integer('Number of all removed elements, listed or not.'),
    blocks: {
      type: 'array',
      maxItems: 2000,
      items: {
        type: 'object',
        required: ['line', 'lines', 'selector', 'text'],
        properties: {
          line: integer('Its first line in `content`, counted from 1.'),
          lines: integer('Its number of lines.'),
          selector: SELECTOR,
          text: text('The start of its first line.'),
        },
      },
    },
    blockCount: integer('Number of all blocks, listed or not.'),
  },
};

const ANSWER = answerEnvelope(ref('Page'));

const RESPONSES = {
  ...responses('The page.', {
    events: 'Events `data`, each with a newer page object; `error` on failure.',
    headers: {
      'X-Stale-Copy': {
        schema: { type: 'string', format: 'date-time' },
        description: 'Set if a cached copy is returned because the page could not be read: when it was stored.',
      },
      'X-Target-Status': { schema: { type: 'integer' }, description: 'Same as `targetStatus`. Not sent with streams.' },
      'X-Warning': {
        schema: { type: 'string' },
        description: 'Same as `warning`, on one line separated by ` | `. Not sent with streams.',
      },
    },
  }),
  302: { description: 'Redirect to the screenshot, for text answers in a screenshot format.' },
};

const INTRO = `<p>Append a URL to the URL of this host, or post it. The answer is the page as Markdown. Send options as headers, in the query of <code>/</code>, or in a JSON or form body.</p>
<pre>curl HOST/https://example.com
curl HOST/ -H 'Accept: application/json' -d url=https://example.com -d withLinksSummary=true</pre>`;
