/**
 * Loopback model servers for tests. Each implements the requests and responses of its public documentation and rejects
 * everything else. They count words as tokens, and compute vectors and scores from the text alone.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Ajv, type JSONSchemaType } from 'ajv';
import type { RemoteRuns } from './protocols.ts';

/** A failure, or a modification of one response. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  /** Sends these bytes with status 200. Then the connection ends, is reset or stays silent. */
  | { readonly raw: string; readonly after: 'end' | 'destroy' | 'silence' }
  /** Modifies the correct response. */
  | { readonly change: (answer: never) => unknown }
  | { readonly lateMs: number }
  | 'destroy';

export interface RecordedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
}

export interface ServerOptions {
  readonly dimensions?: number;
  readonly key?: string;
  /** Maximum number of tokens per text or pair. */
  readonly maxTokens?: number;
  readonly maxInputs?: number;
  /** False for an old server that rejects the base64 encoding. */
  readonly base64?: boolean;
  readonly trouble?: (request: RecordedRequest, index: number) => Fault | undefined;
}

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Number of requests in progress. */
  readonly open: () => number;
  readonly most: () => number;
  close(): Promise<void>;
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
export const wordTokens = (text: string): number => words(text).length + 2;

/** Numbers in [-1, 1) that depend only on the text. */
export function vectorFor(text: string, dimensions: number): number[] {
  const numbers: number[] = [];
  for (let block = 0; numbers.length < dimensions; block++) {
    const bytes = createHash('sha256').update(`${block} ${text}`).digest();
    for (let at = 0; at < 32; at += 4) numbers.push(Math.fround(bytes.readInt32LE(at) / 2 ** 31));
  }
  return numbers.slice(0, dimensions);
}

export const scoreFor = (query: string, document: string): number =>
  createHash('sha256').update(`${query}\n${document}`).digest().readUInt32LE(0) / 2 ** 32;

const asBase64 = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
};

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Endpoint {
  readonly schema?: object;
  readonly answer: (body: never, server: Required<Pick<ServerOptions, 'dimensions'>> & ServerOptions) => unknown;
  readonly headers?: (body: never) => Record<string, string>;
}

const text = { type: 'string' };
const texts = { type: 'array', minItems: 1, items: text };
const positive = { type: 'integer', minimum: 1 };
const flag = { type: 'boolean' };
const object = (properties: Record<string, object>, required: readonly string[], more = false) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: more,
});

interface Limits {
  readonly maxTokens?: number | undefined;
  readonly maxInputs?: number | undefined;
}

/** Truncates at a word boundary, or throws the server's error. */
function within(
  list: readonly string[],
  { maxTokens, maxInputs }: Limits,
  cut: boolean,
  refuse: (n: number) => Refusal,
) {
  if (maxInputs && list.length > maxInputs) {
    throw new Refusal(413, `batch size ${list.length} > maximum allowed batch size ${maxInputs}`);
  }
  return list.map((item) => {
    if (!maxTokens || wordTokens(item) <= maxTokens) return item;
    if (!cut) throw refuse(wordTokens(item));
    return words(item)
      .slice(0, maxTokens - 2)
      .join(' ');
  });
}

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
const total = (list: readonly string[]): number => sum(list.map(wordTokens));
const contextError = (max: number | undefined) => (given: number) =>
  new Refusal(400, `This model's maximum context length is ${max} tokens, however you requested ${given} tokens`);

interface OpenAiBody {
  model: string;
  input: string[];
  encoding_format: string;
  dimensions?: number;
}

const openAi = (cut: boolean, usage = total): Endpoint => ({
  schema: object(
    { model: text, input: texts, encoding_format: { enum: ['float', 'base64'] }, dimensions: positive, user: text },
    ['model', 'input'],
  ),
  answer: ({ model, input, encoding_format: format, dimensions }: OpenAiBody, server) => {
    if (input.includes('')) throw new Refusal(400, 'input cannot be an empty string');
    if (format === 'base64' && server.base64 === false) throw new Refusal(422, 'encoding_format: unknown variant');
    const kept = within(input, server, cut, contextError(server.maxTokens));
    const data = kept.map((item, index) => {
      const vector = vectorFor(item, server.dimensions).slice(0, dimensions);
      return { object: 'embedding', index, embedding: format === 'base64' ? asBase64(vector) : vector };
    });
    return { object: 'list', model, data, usage: { prompt_tokens: usage(kept), total_tokens: usage(kept) } };
  },
});

