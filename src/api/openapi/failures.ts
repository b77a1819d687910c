/** The error responses of an OpenAPI document: one for each HTTP status, generated from the table of errors. */
import { PROBLEMS, type ProblemName } from '#errors.ts';
import { BLOCKED, texts } from './components.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Names of the responses. Node's own status texts are not used, because they differ between Node versions. */
const RESPONSE_NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'RequestHeaderFieldsTooLarge',
  451: 'UnavailableForLegalReasons',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
};

export function responseName(status: number): string {
  const name = RESPONSE_NAMES[status];
  if (!name) throw new Error(`no response name for HTTP ${status}`);
  return name;
}

export const responseRef = (status: number) => ({ $ref: `#/components/responses/${responseName(status)}` });

const distinct = (codes: readonly number[]) => [...new Set(codes)];

/** Statuses whose responses may have a Retry-After header. */
const RETRIED = [429, 503];
const RETRY_AFTER = {
  'Retry-After': { schema: { type: 'integer', minimum: 0 }, description: 'Seconds to wait before retrying.' },
};
/** The header of a response that tells the client when to retry. */
export const retryHeaders = (status: number) => (RETRIED.includes(status) ? { headers: RETRY_AFTER } : {});

const text = (description: string) => ({ type: 'string', description });
const integer = (description: string) => ({ type: 'integer', description });

/** A failure of the reader, the search host or the admin API, in JSON. */
export const FAILURE = failureOf(Object.keys(PROBLEMS) as ProblemName[]);

function failureOf(names: readonly ProblemName[]): Schema {
  return {
    type: 'object',
    required: ['data', 'code', 'name', 'status', 'message', 'readableMessage'],
    properties: {
      data: { type: 'null' },
      path: text('The invalid option or field.'),
      value: text('The invalid value; truncated if long.'),
      faults: {
        type: 'array',
        description: 'On the admin API: all invalid fields.',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: { path: text('The field.'), message: text('What is wrong.') },
        },
      },
      limitedBy: { enum: ['address', 'concurrency', 'requests', 'tokens'], description: 'The limit that was reached.' },
      retryAfter: { type: 'number', minimum: 0, description: 'Seconds to wait before retrying.' },
      retryAfterDate: { type: 'string', format: 'date-time', description: 'The time at which `retryAfter` ends.' },
      targetStatus: integer('The HTTP status of the page.'),
      blocked: BLOCKED,
      tried: texts('What was tried to read the page: `direct`, `browser`, `proxy`.'),
      mediaType: text('The media type of a target that cannot be read.'),
      code: { enum: distinct(names.map((name) => PROBLEMS[name].code)), description: 'The HTTP status.' },
      name: { enum: names, description: 'The kind of failure.' },
      status: {
        enum: names.map((name) => PROBLEMS[name].status),
        description: 'The HTTP status, followed by two digits for the kind of failure.',
      },
      message: text('A description of the failure.'),
      readableMessage: text('The name and message on one line.'),
    },
  };
}

interface FailureFormats {
  readonly names: readonly ProblemName[];
  /** Whether failures are also written as text and as an event, in addition to JSON. */
  readonly isNegotiated: boolean;
}

/** The responses by HTTP status, as references to `failureComponents`. */
export const failureResponses = (names: readonly ProblemName[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(statusesOf(names).map((status) => [status, responseRef(status)]));

/** The `components.responses` of these failures. */
export const failureComponents = ({ names, isNegotiated }: FailureFormats): Readonly<Record<string, Schema>> =>
  Object.fromEntries(
    statusesOf(names).map((status) => {
      const kinds = names.filter((name) => PROBLEMS[name].code === status);
      const example = exampleOf(kinds[0]!);
      return [
        responseName(status),
        {
          description: kinds.map((name) => `\`${name}\`: ${PROBLEMS[name].message}.`).join(' '),
          ...retryHeaders(status),
          content: {
            'application/json': { schema: failureOf(kinds), example },
            ...(isNegotiated && {
              'text/plain': { schema: text('The `readableMessage`.'), example: `${example.readableMessage}\n` },
              'text/event-stream': { schema: text('An event `error` with the `readableMessage` as a JSON string.') },
            }),
          },
        },
      ];
    }),
  );

const statusesOf = (names: readonly ProblemName[]) =>
  distinct(names.map((name) => PROBLEMS[name].code)).sort((a, b) => a - b);

function exampleOf(name: ProblemName) {
  const { code, status, message } = PROBLEMS[name];
  const path = name === 'ParamValidationError' ? 'url' : undefined;
  const readableMessage = path ? `${name}(${path}): ${message}` : `${name}: ${message}`;
  return { data: null, ...(path && { path }), code, name, status, message, readableMessage };
}

const MODEL_HOST_ONLY: readonly ProblemName[] = [
  'ModelNotFoundError',
  'TokenLimitExceededError',
  'InvalidLabelsError',
  'LabelLimitExceededError',
  'AuthenticationFormatError',
  'ResourceBusyError',
  'UnsupportedMediaTypeError',
];
/** Failures of requests that match no operation. */
const NO_OPERATION: readonly ProblemName[] = ['RouteNotFoundError', 'MethodNotAllowedError'];
/** Failures of requests that name or create a crawl. */
const CRAWL_ONLY: readonly ProblemName[] = ['ResourceNotFoundError', 'ResourceLimitExceededError'];

const without = (...lists: readonly (readonly ProblemName[])[]) =>
  (Object.keys(PROBLEMS) as ProblemName[]).filter((name) => !lists.flat().includes(name));

/** Failures of crawls. */
export const CRAWL_FAILURES = without(MODEL_HOST_ONLY, NO_OPERATION);
/** Failures of reads and searches. */
export const READ_FAILURES = without(MODEL_HOST_ONLY, NO_OPERATION, CRAWL_ONLY);
