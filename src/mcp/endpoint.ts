/**
 * The Streamable HTTP transport, implemented with web requests. Protocol 2026-07-28 and later is stateless. Clients of
 * earlier versions get a session if they initialize one, and are served without a session otherwise.
 */
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpRequestContext,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { limiterKeyOf } from '#accounts/index.ts';
import type { Client } from '#client/index.ts';
import type { McpCaller } from './caller.ts';
import { createRecentPageStore, noRecentPages, type RecentPages } from './recent.ts';
import { createMcpServer } from './server.ts';
import { createSessions } from './sessions.ts';

/** The caller as identified by the HTTP request. */
export interface HttpCaller {
  /** Id of the API key; `undefined` without one. */
  readonly owner: string | undefined;
  readonly authorization: string | undefined;
  readonly address: string;
  readonly requestId: string;
}

export interface Exchange {
  /** The request's signal is aborted when the client disconnects. */
  readonly request: Request;
  /** Parsed body of a POST. */
  readonly body: unknown;
  readonly caller: HttpCaller;
  readonly ended: Promise<unknown>;
  readonly endResponse: () => void;
}

export interface Endpoint {
  answer(exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
}

export interface EndpointOptions {
  readonly version: string;
  /** Creates a client that calls the APIs with the caller's key and IP address. */
  readonly clientFor: (caller: HttpCaller) => Client;
  readonly onError: (error: unknown) => void;
}

const TOO_MANY_WAIT_S = 10;

export function createEndpoint({ version, clientFor, onError }: EndpointOptions): Endpoint {
  const recentStore = createRecentPageStore();
  const resolveCaller = ({ http }: ServerContext): McpCaller => {
    // `authOf` sets the auth info for every exchange.
    const { caller, recent } = http!.authInfo!.extra as unknown as Extra;
    return { client: clientFor(caller), recent };
  };
  const makeServer = (_?: McpRequestContext) => createMcpServer({ version, resolveCaller, onError });
  const stateless = createMcpHandler(makeServer, { legacy: 'reject' });
  const legacyStateless = legacyStatelessFallback(makeServer);
  const sessions = createSessions({ makeServer, makeRecent: recentStore.open });

  /** Recent pages belong to the key, so that they outlive a connection; without a key, to the session. */
  const authOf = (caller: HttpCaller, recent: RecentPages): AuthInfo => {
    const extra: Extra = { caller, recent: caller.owner === undefined ? recent : recentStore.of(caller.owner) };
    return { token: '', clientId: caller.owner ?? '', scopes: [], extra: { ...extra } };
  };

  return {
    async answer(exchange) {
      const { request, body, caller } = exchange;
      const parsed = body !== undefined && { parsedBody: body };
      if (!(await isLegacyRequest(request, body))) {
        return stateless.fetch(request, { authInfo: authOf(caller, noRecentPages), ...parsed });
      }
      const id = request.headers.get('mcp-session-id');
      const isInitialize = isInitializeRequest(body);
      if (id === null && !isInitialize)
        return legacyStateless(request, { authInfo: authOf(caller, noRecentPages), ...parsed });
      const { owner, address } = caller;
      const session = isInitialize
        ? await sessions.open({ owner, limitKey: owner ?? limiterKeyOf(address) })
        : sessions.find(id!, owner);
      if (session) return session.answer({ ...exchange, authInfo: authOf(caller, session.recent) });
      return isInitialize
        ? refusal(429, 'Too many sessions', { 'retry-after': String(TOO_MANY_WAIT_S) })
        : refusal(404, 'Session not found');
    },
    async close() {
      await Promise.all([stateless.close(), sessions.close()]);
    },
  };
}

interface Extra {
  readonly caller: HttpCaller;
  readonly recent: RecentPages;
}

/** Builds a JSON-RPC error without an id, for requests that are not valid calls. */
export const refusal = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }, { status, headers });
