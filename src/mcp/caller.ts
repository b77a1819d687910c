/** Determines the caller of an MCP request, and the signal that cancels the request. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Client } from '#client/index.ts';
import type { RecentPages } from './recent.ts';

export interface McpCaller {
  readonly client: Client;
  readonly recent: RecentPages;
}

export type ResolveCaller = (context: ServerContext) => McpCaller | Promise<McpCaller>;

/** Returns a signal that is aborted when the call is cancelled or its connection is lost. */
export function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
}
