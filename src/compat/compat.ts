/**
 * The compat API: dialects of other products on one origin. Each route of a dialect is served at the root, where its
 * clients expect it, and under `/for/DIALECT`.
 */
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { pictureRoute } from '#api/reader/reader.ts';
import { objectFromPairs } from '#http/body.ts';
import type { Face } from '#http/server.ts';
import { type AccessOptions, admitCaller } from './access.ts';
import { CLAIMS, type Claim, type ClaimedRequest } from './claims.ts';
import type { CompatCall, CompatMethod, CompatRoute, Dialect } from './dialect.ts';
import { DIALECTS } from './dialects.ts';
import { type DialectOfPath, setDialect } from './errors.ts';
import { createNative, type Native, type NativeParts } from './native/native.ts';
import { originOf } from './origin.ts';

export interface CompatOptions extends NativeParts, AccessOptions {
  /** The dialects to serve. Default: all. */
  readonly dialects?: readonly Dialect[];
  /** Routes at the root, as `METHOD path`, that another API on the same server has. */
  readonly taken?: ReadonlySet<string>;
}

/** A route of one dialect. */
interface Claimant {
  readonly dialect: Dialect;
  readonly route: CompatRoute;
}

/** Finds the dialect of a path under `/for/`. */
export const dialectOfPath: DialectOfPath = (path) => {
  const name = /^\/+for\/+([^/]+)/.exec(path)?.[1];
  return DIALECTS.find((dialect) => dialect.name === name);
};

/** The server must have been created with `servesPrograms` and `takesAnyJson`. */
export async function compatRoutes(face: Face, options: CompatOptions): Promise<void> {
  const native = await createNative(options);
  const { dialects = DIALECTS, taken } = options;
  face.addHook('onClose', () => native.tasks.close());
  if (dialects === DIALECTS) pictureRoute(face, options.pictures);
  const serving: Serving = { native, options };
  // HEAD comes before GET, because a route for GET adds one for HEAD if there is none.
  const routes = [...claimantsByRoute(dialects)];
  const isHead = ([key]: (typeof routes)[number]) => key.startsWith('HEAD ');
  for (const [key, claimants] of [...routes.filter(isHead), ...routes.filter((route) => !isHead(route))]) {
    const [method, url] = key.split(' ') as [CompatMethod, string];
    const atRoot = claimants.filter(({ route }) => !route.isPrefixed);
    if (atRoot.length > 0 && !taken?.has(key)) addRoute(face, { method, url, claimants: atRoot }, serving);
    for (const claimant of claimants) {
      addRoute(face, { method, url: `/for/${claimant.dialect.name}${url}`, claimants: [claimant] }, serving);
    }
  }
}

interface Serving {
  readonly native: Native;
  readonly options: CompatOptions;
}

/** All routes: `METHOD path` and the dialects that have it. */
function claimantsByRoute(dialects: readonly Dialect[]): Map<string, Claimant[]> {
  const found = new Map<string, Claimant[]>();
  for (const dialect of dialects) {
    for (const route of dialect.routes) {
      for (const method of [route.method].flat()) {
        const key = `${method} ${route.url}`;
        found.set(key, [...(found.get(key) ?? []), { dialect, route }]);
      }
    }
  }
  return found;
}

interface ServedRoute {
  readonly method: CompatMethod;
  readonly url: string;
  readonly claimants: readonly Claimant[];
}

function addRoute(face: Face, { method, url, claimants }: ServedRoute, serving: Serving): void {
  const claim = claimants.length > 1 ? claimOf(method, url) : undefined;
  const [first] = claimants;
  const route: RouteOptions = {
    method,
    url,
    onRequest: async (request) => setDialect(request, (claim ? byName(claimants, claim.otherwise) : first!).dialect),
    handler: async (request, reply) => {
      const query = queryOf(request);
      const { dialect, route: chosen } = claim ? choose(claim, claimants, request, query) : first!;
      setDialect(request, dialect);
      if (chosen.access !== 'public') {
        const admission = { dialect, claimants: claimants.map((one) => one.dialect), access: chosen.access, query };
        await admitCaller(request, reply, admission, serving.options);
      }
      return chosen.handler(callOf(request, reply, { query, serving, isPublic: chosen.access === 'public' }));
    },
  };
  if (claimants.some((one) => one.route.bodyAs === 'bytes')) addBytesRoute(face, route);
  else face.route(route as never);
}

/** Adds a route whose body is not parsed, in a scope with a parser of its own. */
function addBytesRoute(face: Face, route: RouteOptions): void {
  face.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) => bytes);
    scope.route(route as never);
  });
}

function claimOf(method: string, url: string): Claim {
  const claim = CLAIMS.find((one) => one.method === method && one.url === url);
  if (!claim) throw new Error(`several dialects have ${method} ${url}: claims.ts must tell them apart`);
  return claim;
}

function byName(claimants: readonly Claimant[], name: string): Claimant {
  const found = claimants.find(({ dialect }) => dialect.name === name);
  if (!found) throw new Error(`the dialect ${name} lacks a route that claims.ts gives it`);
  return found;
}

function choose(
  claim: Claim,
  claimants: readonly Claimant[],
  { body, headers }: FastifyRequest,
  query: Readonly<Record<string, unknown>>,
): Claimant {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const asked: ClaimedRequest = {
    body: (isObject ? body : Array.isArray(body) ? (body[0] ?? {}) : {}) as Record<string, unknown>,
    query,
    headers,
    mediaType: (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase(),
  };
  const chosen = claim.order.find(({ when }) => when(asked))?.dialect ?? claim.otherwise;
  return byName(claimants, chosen);
}

const queryOf = ({ originalUrl }: FastifyRequest): Readonly<Record<string, unknown>> => {
  const at = originalUrl.indexOf('?');
  return objectFromPairs(new URLSearchParams(at < 0 ? '' : originalUrl.slice(at + 1)));
};

interface CallContext {
  readonly query: Readonly<Record<string, unknown>>;
  readonly serving: Serving;
  readonly isPublic: boolean;
}

function callOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { query, serving: { native, options }, isPublic }: CallContext,
): CompatCall {
  return {
    request,
    reply,
    native,
    query,
    // Public routes have no admission, and their handlers do not read it.
    admission: isPublic ? (undefined as never) : options.accessHooks.admissionOf(request),
    body: request.body ?? {},
    params: (request.params ?? {}) as Record<string, string>,
    origin: originOf(request, options.publicUrl),
  };
}
