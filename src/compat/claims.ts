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
const namesJson = (accept: string | undefined) => /\bapplication\/json\b/i.test(accept ?? '');
const has = (body: ClaimedRequest['body'], names: readonly string[]) => names.some((name) => Object.hasOwn(body, name));

const isModel = ({ model }: ClaimedRequest['body'], pattern: RegExp) =>
  typeof model === 'string' && pattern.test(model);
const VOYAGE_RERANKER = /^(?:voyage-|rerank-(?:lite-)?\d+(?:\.\d+)?(?:-lite)?$)/;
const COHERE_FIELDS = ['rank_fields', 'max_chunks_per_doc', 'max_tokens_per_doc'];
const COHERE_RERANKER = /^rerank-(?:v|english-|multilingual-)/;

/** Mistral's SDK names itself, and lists files without a purpose. */
const isMistral = ({ body, query, headers }: ClaimedRequest) =>
  body.purpose === 'ocr' || query.purpose === 'ocr' || /mistral/i.test(headers['user-agent'] ?? '');

/** Both dialects show the same files in the same form. */
const FILE_CLAIMS: readonly Claim[] = [
  ['POST', '/v1/files'],
  ['GET', '/v1/files'],
  ...['GET', 'DELETE'].flatMap((method) => [
    [method, '/v1/files/:id'],
    [method, '/v1/files/:id/content'],
  ]),
].map(([method, url]) => ({
  method: method!,
  url: url!,
  order: [{ dialect: 'mistral' as const, when: isMistral }],
  otherwise: 'openai' as const,
}));

const EXA_TYPES: readonly unknown[] = ['auto', 'keyword', 'neural', 'hybrid', 'fast', 'deep', 'instant'];

const isExa = ({ body, headers }: ClaimedRequest) =>
  has(body, ['numResults', 'contents', 'useAutoprompt', 'livecrawl']) ||
  (Object.hasOwn(body, 'type') && EXA_TYPES.includes(body.type)) ||
  (headers['x-api-key'] !== undefined && headers.authorization === undefined);

export const CLAIMS: readonly Claim[] = [
  ...FILE_CLAIMS,
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
  ...(['GET', 'HEAD'] as const).map((method) => ({
    method,
    url: '/version',
    order: [{ dialect: 'docling' as const, when: ({ headers }: ClaimedRequest) => namesJson(headers.accept) }],
    otherwise: 'tika' as const,
  })),
  ...(['GET', 'HEAD'] as const).map((method) => ({
    method,
    url: '/health',
    order: [],
    otherwise: 'lectern' as const,
  })),
  {
    method: 'POST',
    url: '/',
    order: [{ dialect: 'tei', when: (request) => !hasQuery(request) && has(request.body, ['inputs', 'texts']) }],
    otherwise: 'searxng',
  },
  {
    method: 'POST',
    url: '/v1/embeddings',
    order: [
      { dialect: 'tei', when: ({ body }) => !has(body, ['model']) },
      {
        dialect: 'voyage',
        when: ({ body }) => has(body, ['truncation', 'output_dtype']) || isModel(body, /^voyage-/),
      },
    ],
    otherwise: 'openai',
  },
  {
    method: 'POST',
    url: '/v1/rerank',
    order: [
      {
        dialect: 'voyage',
        when: ({ body }) =>
          !has(body, ['top_n']) && (has(body, ['top_k', 'truncation']) || isModel(body, VOYAGE_RERANKER)),
      },
      { dialect: 'cohere', when: ({ body }) => has(body, COHERE_FIELDS) || isModel(body, COHERE_RERANKER) },
    ],
    otherwise: 'vllm',
  },
  {
    method: 'POST',
    url: '/rerank',
    order: [{ dialect: 'tei', when: ({ body }) => has(body, ['texts']) }],
    otherwise: 'vllm',
  },
  {
    method: 'POST',
    url: '/tokenize',
    order: [{ dialect: 'tei', when: ({ body }) => has(body, ['inputs']) }],
    otherwise: 'vllm',
  },
  {
    method: 'POST',
    url: '/crawl',
    order: [{ dialect: 'crawl4ai', when: ({ body }) => has(body, ['urls']) }],
    otherwise: 'tavily',
  },
  { method: 'GET', url: '/', order: [{ dialect: 'searxng', when: hasQuery }], otherwise: 'lectern' },
  { method: 'HEAD', url: '/', order: [], otherwise: 'lectern' },
];
