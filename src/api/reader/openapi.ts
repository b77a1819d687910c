/** The reader's interface description and its page, both drawn from the tables of options and errors. */
import { bodySchema, headerParameters, queryParameters } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';
import { OPTIONS, type OptionRow, PAGE_KINDS, REMOVAL_STEPS } from '#reader/index.ts';
import { CRAWL_PATHS_DESCRIBED, CRAWL_SCHEMAS } from '../crawl/openapi.ts';
import {
  answered,
  describedHost,
  FAILURE,
  map,
  optionsBody,
  PAGE_MEMBERS,
  ref,
  responses,
  share,
  text,
  texts,
  whole,
} from '../openapi/components.ts';
import { docsPage, serveDescription } from '../openapi/serve.ts';

export const DESCRIPTION_PATHS = ['/openapi.json', '/docs', '/docs/'] as const;

const TABLE: Readonly<Record<string, OptionRow>> = OPTIONS;

export function descriptionRoutes(face: Face, version: string): void {
  serveDescription(face, {
    description: readerDescription(version),
    page: docsPage({ title: `Lectern reader ${version}`, intro: INTRO, table: TABLE }),
    at: '/docs/api',
  });
}

/** The OpenAPI 3.1 document of the reader host. */
export function readerDescription(version: string): object {
  const headers = headerParameters(TABLE);
  const body = optionsBody('ReadOptions');
  const target = {
    name: 'target',
    in: 'path',
    required: true,
    description: 'The address to read: the whole rest of the request line, query included.',
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
    ...describedHost(
      'Lectern reader',
      'A web page or file in, Markdown (or HTML, text, front matter, pictures) out.',
      version,
    ),
    paths: {
      '/': {
        get: operation('readByQuery', 'Read the page named by the query, or show the index', {
          parameters: [...queryParameters(TABLE), ...headers],
        }),
        post: operation('readByBody', 'Read the page, HTML or file named by the body', {
          parameters: headers,
          requestBody: body,
        }),
      },
      '/{target}': {
        get: operation('readByPath', 'Read the page whose address stands in the path', {
          parameters: [target, ...headers],
        }),
        post: operation('readByPathWithBody', 'Read the page in the path with options in the body', {
          parameters: [target, ...headers],
          requestBody: body,
        }),
      },
      ...CRAWL_PATHS_DESCRIBED,
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

/** What the program found or says of the page, under names that no page can take (docs/guide/metadata.md). */
const METADATA = {
  ...map('The language and meta elements of the page, and under `lectern:` what was found of it.'),
  properties: {
    'lectern:author': text('Names joined by a comma.'),
    'lectern:modifiedTime': text('When the page was last changed, ISO 8601.'),
    'lectern:siteName': text('What the page calls its site.'),
    'lectern:image': text('Address of the picture that stands for the page.'),
    'lectern:canonicalUrl': text('The address that the page calls its own.'),
    'lectern:language': text('A language tag.'),
    'lectern:kind': { enum: PAGE_KINDS, description: 'The kind of page.' },
    'lectern:kindConfidence': text('How sure the kind is, 0.00 to 1.00.'),
    'lectern:extraction': text('The version of the extraction: with it, the same bytes give the same Markdown.'),
    'lectern:engine': text('The engine that read the page.'),
    'lectern:engineReason': text('Why this engine.'),
    'lectern:staleCopy': text('When the copy was kept that stands for a page which could not be read.'),
  },
};

const PAGE = {
  type: 'object',
  required: ['title', 'description', 'url', 'usage'],
  properties: {
    title: text('The title of the article, or of the document.'),
    description: text('The description that the page gives of itself.'),
    url: text('The address read.'),
    content: text('Markdown.'),
    ...PAGE_MEMBERS,
    numPages: whole('The pages of a document that was read whole.'),
    storageState: map('With `exportStorageState`: cookies and local storage after the read.'),
    warning: text('What may be wrong with this answer, a line each.'),
    metadata: METADATA,
    external: map('The links of the head: rel, address, attributes.'),
    explanation: ref('Explanation'),
    usage: { type: 'object', properties: { tokens: { type: 'integer' } }, required: ['tokens'] },
  },
};

const SELECTOR = text('A CSS selector that finds the element, and nothing else, in the document as it came.');

const EXPLANATION = {
  type: 'object',
  description: 'When `explain` is on: what was left out and why, and where each block of the Markdown comes from.',
  required: ['version', 'confidence', 'source', 'removed', 'removedCount', 'blocks', 'blockCount'],
  properties: {
    version: text('The extraction that made the answer.'),
    kind: { enum: PAGE_KINDS, description: 'The kind of page.' },
    kindConfidence: share('How sure the kind is.'),
    confidence: share('How sure the choice of the content is.'),
    source: {
      enum: ['main', 'container', 'page', 'head', 'nothing'],
      description: 'Chosen block by block, outside the frame, all, or what the head says.',
    },
    removed: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        required: ['step', 'rule', 'selector', 'words', 'text'],
        properties: {
          step: { enum: REMOVAL_STEPS, description: 'What left it out.' },
          rule: text('Why.'),
          selector: SELECTOR,
          words: whole('How many words it has.'),
          text: text('Its first words.'),
          hidden: { const: true, description: 'Nobody can see this text.' },
          probability: share('How probable it is that this is content.'),
          threshold: share('From where on it would have been kept.'),
          signs: texts('What spoke most against it.'),
        },
      },
    },
    removedCount: whole('All that was left out, listed or not.'),
    blocks: {
      type: 'array',
      maxItems: 2000,
      items: {
        type: 'object',
        required: ['line', 'lines', 'selector', 'text'],
        properties: {
          line: whole('Its first line in `content`, from 1.'),
          lines: whole('How many lines it has.'),
          selector: SELECTOR,
          text: text('The start of its first line.'),
        },
      },
    },
    blockCount: whole('All blocks, listed or not.'),
  },
};

const ANSWER = answered(ref('Page'));

const RESPONSES = {
  ...responses('The page.', {
    events: 'Events `data`, each a newer page object; `error` when it fails.',
    headers: {
      'X-Stale-Copy': {
        schema: { type: 'string', format: 'date-time' },
        description: 'Set when the page could not be read: when the copy was kept that is answered instead.',
      },
      'X-Target-Status': { schema: { type: 'integer' }, description: 'As `targetStatus`; not of a stream.' },
      'X-Warning': {
        schema: { type: 'string' },
        description: 'As `warning`, in one line parted by ` | `; not of a stream.',
      },
    },
  }),
  302: { description: 'The address of the picture, for text answers in a picture format.' },
};

const INTRO = `<p>Put an address behind this host, or post it: the answer is the page as Markdown. Options go in headers, in the query of <code>/</code>, or in a JSON or form body.</p>
<pre>curl HOST/https://example.com
curl HOST/ -H 'Accept: application/json' -d url=https://example.com -d withLinksSummary=true</pre>`;