interface RerankBody {
  model: string;
  query: string;
  documents: string[];
  truncate_prompt_tokens?: number;
  truncation?: boolean;
}

function ranked({ query, documents }: RerankBody) {
  return documents
    .map((document, index) => ({ index, relevance_score: scoreFor(query, document), document: { text: document } }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score);
}

const pairsWithin = (query: string, documents: readonly string[], limits: Limits, cut: boolean) =>
  within(documents, { ...limits, maxTokens: limits.maxTokens && limits.maxTokens - wordTokens(query) }, cut, () =>
    contextError(limits.maxTokens)(0),
  );

interface TeiBody {
  inputs: string[];
  truncate?: boolean;
}

const teiError = (max: number | undefined) => (given: number) =>
  new Refusal(413, `Input validation error: \`inputs\` must have less than ${max} tokens. Given: ${given}`);
const computed = (list: readonly string[]) => ({
  'x-compute-type': 'cpu',
  'x-compute-tokens': String(total(list)),
  'x-compute-characters': String(list.join('').length),
});
const teiInputs = { inputs: texts, truncate: flag, truncation_direction: { enum: ['Left', 'Right'] } };
const teiWithin = ({ inputs, truncate = false }: TeiBody, server: ServerOptions) => {
  if (inputs.includes('')) throw new Refusal(400, '`inputs` cannot be empty');
  return within(inputs, { maxInputs: 32, ...server }, truncate, teiError(server.maxTokens));
};

type Endpoints = Readonly<Record<string, Endpoint>>;

const ENDPOINTS: Readonly<Record<RemoteRuns['protocol'], Endpoints>> = {
  openai: { 'POST /v1/embeddings': openAi(false) },
  vllm: {
    'POST /v1/embeddings': openAi(false),
    'POST /rerank': {
      schema: object(
        { model: text, query: text, documents: texts, top_n: { type: 'integer' }, truncate_prompt_tokens: positive },
        ['query', 'documents'],
      ),
      answer: (body: RerankBody, server) => {
        pairsWithin(body.query, body.documents, server, body.truncate_prompt_tokens !== undefined);
        const tokens = total([body.query, ...body.documents]);
        return { id: 'rerank-1', model: body.model, usage: { total_tokens: tokens }, results: ranked(body) };
      },
    },
    'POST /tokenize': {
      schema: object({ model: text, prompt: text, add_special_tokens: flag, return_token_strs: flag }, ['prompt']),
      answer: ({ prompt }: { prompt: string }, { maxTokens = 512 }) => ({
        count: wordTokens(prompt),
        max_model_len: maxTokens,
        tokens: Array.from({ length: wordTokens(prompt) }, (_, index) => index),
        token_strs: null,
      }),
    },
  },
  infinity: {
    // This server counts characters by default.
    'POST /embeddings': openAi(true, (list) => list.join('').length),
    'POST /rerank': {
      schema: object(
        { model: text, query: text, documents: texts, return_documents: flag, raw_scores: flag, top_n: positive },
        ['query', 'documents'],
      ),
      answer: (body: RerankBody) => ({
        object: 'rerank',
        id: 'infinity-1',
        model: body.model,
        created: 1,
        results: ranked(body).map(({ index, relevance_score }) => ({ index, relevance_score, document: null })),
        usage: { prompt_tokens: 9_999, total_tokens: 9_999 },
      }),
    },
  },
  tei: {
    'GET /info': {
      answer: (_, { maxInputs = 32, maxTokens = 512 }) => ({
        model_id: 'some/model',
        model_type: { embedding: { pooling: 'mean' } },
        max_concurrent_requests: 512,
        max_input_length: maxTokens,
        max_batch_tokens: 16_384,
        max_client_batch_size: maxInputs,
        version: '1.8.2',
      }),
    },
    'POST /embed': {
      schema: object({ ...teiInputs, normalize: flag, prompt_name: text, dimensions: positive }, ['inputs']),
      answer: (body: TeiBody & { dimensions?: number }, server) =>
        teiWithin(body, server).map((item) => vectorFor(item, server.dimensions).slice(0, body.dimensions)),
      headers: ({ inputs }: TeiBody) => computed(inputs),
    },
    'POST /embed_all': {
      schema: object({ ...teiInputs, prompt_name: text }, ['inputs']),
      answer: (body: TeiBody, server) =>
        teiWithin(body, server).map((item) =>
          ['[CLS]', ...words(item)].map((word) => vectorFor(word, server.dimensions)),
        ),
      headers: ({ inputs }: TeiBody) => computed(inputs),
    },
    'POST /rerank': {
      schema: object(
        {
          query: text,
          texts,
          raw_scores: flag,
          return_text: flag,
          truncate: flag,
          truncation_direction: { enum: ['Left', 'Right'] },
        },
        ['query', 'texts'],
      ),
      answer: (
        { query, texts: given, truncate = false }: { query: string; texts: string[]; truncate?: boolean },
        server,
      ) => {
        pairsWithin(query, given, { maxInputs: 32, ...server }, truncate);
        return given
          .map((item, index) => ({ index, score: scoreFor(query, item) }))
          .toSorted((a, b) => b.score - a.score);
      },
    },
    'POST /tokenize': {
      schema: object({ inputs: texts, add_special_tokens: flag, prompt_name: text }, ['inputs']),
      answer: ({ inputs }: TeiBody, { maxInputs }) =>
        within(inputs, { maxInputs }, false, teiError(0)).map((item) =>
          ['[CLS]', ...words(item), '[SEP]'].map((word, id) => ({
            id,
            text: word,
            special: word.startsWith('['),
            start: 0,
            stop: 0,
          })),
        ),
    },
  },
  ollama: {
    'POST /api/embed': {
      schema: object(
        {
          model: text,
          input: texts,
          truncate: flag,
          dimensions: positive,
          keep_alive: text,
          options: { type: 'object' },
        },
        ['model', 'input'],
      ),
      answer: ({ model, input, truncate = true, dimensions }: OpenAiBody & { truncate?: boolean }, server) => {
        const tooLong = () => new Refusal(400, 'the input length exceeds the context length');
        const kept = within(input, server, truncate, tooLong);
        return {
          model,
          embeddings: kept.map((item) => vectorFor(item, server.dimensions).slice(0, dimensions)),
          total_duration: 14_143_917,
          load_duration: 1_019_500,
          prompt_eval_count: total(kept),
        };
      },
    },
  },
  cohere: {
    'POST /v2/embed': {
      schema: object(
        {
          model: text,
          texts: { ...texts, maxItems: 96 },
          input_type: { enum: ['search_document', 'search_query', 'classification', 'clustering', 'image'] },
          embedding_types: { type: 'array', items: { enum: ['float', 'int8', 'uint8', 'binary', 'ubinary'] } },
          truncate: { enum: ['NONE', 'START', 'END'] },
          output_dimension: positive,
        },
        ['model', 'texts', 'input_type', 'embedding_types'],
      ),
      answer: (body: { texts: string[]; truncate: string; output_dimension?: number }, server) => {
        const tooLong = () => new Refusal(400, 'too many tokens: size limit exceeded');
        const kept = within(body.texts, server, body.truncate === 'END', tooLong);
        return {
          id: 'c1',
          texts: body.texts,
          embeddings: { float: kept.map((item) => vectorFor(item, server.dimensions).slice(0, body.output_dimension)) },
          meta: { api_version: { version: '2' }, billed_units: { input_tokens: total(kept) } },
        };
      },
    },
    'POST /v2/rerank': {
      schema: object({ model: text, query: text, documents: texts, top_n: positive, max_tokens_per_doc: positive }, [
        'model',
        'query',
        'documents',
      ]),
      answer: (body: RerankBody) => ({
        id: 'c2',
        results: ranked(body).map(({ index, relevance_score }) => ({ index, relevance_score })),
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      }),
    },
  },
  lectern: {
    'POST /v1/embeddings': {
      schema: object({ model: text, input: texts }, ['model', 'input'], true),
      answer: (body: LecternBody, server) => {
        const tooLong = () => new Refusal(400, 'INPUT_TOKEN_LIMIT_EXCEEDED');
        const kept = within(body.input, server, body.truncate === true, tooLong);
        const written = (vector: readonly number[]) => (body.embedding_type === 'base64' ? asBase64(vector) : vector);
        const data = kept.map((item, index) => {
          if (body.model === 'sparse') return { object: 'embedding', index, embedding: weightsFor(item) };
          // With late chunking, each vector depends on the rest of the document.
          const seen = body.late_chunking && kept.length > 1 ? `${kept.join(' ')}: ${item}` : item;
          const seenAs = body.task ? `${body.task}: ${seen}` : seen;
          if (!body.return_multivector && body.model !== 'colbert') {
            const embedding = written(vectorFor(seenAs, server.dimensions).slice(0, body.dimensions));
            return { object: 'embedding', index, embedding };
          }
          const pieces = words(seenAs);
          return {
            object: 'embeddings',
            index,
            embeddings: pieces.map((word) => written(vectorFor(word, server.dimensions))),
            ...(body.return_tokenized_input && { tokenized_input: pieces }),
          };
        });
        return {
          model: body.model,
          object: 'list',
          usage: { total_tokens: total(kept), prompt_tokens: total(kept) },
          data,
        };
      },
    },
    'POST /v1/rerank': {
      schema: object(
        { model: text, query: text, documents: texts, top_n: positive },
        ['model', 'query', 'documents'],
        true,
      ),
      answer: (body: RerankBody, server) => {
        pairsWithin(body.query, body.documents, server, body.truncation !== false);
        return {
          model: body.model,
          object: 'list',
          usage: { total_tokens: total([body.query, ...body.documents]) },
          results: ranked(body).map(({ index, relevance_score }) => ({ index, relevance_score })),
        };
      },
    },
  },
};

interface LecternBody {
  model: string;
  input: string[];
  task?: string;
  truncate?: boolean;
  late_chunking?: boolean;
  return_multivector?: boolean;
  return_tokenized_input?: boolean;
  embedding_type?: string;
  dimensions?: number;
}

export const weightsFor = (item: string): Record<string, number> =>
  Object.fromEntries(words(item).map((word) => [word, word.length / 2]));

const validators = new Map<object, ReturnType<Ajv['compile']>>();
const ajv = new Ajv({ allErrors: true });

function check(schema: object, body: unknown): void {
  const validate = validators.get(schema) ?? ajv.compile(schema as JSONSchemaType<unknown>);
  validators.set(schema, validate);
  if (!validate(body)) throw new Refusal(400, `not in the documentation: ${ajv.errorsText(validate.errors)}`);
}

export async function startModelServer(
  protocol: RemoteRuns['protocol'],
  options: ServerOptions = {},
): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let open = 0;
  let maxOpen = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    response.once('close', () => {
      open -= 1;
    });
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const path = new URL(request.url!, 'http://server').pathname;
    const endpoint = ENDPOINTS[protocol][`${request.method} ${path}`];
    const sent = Buffer.concat(pieces).toString('utf8');
    const body = (sent ? JSON.parse(sent) : {}) as Record<string, unknown>;
    const seen: RecordedRequest = { path, body, headers: request.headers };
    requests.push(seen);
    const trouble = options.trouble?.(seen, requests.length - 1);
    try {
      if (options.key && request.headers.authorization !== `Bearer ${options.key}`) throw new Refusal(401, 'wrong key');
      if (!endpoint) throw new Refusal(404, 'not found');
      if (sent && request.headers['content-type'] !== 'application/json') throw new Refusal(415, 'not JSON');
      if (endpoint.schema) check(endpoint.schema, body);
      if (await interfere(response, trouble)) return;
      const correct = endpoint.answer(body as never, { dimensions: 16, ...options });
      const answer =
        trouble && typeof trouble === 'object' && 'change' in trouble ? trouble.change(correct as never) : correct;
      const headers = { 'content-type': 'application/json', ...endpoint.headers?.(body as never) };
      response.writeHead(200, headers).end(JSON.stringify(answer));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const message = `${error.message} (secret: ${request.headers.authorization ?? 'none'})`;
      response
        .writeHead(error.status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message } }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    open: () => open,
    most: () => maxOpen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns whether it has sent a response. */
async function interfere(response: ServerResponse, trouble: Fault | undefined): Promise<boolean> {
  if (trouble === undefined || (typeof trouble === 'object' && 'change' in trouble)) return false;
  if (trouble === 'destroy') {
    response.destroy();
    return true;
  }
  if ('lateMs' in trouble) {
    await delay(trouble.lateMs);
    return false;
  }
  if ('status' in trouble) {
    response.writeHead(trouble.status, { 'content-type': 'application/json', ...trouble.headers });
    response.end(JSON.stringify(trouble.body ?? { error: 'secret words of the server' }));
    return true;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(trouble.raw);
  if (trouble.after === 'end') response.end();
  if (trouble.after === 'destroy') setImmediate(() => response.destroy());
  return true;
}
