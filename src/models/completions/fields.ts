/**
 * Fields of a chat completion request (docs/reference/wire/models.md, Chat completions), used in the OpenAPI document.
 */
import type { RequestField } from '../inputs/fields.ts';

/** Output forms. `json` and `hocr` need word boxes, which only built-in text recognition provides. */
export const FORMS = ['markdown', 'text', 'html', 'json', 'hocr'] as const;
export type Form = (typeof FORMS)[number];

export const ROLES = ['system', 'developer', 'user', 'assistant'] as const;
export type Role = (typeof ROLES)[number];

const field = (meaning: string, schema: RequestField['schema'], required?: true): RequestField => ({
  aliases: [],
  meaning,
  schema,
  ...(required && { required }),
});

const PAGES = {
  anyOf: [{ type: 'string' }, { type: 'integer', minimum: 1 }],
  description: 'Pages of a PDF or TIFF: `1,3-5`; default: all.',
};
const PART = {
  anyOf: [
    {
      type: 'object',
      properties: { type: { const: 'text' }, text: { type: 'string' } },
      required: ['type', 'text'],
    },
    {
      type: 'object',
      properties: {
        type: { const: 'image_url' },
        image_url: {
          anyOf: [
            { type: 'string' },
            {
              type: 'object',
              properties: { url: { type: 'string' }, detail: { type: 'string' }, pages: PAGES },
              required: ['url'],
            },
          ],
          description: 'An http(s) URL or a data URI: PNG, JPEG, WebP, TIFF, PDF.',
        },
      },
      required: ['type', 'image_url'],
    },
    {
      type: 'object',
      properties: { type: { const: 'image' }, format: { const: 'base64' }, value: { type: 'string' }, pages: PAGES },
      required: ['type', 'value'],
    },
    {
      type: 'object',
      properties: {
        type: { const: 'file' },
        file: {
          type: 'object',
          properties: { file_data: { type: 'string' }, filename: { type: 'string' }, pages: PAGES },
          required: ['file_data'],
        },
      },
      required: ['type', 'file'],
    },
  ],
};

export const CHAT_FIELDS = {
  model: field('The id of a model that reads images, or of a chat model.', { type: 'string' }, true),
  messages: field(
    'The conversation. Images are read from the last user message. Without images, a chat model responds.',
    {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          role: { enum: ROLES },
          content: { anyOf: [{ type: 'string' }, { type: 'array', items: PART }, { type: 'null' }] },
        },
        required: ['role'],
      },
    },
    true,
  ),
  stream: field('Whether the response is streamed as server-sent events.', { type: 'boolean', default: false }),
  stream_options: field('With `include_usage`, the last event reports the usage.', {
    type: 'object',
    properties: { include_usage: { type: 'boolean', default: false } },
  }),
  max_tokens: field('The maximum number of tokens in the response.', { type: 'integer', minimum: 1 }),
  max_completion_tokens: field('The newer name of `max_tokens`, which takes precedence.', {
    type: 'integer',
    minimum: 1,
  }),
  stop: field('Stop sequences: the response ends before the first of them.', {
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 4 }],
  }),
  temperature: field('Only for generative models.', { type: 'number', minimum: 0, maximum: 2 }),
  top_p: field('Only for generative models.', { type: 'number', minimum: 0, maximum: 1 }),
  seed: field('Only for generative models.', { type: 'integer' }),
  presence_penalty: field('Only for generative models.', { type: 'number', minimum: -2, maximum: 2 }),
  frequency_penalty: field('Only for generative models.', { type: 'number', minimum: -2, maximum: 2 }),
  user: field('An identifier of the end user, passed on to remote models.', { type: 'string' }),
  n: field('The number of responses. Only 1 is supported.', { const: 1 }),
  output_format: field(
    'The format of text read from images: Markdown, plain text or HTML; `json` and `hocr` include word boxes.',
    {
      enum: FORMS,
      default: 'markdown',
    },
  ),
} as const satisfies Record<string, RequestField>;
