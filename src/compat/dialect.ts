/**
 * The contract of a dialect: another product's API, answered by this server. A dialect maps requests and responses; the
 * work is done by the modules behind `Native`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '#accounts/index.ts';
import type { ErrorWriter } from '#http/server.ts';
import type { Access } from './access.ts';
import type { KeyPlace } from './keys.ts';
import type { Native } from './native/native.ts';

export const DIALECT_NAMES = [
  'brave',
  'cohere',
  'crawl4ai',
  'docling',
  'exa',
  'firecrawl',
  'gemini',
  'lectern',
  'mistral',
  'ollama',
  'openai',
  'openwebui',
  'searxng',
  'segmenter',
  'serper',
  'tavily',
  'tei',
  'tika',
  'unstructured',
  'vllm',
  'voyage',
] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** One request to a dialect. */
export interface CompatCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly native: Native;
  /** The admission of the caller. Routes with `access: 'public'` have none. */
  readonly admission: Admission;
  /** The parsed body; an empty object if there is none. */
  readonly body: unknown;
  /** The parameters of the request line. A repeated parameter is an array. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The parameters in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The origin by which the caller reached this server, for links in responses. */
  readonly origin: string;
}

export type CompatMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface CompatRoute {
  readonly method: CompatMethod | readonly CompatMethod[];
  /** A path of the router (`/crawl/:id`), without the prefix of the dialect. */
  readonly url: string;
  readonly access: Access;
  /** The route is served only under `/for/DIALECT`. */
  readonly isPrefixed?: boolean;
  /** `bytes`: the body is not parsed, and is passed as a `Uint8Array`. Default: `parsed`. */
  readonly bodyAs?: 'parsed' | 'bytes';
  /** What the route does, for the OpenAPI document: one sentence. */
  readonly summary: string;
  /** The schema of the request body, for the OpenAPI document. */
  readonly fields?: import('zod').ZodType | undefined;
  /** Sends the response. */
  readonly handler: (call: CompatCall) => unknown;
}

export interface Dialect {
  readonly name: DialectName;
  /** The product, as its users call it. */
  readonly title: string;
  /** Where its clients send the key. Only these places are read. */
  readonly keyPlaces: readonly KeyPlace[];
  /** Further values that clients send if they have no key. */
  readonly placeholders?: readonly string[];
  /** Whether the operator may admit callers on private networks without a key (`LECTERN_COMPAT_KEYLESS`). */
  readonly mayBeKeyless?: boolean;
  readonly writeError: ErrorWriter;
  readonly routes: readonly CompatRoute[];
}
