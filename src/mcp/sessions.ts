/**
 * Sessions for protocol versions before 2026-07-28, where cancelling a call and listing recent pages involve several
 * requests. The number of sessions is limited per caller and in total. Idle sessions expire.
 */
import { randomUUID } from 'node:crypto';
import { type AuthInfo, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { RecentPages } from './recent.ts';

const MAX_SESSIONS = 500;
const MAX_PER_CALLER = 50;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

export interface Session {
  readonly id: string;
  /** Only this owner may use the session, even if others learn its id. */
  readonly owner: string | undefined;
  /** The recent pages of a caller without a key, who is identified only by the session. */
  readonly recent: RecentPages;
  answer(exchange: SessionExchange): Promise<Response>;
}

export interface SessionExchange {
  readonly request: Request;
  readonly body: unknown;
  readonly authInfo: AuthInfo;
  /** Settles when the response is sent or the client has disconnected. */
  readonly ended: Promise<unknown>;
  /** Ends the response early. */
  readonly endResponse: () => void;
}

export interface Sessions {
  /** Opens a session; `undefined` if too many sessions are busy. */
  open(caller: SessionCaller): Promise<Session | undefined>;
  find(id: string, owner: string | undefined): Session | undefined;
  close(): Promise<void>;
}

export interface SessionCaller {
  readonly owner: string | undefined;
  /** The key or IP address to which the limit on sessions applies. */
  readonly limitKey: string;
}

interface OpenSession extends Session {
  readonly limitKey: string;
  readonly server: McpServer;
  usedAt: number;
  /** Number of unfinished requests, including open event streams. */
  waiting: number;
}

export interface SessionOptions {
  readonly makeServer: () => McpServer;
  readonly makeRecent: () => RecentPages;
  readonly now?: () => number;
}

export function createSessions({ makeServer, makeRecent, now = Date.now }: SessionOptions): Sessions {
  /** Least recently used first. */
  const sessions = new Map<string, OpenSession>();
  let sweeper: NodeJS.Timeout | undefined;

  async function drop(session: OpenSession): Promise<void> {
    sessions.delete(session.id);
    if (sessions.size === 0) {
      clearInterval(sweeper);
      sweeper = undefined;
    }
    session.recent.clear();
    await session.server.close();
  }

  async function sweep(): Promise<void> {
    const old = [...sessions.values()].filter(({ waiting, usedAt }) => waiting === 0 && now() - usedAt > IDLE_MS);
    await Promise.all(old.map(drop));
  }

  /**
   * Ends an idle session if there are `most` or more. It chooses the least recently used session of the caller with the
   * most sessions, so that one caller cannot displace the others. Returns false if all sessions are busy.
   */
  async function evictIfFull(all: readonly OpenSession[], most: number): Promise<boolean> {
    if (all.length < most) return true;
    const has = new Map<string, number>();
    for (const { limitKey } of all) has.set(limitKey, (has.get(limitKey) ?? 0) + 1);
    let ending: OpenSession | undefined;
    for (const session of all) {
      if (session.waiting > 0) continue;
      if (!ending || has.get(session.limitKey)! > has.get(ending.limitKey)!) ending = session;
    }
    if (ending) await drop(ending);
    return ending !== undefined;
  }

  async function open({ owner, limitKey }: SessionCaller): Promise<Session | undefined> {
    const own = [...sessions.values()].filter((session) => session.limitKey === limitKey);
    if (!(await evictIfFull(own, MAX_PER_CALLER)) || !(await evictIfFull([...sessions.values()], MAX_SESSIONS)))
      return undefined;
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => {
        const closed = sessions.get(id);
        if (closed) return drop(closed);
      },
    });
    const server = makeServer();
    await server.connect(transport);
    /** Functions that end unfinished responses, keyed by request id. */
    const answers = new Map<unknown, () => void>();
    const session: OpenSession = {
      id,
      owner,
      limitKey,
      server,
      recent: makeRecent(),
      usedAt: now(),
      waiting: 0,
      async answer({ request, body, authInfo, ended, endResponse }) {
        session.waiting += 1;
        sessions.delete(id);
        sessions.set(id, session);
        const requestId = requestIdOf(body);
        if (requestId !== undefined) answers.set(requestId, endResponse);
        ended.then(() => {
          session.waiting -= 1;
          session.usedAt = now();
          if (answers.get(requestId) === endResponse) answers.delete(requestId);
        });
        const response = await transport.handleRequest(request, {
          authInfo,
          ...(body !== undefined && { parsedBody: body }),
        });
        // The transport sends no response to a cancelled call, so the response stream must be ended here.
        answers.get(cancelledIn(body))?.();
        return response;
      },
    };
    sessions.set(id, session);
    sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    return session;
  }

  return {
    open,
    find(id, owner) {
      const session = sessions.get(id);
      return session?.owner === owner ? session : undefined;
    },
    async close() {
      await Promise.all([...sessions.values()].map(drop));
    },
  };
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

const messageOf = (body: unknown): Message => (typeof body === 'object' && body !== null ? body : {});

const requestIdOf = (body: unknown) => {
  const { id, method } = messageOf(body);
  return method === undefined ? undefined : id;
};

const cancelledIn = (body: unknown) => {
  const { method, params } = messageOf(body);
  return method === 'notifications/cancelled' ? params?.requestId : undefined;
};
