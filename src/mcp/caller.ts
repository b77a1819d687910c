/** Whose call it is, and how long anybody waits for it. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Client } from '#client/index.ts';
import type { RecentPages } from './recent.ts';

export interface McpCaller {
  readonly client: Client;
  readonly recent: RecentPages;
}

export type ResolveCaller = (context: ServerContext) => McpCaller | Promise<McpCaller>;

/** Aborted when the call is given up, and when the connection that waits for it is gone. */
export function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
}
