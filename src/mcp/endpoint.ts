/**
 * The Streamable HTTP transport, implemented with web requests. Every request is served without state. Clients of
 * protocol versions before 2026-07-28 get a session if they initialize one, which any server continues.
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
import type { Client } from '#client/index.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import type { McpCaller } from './caller.ts';
import { createCancellations } from './cancellations.ts';
import { createRecentPageStore, noRecentPages, type RecentPages } from './recent.ts';
import { createMcpServer } from './server.ts';
import { createSessions } from './sessions.ts';
import { createSharedRecentPages } from './shared-recent.ts';

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
  /** Signs the ids of sessions. All servers of an installation have the same secret. */
  readonly secret: Uint8Array;
  /** Passes cancellations on to other servers; absent if there are none. */
  readonly store?: SharedStore | undefined;
}

export function createEndpoint({ version, clientFor, onError, secret, store }: EndpointOptions): Endpoint {
  const local = createRecentPageStore();
  const shared = store && createSharedRecentPages(store, local);
  const resolveCaller = ({ http }: ServerContext): McpCaller => {
    // `authOf` sets the auth info for every exchange.
    const { caller, recent } = http!.authInfo!.extra as unknown as Extra;
    return { client: clientFor(caller), recent };
  };
  const makeServer = (_?: McpRequestContext) => createMcpServer({ version, resolveCaller, onError });
  const stateless = createMcpHandler(makeServer, { legacy: 'reject' });
  const legacy = legacyStatelessFallback(makeServer);
  const sessions = createSessions(secret);
  const cancellations = createCancellations({ store });

  /** Recent pages belong to the key, so that they outlive a session; without a key, to the session. */
  const authOf = async (caller: HttpCaller, body: unknown, session?: string): Promise<AuthInfo> => {
    const holder = caller.owner ?? (session && `session ${session}`);
    if (holder !== undefined && usesRecentPages(body)) await shared?.load(holder);
    const recent = holder === undefined ? noRecentPages : (shared ?? local).of(holder);
    const extra: Extra = { caller, recent };
    return { token: '', clientId: caller.owner ?? '', scopes: [], extra: { ...extra } };
  };

  /** Answers a request within a session. */
  async function answerSession(session: string, { request, body, caller, ended, endResponse }: Exchange) {
    const { id, method, params } = messageOf(body);
    if (method === 'notifications/cancelled') await cancellations.cancel({ session, id: params?.requestId });
    // Aborting the request ends its work too.
    if (method !== undefined && id !== undefined) cancellations.watch({ session, id }, endResponse, ended);
    return legacy(request, { authInfo: await authOf(caller, body, session), parsedBody: body });
  }

  async function initialize({ request, body, caller }: Exchange): Promise<Response> {
    const response = await legacy(request, { authInfo: await authOf(caller, body), parsedBody: body });
    const headers = new Headers(response.headers);
    if (response.ok) headers.set(SESSION_HEADER, sessions.open(caller.owner));
    return new Response(response.body, { status: response.status, headers });
  }

  return {
    async answer(exchange) {
      const { request, body, caller } = exchange;
      const parsed = body !== undefined && { parsedBody: body };
      if (!(await isLegacyRequest(request, body))) {
        return stateless.fetch(request, { authInfo: await authOf(caller, body), ...parsed });
      }
      if (isInitializeRequest(body)) return initialize(exchange);
      const id = request.headers.get(SESSION_HEADER);
      if (id === null) return legacy(request, { authInfo: await authOf(caller, body), ...parsed });
      return sessions.isValid(id, caller.owner) ? answerSession(id, exchange) : refusal(404, 'Session not found');
    },
    async close() {
      cancellations.close();
      await stateless.close();
    },
  };
}

const SESSION_HEADER = 'mcp-session-id';

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown; readonly arguments?: { readonly offset?: unknown } | undefined };
}

/** Whether a message lists or continues pages that were read before. */
function usesRecentPages(body: unknown): boolean {
  const { method, params } = messageOf(body);
  return method === 'resources/list' || method === 'resources/read' || Boolean(params?.arguments?.offset);
}

const messageOf = (body: unknown): Message => (typeof body === 'object' && body !== null ? body : {});

interface Extra {
  readonly caller: HttpCaller;
  readonly recent: RecentPages;
}

/** Builds a JSON-RPC error without an id, for requests that are not valid calls. */
export const refusal = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }, { status, headers });
