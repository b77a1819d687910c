/**
 * Routes that several dialects have. The first condition that holds selects the dialect (docs/reference/wire/compat.md,
 * Shared routes). `/for/DIALECT/…` is never ambiguous.
 */
import type { FastifyRequest } from 'fastify';
import type { DialectName } from './dialect.ts';

/** The parts of a request that tell dialects apart. */
export interface ClaimedRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: FastifyRequest['headers'];
  /** The media type of the body, without parameters. */
  readonly mediaType: string;
}

export interface Claim {
  readonly method: string;
  readonly url: string;
  readonly order: readonly { readonly dialect: DialectName; readonly when: (request: ClaimedRequest) => boolean }[];
  /** The dialect that answers if no condition holds. */
  readonly otherwise: DialectName;
}

const hasQuery = ({ query }: ClaimedRequest) => Object.hasOwn(query, 'q');

const isForm = ({ mediaType, body }: ClaimedRequest) =>
  mediaType === 'application/x-www-form-urlencoded' && Object.hasOwn(body, 'q');
const has = (body: ClaimedRequest['body'], names: readonly string[]) => names.some((name) => Object.hasOwn(body, name));

const EXA_TYPES: readonly unknown[] = ['auto', 'keyword', 'neural', 'hybrid', 'fast', 'deep', 'instant'];

const isExa = ({ body, headers }: ClaimedRequest) =>
  has(body, ['numResults', 'contents', 'useAutoprompt', 'livecrawl']) ||
  (Object.hasOwn(body, 'type') && EXA_TYPES.includes(body.type)) ||
  (headers['x-api-key'] !== undefined && headers.authorization === undefined);

export const CLAIMS: readonly Claim[] = [
  {
    method: 'POST',
    url: '/search',
    order: [
      { dialect: 'searxng', when: (request) => hasQuery(request) || isForm(request) },
      { dialect: 'serper', when: ({ body }) => has(body, ['q']) },
      {
        dialect: 'openwebui',
        when: ({ body }) => has(body, ['count']) && !has(body, ['max_results', 'api_key', 'numResults']),
      },
      { dialect: 'exa', when: isExa },
    ],
    otherwise: 'tavily',
  },
  {
    method: 'POST',
    url: '/crawl',
    order: [{ dialect: 'crawl4ai', when: ({ body }) => has(body, ['urls']) }],
    otherwise: 'tavily',
  },
  { method: 'GET', url: '/health', order: [], otherwise: 'lectern' },
  { method: 'GET', url: '/', order: [{ dialect: 'searxng', when: hasQuery }], otherwise: 'lectern' },
];
