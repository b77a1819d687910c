/** Pieces that the interface descriptions (OpenAPI 3.1) of the hosts have in common. */
import { PROBLEMS } from '#errors.ts';
import { TRACE_SCHEMA } from './trace.ts';

type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string) => ({ type: 'string', description });
export const whole = (description: string) => ({ type: 'integer', description });
export const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description });
export const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
export const map = (description: string) => ({ type: 'object', additionalProperties: true, description });
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** A failure in JSON, of the reader and of search. */
export const FAILURE = {
  type: 'object',
  required: ['data', 'code', 'name', 'status', 'message', 'readableMessage'],
  properties: {
    data: { type: 'null' },
    path: text('The option at fault.'),
    code: whole('The HTTP status.'),
    name: { enum: Object.keys(PROBLEMS) },
    status: { enum: Object.values(PROBLEMS).map(({ status }) => status) },
    message: text('What went wrong.'),
    readableMessage: text('Name and message in one line.'),
    retryAfter: whole('Seconds until it makes sense to ask again.'),
  },
};

/** The members of a page that was read, wherever it stands. */
export const PAGE_MEMBERS = {
  targetStatus: whole(
    'The HTTP status that the server of the page answered with, after redirects; absent for what came with the request.',
  ),
  chunks: texts('The Markdown in pieces.'),
  publishedTime: text('When the page was published.'),
  html: text('The document.'),
  text: text('The text of the document.'),
  screenshotUrl: text('Where the picture of the window is for four hours.'),
  pageshotUrl: text('Where the picture of the whole page is for four hours.'),
  links: { description: 'Text to address, or pairs of them.', anyOf: [{ type: 'object' }, { type: 'array' }] },
  images: map('Label to address.'),
};

export const describedHost = (title: string, description: string, version: string) => ({
  openapi: '3.1.0',
  info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: '/' }],
});

/** Options as a body: of a schema among the components. */
export const optionsBody = (schema: string) => ({
  required: false,
  content: Object.fromEntries(
    ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => [
      type,
      { schema: ref(schema) },
    ]),
  ),
});

/** An answer that went well, in JSON. */
export const answered = (data: Schema, meta: Readonly<Record<string, Schema>> = {}) => ({
  type: 'object',
  required: ['code', 'status', 'data', 'meta'],
  properties: {
    code: { const: 200 },
    status: { const: 20_000 },
    data,
    meta: { type: 'object', properties: { usage: { type: 'object' }, trace: TRACE_SCHEMA, ...meta } },
  },
});

/** What is answered in each form, or that it failed. */
export const responses = (
  description: string,
  { events, headers = {} }: { readonly events: string; readonly headers?: Readonly<Record<string, Schema>> },
) => ({
  200: {
    description,
    headers: {
      'X-Usage-Tokens': { schema: { type: 'integer' }, description: 'What the answer is charged.' },
      ...headers,
    },
    content: {
      'text/plain': { schema: { type: 'string' } },
      'application/json': { schema: ref('Answer') },
      'text/event-stream': { schema: text(events) },
    },
  },
  default: {
    description: 'A failure; its code is the HTTP status.',
    content: { 'application/json': { schema: ref('Failure') } },
  },
});
