/**
 * The failures in the OpenAPI document of the model host: one response for each HTTP status, generated from the table
 * of codes.
 */
import { PROBLEMS, type ProblemName } from '#errors.ts';
import { FAULT_TYPES } from '#models/index.ts';
import { MODEL_CODES, RATE_CODES } from '../envelopes/model.ts';
import { ref } from '../openapi/components.ts';
import { responseName, responseRef, retryHeaders } from '../openapi/failures.ts';

type Schema = Readonly<Record<string, unknown>>;

const string = (description: string): Schema => ({ type: 'string', description });
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

const CODES = [...new Set([...Object.values(MODEL_CODES).map(({ code }) => code), ...Object.values(RATE_CODES)])];
const REQUEST_ID = string('32 hexadecimal digits, as in the header X-Request-Id.');
const EXAMPLE_ID = '4f1c2b7a9d3e48f6a0b5c6d7e8f90123';

/** Problems of the model host that have no code. */
const WITHOUT_CODE = [
  'RequestPayloadTooLargeError',
  'UnsupportedMediaTypeError',
  'RequestHeaderFieldsTooLargeError',
] as const satisfies readonly ProblemName[];

interface Kind {
  readonly status: number;
  readonly code?: string;
  readonly message: string;
}

const KINDS: readonly Kind[] = [
  ...Object.entries(MODEL_CODES).flatMap(([name, row]): Kind[] => {
    const message = 'detail' in row ? row.detail : PROBLEMS[name as ProblemName].message;
    const codes = name === 'RateLimitTriggeredError' ? Object.values(RATE_CODES) : [row.code];
    return codes.map((code) => ({ status: row.status, code, message }));
  }),
  ...WITHOUT_CODE.map((name) => ({ status: PROBLEMS[name].code, message: PROBLEMS[name].message })),
];

const STATUSES = [...new Set(KINDS.map(({ status }) => status))].sort((a, b) => a - b);
const kindsOf = (status: number) => KINDS.filter((kind) => kind.status === status);
const codesOf = (status: number) => [...new Set(kindsOf(status).flatMap(({ code }) => code ?? []))];

const errorResponse = (codes: readonly string[]): Schema => ({
  type: 'object',
  required: codes.length ? ['detail', 'code', 'request_id'] : ['detail', 'request_id'],
  properties: {
    detail: string('A description of the failure.'),
    ...(codes.length && { code: { type: 'string', enum: codes } }),
    request_id: REQUEST_ID,
  },
});

export const FAILURE_SCHEMAS: Readonly<Record<string, Schema>> = {
  ErrorResponse: { ...errorResponse(CODES), required: ['detail', 'request_id'] },
  HTTPValidationError: {
    type: 'object',
    description: 'An invalid request.',
    required: ['detail', 'request_id', 'errors'],
    properties: {
      detail: string('The number of errors, and the first of them.'),
      request_id: REQUEST_ID,
      errors: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['field', 'message', 'type'],
          properties: {
            field: string('The path of the field, such as `body -> input -> 0`.'),
            message: string('What is wrong.'),
            type: { enum: [...FAULT_TYPES, 'json_invalid'], description: 'The kind of error.' },
            input: { description: 'The invalid value; truncated if long.' },
          },
        },
      },
    },
  },
  ChatFailure: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'param', 'code'],
        properties: {
          message: string('A description of the failure.'),
          type: string('`invalid_request_error`, `authentication_error`, `rate_limit_error`, `server_error`, …'),
          param: orNull(string('The invalid field, such as `messages[0].content[1].image_url.url`.')),
          code: orNull({ type: 'string', enum: CODES }),
          request_id: string('Same as the header X-Request-Id.'),
        },
      },
    },
  },
};

const INVALID = {
  detail: "Validation error: 'body -> input' is required",
  request_id: EXAMPLE_ID,
  errors: [{ field: 'body -> input', message: 'is required', type: 'missing' }],
};

const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } });
const describeKinds = (status: number) =>
  kindsOf(status)
    .map(({ code, message }) => (code ? `\`${code}\`: ${message}.` : `${message}.`))
    .join(' ');

const CHAT_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

function chatExample(status: number) {
  const [kind] = kindsOf(status);
  const type = CHAT_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message: kind!.message, type, param: null, code: kind!.code ?? null, request_id: EXAMPLE_ID } };
}

const chatName = (status: number) => `Chat${responseName(status)}`;

/** `components.responses` in the model host's OpenAPI document. */
export const FAILURE_RESPONSES: Readonly<Record<string, Schema>> = Object.fromEntries([
  ...STATUSES.map((status) => {
    const { code, message } = kindsOf(status)[0]!;
    const example = { detail: message, ...(code && { code }), request_id: EXAMPLE_ID };
    const content = json(errorResponse(codesOf(status)), example);
    return [responseName(status), { description: describeKinds(status), ...retryHeaders(status), content }];
  }),
  [responseName(422), { description: 'The request is invalid.', content: json(ref('HTTPValidationError'), INVALID) }],
  ...STATUSES.map((status) => [
    chatName(status),
    {
      description: describeKinds(status),
      ...retryHeaders(status),
      content: json(ref('ChatFailure'), chatExample(status)),
    },
  ]),
]);

/** The failures of an operation. */
export const FAILURES: Readonly<Record<string, Schema>> = Object.fromEntries(
  [...STATUSES, 422].map((status) => [status, responseRef(status)]),
);

/** The failures of chat completions, in the format of OpenAI's API. Invalid requests have the status 400. */
export const CHAT_FAILURES: Readonly<Record<string, Schema>> = Object.fromEntries(
  STATUSES.map((status) => [status, { $ref: `#/components/responses/${chatName(status)}` }]),
);
