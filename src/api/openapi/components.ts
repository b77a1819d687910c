/** Parts that the OpenAPI 3.1 documents of the hosts share. */
import { PROBLEMS } from '#errors.ts';
import { TRACE_SCHEMA } from './trace.ts';

type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string) => ({ type: 'string', description });
export const integer = (description: string) => ({ type: 'integer', description });
export const fraction = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description });
export const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
export const map = (description: string) => ({ type: 'object', additionalProperties: true, description });
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** A failure of the reader or search host, in JSON. */
export const FAILURE = {
  type: 'object',
  required: ['data', 'code', 'name', 'status', 'message', 'readableMessage'],
  properties: {
    data: { type: 'null' },
    path: text('The invalid option.'),
    code: integer('The HTTP status.'),
    name: { enum: Object.keys(PROBLEMS) },
    status: { enum: Object.values(PROBLEMS).map(({ status }) => status) },
    message: text('A description of the failure.'),
    readableMessage: text('The name and message on one line.'),
    retryAfter: integer('Seconds to wait before retrying.'),
  },
};

/** The fields that a page and a search result share. */
export const PAGE_FIELDS = {
  targetStatus: integer(
    'The HTTP status of the page, after redirects; absent for HTML and files sent with the request.',
  ),
  chunks: texts('The Markdown in chunks.'),
  publishedTime: text('When the page was published.'),
  html: text('The HTML of the page.'),
  text: text('The text of the page.'),
  screenshotUrl: text('URL of the screenshot of the window, valid for four hours.'),
  pageshotUrl: text('URL of the screenshot of the whole page, valid for four hours.'),
  links: { description: 'Link texts to URLs, or pairs of both.', anyOf: [{ type: 'object' }, { type: 'array' }] },
  images: map('Image labels to URLs.'),
};

export const hostDocument = (title: string, description: string, version: string) => ({
  openapi: '3.1.0',
  info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: '/' }],
});

/** A request body of options, with a schema from the components. */
export const optionsBody = (schema: string) => ({
  required: false,
  content: Object.fromEntries(
    ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => [
      type,
      { schema: ref(schema) },
    ]),
  ),
});

/** The envelope of a successful answer, in JSON. */
export const answerEnvelope = (data: Schema, meta: Readonly<Record<string, Schema>> = {}) => ({
  type: 'object',
  required: ['code', 'status', 'data', 'meta'],
  properties: {
    code: { const: 200 },
    status: { const: 20_000 },
    data,
    meta: { type: 'object', properties: { usage: { type: 'object' }, trace: TRACE_SCHEMA, ...meta } },
  },
});

/** The responses of an operation in each format, and its failure. */
export const responses = (
  description: string,
  { events, headers = {} }: { readonly events: string; readonly headers?: Readonly<Record<string, Schema>> },
) => ({
  200: {
    description,
    headers: {
      'X-Usage-Tokens': { schema: { type: 'integer' }, description: 'Tokens charged for the answer.' },
      ...headers,
    },
    content: {
      'text/plain': { schema: { type: 'string' } },
      'application/json': { schema: ref('Answer') },
      'text/event-stream': { schema: text(events) },
    },
  },
  default: {
    description: 'A failure. Its `code` is the HTTP status.',
    content: { 'application/json': { schema: ref('Failure') } },
  },
});
