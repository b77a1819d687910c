/**
 * Sessions of clients that speak a protocol before 2026-07-28: giving up a call and listing what was read span several
 * requests there. Bounded in number, for each caller and in all, and in how long one may rest.
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
  /** Nobody else may use it, whoever learns its id. */
  readonly owner: string | undefined;
  /** Pages that a caller without a key read, since such callers cannot be told apart otherwise. */
  readonly recent: RecentPages;
  answer(exchange: SessionExchange): Promise<Response>;
}

export interface SessionExchange {
  readonly request: Request;
  readonly body: unknown;
  readonly authInfo: AuthInfo;
  /** Settles when the answer is out, or its client gone. */
  readonly ended: Promise<unknown>;
  /** Ends the answer where it is. */
  readonly endResponse: () => void;
}

export interface Sessions {
  /** A new session for the caller; undefined when there are too many at work. */
  open(caller: SessionCaller): Promise<Session | undefined>;
  find(id: string, owner: string | undefined): Session | undefined;
  close(): Promise<void>;
}

export interface SessionCaller {
  readonly owner: string | undefined;
  /** What sessions are limited by: a key or an IP address. */
  readonly limitKey: string;
}

interface OpenSession extends Session {
  readonly limitKey: string;
  readonly server: McpServer;
  usedAt: number;
  /** Requests that wait for their answer, a stream that waits for news among them. */
  waiting: number;
}

export interface SessionNeeds {
  readonly makeServer: () => McpServer;
  readonly makeRecent: () => RecentPages;
  readonly now?: () => number;
}

export function createSessions({ makeServer, makeRecent, now = Date.now }: SessionNeeds): Sessions {
  /** The one that rested longest first. */
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
   * Makes room by ending a session that rests: of the caller who has most of them, so that nobody loses theirs to one who
   * opens many, the one that rested longest. False when all are at work.
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
    /** Answers that are still being waited for, by the ids of their requests. */
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
        const asked = requestIdOf(body);
        if (asked !== undefined) answers.set(asked, endResponse);
        ended.then(() => {
          session.waiting -= 1;
          session.usedAt = now();
          if (answers.get(asked) === endResponse) answers.delete(asked);
        });
        const response = await transport.handleRequest(request, {
          authInfo,
          ...(body !== undefined && { parsedBody: body }),
        });
        // Nothing comes any more for what was given up, so nothing would end its stream.
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
