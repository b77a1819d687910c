/** Building blocks shared by the OpenAPI 3.1 documents of all hosts. */
import { BLOCKED_KINDS } from '#reader/index.ts';
import { TRACE_SCHEMA } from './trace.ts';

type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string) => ({ type: 'string', description });
export const integer = (description: string) => ({ type: 'integer', description });
export const fraction = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description });
export const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
/** An object whose values are strings. */
export const textMap = (description: string) => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
});
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What was sent in place of the content of a page. */
export const BLOCKED = {
  type: 'object',
  description: 'Set if the page is not the content but was sent in its place. Such an answer costs nothing.',
  required: ['kind', 'by'],
  properties: {
    kind: { enum: BLOCKED_KINDS, description: 'What was sent.' },
    by: text('The product or site that sent it, or `generic`.'),
  },
};

const points = (description: string) => ({ type: 'number', description });

const DOCUMENT_PAGES = {
  type: 'array',
  description: 'The pages, slides, sheets or chapters of a document that were read. Absent for web pages.',
  items: {
    type: 'object',
    required: ['number', 'start', 'end'],
    properties: {
      number: integer('Counted from 1.'),
      name: text('The title of a slide or chapter; the name of a sheet.'),
      start: integer('Where its text starts in `content`, in UTF-16 code units.'),
      end: integer('Where its text ends in `content`.'),
      width: points('Its width in points (1/72 inch). Absent for sheets, chapters and images.'),
      height: points('Its height in points.'),
    },
  },
};

/** Where a part of the Markdown stands in its document. */
export const PLACE = {
  page: integer('The page, slide, sheet or chapter of the document, counted from 1.'),
  box: {
    type: 'object',
    description: 'Its rectangle on that page, in points from the upper left corner. Only for PDFs.',
    required: ['page', 'x', 'y', 'width', 'height'],
    properties: {
      page: integer('The page.'),
      x: points('Distance from the left edge.'),
      y: points('Distance from the upper edge.'),
      width: points('Its width.'),
      height: points('Its height.'),
    },
  },
};

/** The fields that a page and a search result share. */
export const PAGE_FIELDS = {
  targetStatus: integer(
    'The HTTP status of the page, after redirects; absent for HTML and files sent with the request.',
  ),
  blocked: BLOCKED,
  chunks: texts('The Markdown in chunks.'),
  chunkPages: {
    type: 'array',
    description: 'The first and last page of each chunk, for documents with pages.',
    items: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 },
  },
  publishedTime: text('When the page was published.'),
  html: text('The HTML of the page.'),
  text: text('The text of the page.'),
  screenshotUrl: text('URL of the screenshot of the window, valid for four hours.'),
  pageshotUrl: text('URL of the screenshot of the whole page, valid for four hours.'),
  links: {
    description: 'Link texts to URLs; with `withLinksSummary: all`, pairs of both.',
    anyOf: [
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'array', items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 } },
    ],
  },
  images: textMap('Image labels to URLs.'),
  numPages: integer('Number of pages of the document, if it was read completely.'),
  pages: DOCUMENT_PAGES,
  external: {
    type: 'object',
    description: 'The links in the head of the page: rel, URL, attributes.',
    additionalProperties: {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  explanation: ref('Explanation'),
};

export const hostDocument = (title: string, description: string, version: string) => ({
  openapi: '3.1.0',
  info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: '/' }],
});

interface Example {
  readonly summary: string;
  readonly value: unknown;
}
export type Examples = Readonly<Record<string, Example>>;

/** A request body of options, with a schema from the components. */
export const optionsBody = (schema: string, examples: Examples) => ({
  required: false,
  content: {
    'application/json': { schema: ref(schema), examples },
    'application/x-www-form-urlencoded': { schema: ref(schema) },
    'multipart/form-data': { schema: ref(schema) },
  },
});

const USAGE = { type: 'object', required: ['tokens'], properties: { tokens: integer('Tokens charged.') } };

/** The JSON envelope of a successful response. */
export const answerEnvelope = (data: Schema, meta: Readonly<Record<string, Schema>> = {}) => ({
  type: 'object',
  required: ['code', 'status', 'data', 'meta'],
  properties: {
    code: { const: 200, description: 'The HTTP status.' },
    status: { const: 20_000, description: 'The HTTP status, followed by two digits for the kind of response.' },
    data,
    meta: { type: 'object', required: ['usage'], properties: { usage: USAGE, trace: TRACE_SCHEMA, ...meta } },
  },
});

/** The response to `GET /` without a target or query. */
export const INDEX = {
  type: 'object',
  description: 'How to use this host, and the balance of the key.',
  required: ['usage1', 'usage2', 'homepage'],
  properties: {
    usage1: text('How to read a page.'),
    usage2: text('How to search.'),
    homepage: text('URL of the documentation.'),
    note: text('A remark.'),
    authenticatedAs: text('The name of the key.'),
    balanceLeft: { anyOf: [{ type: 'number' }, { const: 'unlimited' }], description: 'Tokens left.' },
  },
};

interface Success {
  /** The schema name of JSON responses. */
  readonly answer: string;
  readonly events: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly examples: { readonly text: string; readonly json: unknown; readonly events: string };
}

/** A successful response, in every format. */
export const success = (description: string, { answer, events, headers = {}, examples }: Success) => ({
  description,
  headers: {
    'X-Usage-Tokens': { schema: { type: 'integer' }, description: 'Tokens charged for the response.' },
    'Server-Timing': { schema: { type: 'string' }, description: 'With `trace`, in text responses: the steps.' },
    ...headers,
  },
  content: {
    'text/plain': { schema: { type: 'string' }, example: examples.text },
    'application/json': { schema: ref(answer), example: examples.json },
    'text/event-stream': { schema: text(events), example: examples.events },
  },
});
