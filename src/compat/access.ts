/** Admits callers of dialects under the access rules of the native endpoints. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessRule } from '#accounts/index.ts';
import type { AccessHooks, LimitHeaders } from '#api/access-hooks.ts';
import { refuseCrossSite } from '#api/cross-site.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { parseAddress } from '#net/guard/ip-address.ts';
import type { Dialect } from './dialect.ts';
import { findKey } from './keys.ts';

/**
 * The native endpoint whose rules apply to a route: reads, searches, crawls and other jobs of the reader, embeddings,
 * reranking and text recognition. `public` routes need no key and count no request.
 */
export type Access = 'public' | 'read' | 'search' | 'jobs' | 'embeddings' | 'rerank' | 'ocr';

export interface AccessOptions {
  /** The API that requests are charged to. */
  readonly face: 'compat' | 'model';
  readonly accessHooks: AccessHooks;
  /** Whether callers without a key may search. */
  readonly searchKeyless: 'refused' | 'limited';
  /** Dialects that admit callers on private networks without a key. */
  readonly keylessDialects: readonly string[];
  /**
   * Whether to refuse keyless requests from web pages of other sites, because this server may read private networks.
   */
  readonly refusesCrossSite: boolean;
  readonly ownNames: readonly string[];
}

/** Tokens reserved on admission, as by the native endpoints. */
const READ_TOKENS = 20_000;
const SEARCH_TOKENS = 10_000;

function ruleOf(
  access: Exclude<Access, 'public'>,
  { face, searchKeyless }: Pick<AccessOptions, 'face' | 'searchKeyless'>,
): AccessRule {
  const reads = { face, authorization: 'any key' } as const;
  const models = { ...reads, keyless: 'refused' } as const;
  switch (access) {
    case 'read':
      return { ...reads, endpoint: 'reader', keyless: 'limited', expectedTokens: READ_TOKENS };
    case 'search':
      return { ...reads, endpoint: 'search', keyless: searchKeyless, expectedTokens: SEARCH_TOKENS };
    case 'jobs':
      return { ...reads, endpoint: 'reader', keyless: 'refused' };
    case 'embeddings':
      return { ...models, endpoint: 'embeddings' };
    case 'rerank':
      return { ...models, endpoint: 'rerank' };
    case 'ocr':
      return { ...models, endpoint: 'chat' };
  }
}

const HEADERS: Readonly<Record<Exclude<Access, 'public'>, LimitHeaders>> = {
  read: 'plain',
  search: 'plain',
  jobs: 'plain',
  embeddings: 'by kind',
  rerank: 'by kind',
  ocr: 'by kind',
};

export interface AdmissionRequest {
  readonly dialect: Dialect;
  /** All dialects whose places for keys are read. */
  readonly claimants: readonly Dialect[];
  readonly access: Exclude<Access, 'public'>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** Admits the caller of a request, or throws the problem to send. */
export async function admitCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { dialect, claimants, access, query }: AdmissionRequest,
  options: AccessOptions,
): Promise<void> {
  const places = claimants.flatMap(({ keyPlaces }) => keyPlaces);
  const key = findKey(places, { headers: request.headers, body: request.body, query }, dialect.placeholders);
  const rule = ruleOf(access, options);
  const isAdmitted =
    dialect.mayBeKeyless && options.keylessDialects.includes(dialect.name) && isPrivateIp(clientIpOf(request));
  if (options.refusesCrossSite && key === undefined) refuseCrossSite(request, options.ownNames);
  await options.accessHooks.admit(request, reply, {
    rule: isAdmitted ? { ...rule, keyless: 'private' } : rule,
    headers: HEADERS[access],
    key,
  });
}

const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/** Whether an IP address is of this machine or of a private network. */
export function isPrivateIp(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && PRIVATE_RANGES.has(address.range());
}
