/** THE table of fields of a chat completion (contract, section 7.1), for the interface description. */
import type { RequestField } from '../inputs/fields.ts';

/** What may come out. The last two need boxes, which only engines of this machine have. */
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
  description: 'Pages of a PDF or TIFF: `1,3-5`; all of them when not given.',
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
          description: 'An http(s) address or a data URI: PNG, JPEG, WebP, TIFF, PDF.',
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
  model: field('The id of an engine that reads pictures, or of a chat model.', { type: 'string' }, true),
  messages: field(
    'The conversation. Pictures are read from the last user message; without any, a chat model answers.',
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
  stream: field('Sends the answer as server-sent events while it is written.', { type: 'boolean', default: false }),
  stream_options: field('`include_usage` sends a last event with the usage.', {
    type: 'object',
    properties: { include_usage: { type: 'boolean', default: false } },
  }),
  max_tokens: field('Ends the answer after so many tokens.', { type: 'integer', minimum: 1 }),
  max_completion_tokens: field('The same under its newer name, which wins.', { type: 'integer', minimum: 1 }),
  stop: field('Texts before which the answer ends.', {
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 4 }],
  }),
  temperature: field('For engines that generate.', { type: 'number', minimum: 0, maximum: 2 }),
  top_p: field('For engines that generate.', { type: 'number', minimum: 0, maximum: 1 }),
  seed: field('For engines that generate.', { type: 'integer' }),
  presence_penalty: field('For engines that generate.', { type: 'number', minimum: -2, maximum: 2 }),
  frequency_penalty: field('For engines that generate.', { type: 'number', minimum: -2, maximum: 2 }),
  user: field('Who asks, for engines on other servers.', { type: 'string' }),
  n: field('How many answers: one.', { const: 1 }),
  output_format: field(
    'What pictures become: `html`, and `json` and `hocr` with boxes, beside Markdown and plain text.',
    {
      enum: FORMS,
      default: 'markdown',
    },
  ),
} as const satisfies Record<string, RequestField>;
