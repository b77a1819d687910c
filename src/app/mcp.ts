/**
 * The MCP endpoint on the reader's host. Its tools send requests to the APIs of this process on behalf of the caller.
 */
import type { FastifyRequest } from 'fastify';
import type { AccessRule } from '#accounts/index.ts';
import type { AccessHooks } from '#api/access-hooks.ts';
import { isCrossSite } from '#api/cross-site.ts';
import type { HostFaces } from '#api/hosts.ts';
import { orUnavailable } from '#api/unavailable.ts';
import { createClient } from '#client/index.ts';
import type { Face } from '#http/server.ts';
import type { Endpoint, HttpCaller } from '#mcp/endpoint.ts';
import { mcpRoutes } from '#mcp/http.ts';
import type { SharedState } from '#storage/shared/open.ts';
import type { Log } from '#telemetry/log.ts';
import { CLIENT_IP_HEADER, type InProcess, openInProcess } from './in-process.ts';

export { MCP_PATHS } from '#mcp/http.ts';

export interface McpEndpointOptions {
  readonly accessHooks: Pick<AccessHooks, 'identify'>;
  /** Returns the secret of the installation for a purpose. */
  readonly deriveSecret: (purpose: string) => Promise<Uint8Array>;
  readonly state: SharedState;
  readonly version: string;
  /** Host names of this server, besides IP addresses and localhost. */
  readonly ownNames: readonly string[];
  readonly log: Log;
  /** Called on the first request, when the APIs are ready. */
  readonly faces: () => HostFaces;
}

export interface McpEndpoint {
  routes(face: Face): void;
  close(): Promise<void>;
}

/** The endpoint itself rejects only invalid keys. The rate limits apply to the requests that the tools send. */
const ACCESS: AccessRule = { face: 'reader', endpoint: 'reader', authorization: 'any key', keyless: 'limited' };

export function createMcpEndpoint({
  accessHooks,
  deriveSecret,
  state,
  version,
  ownNames,
  log,
  faces,
}: McpEndpointOptions): McpEndpoint {
  let opened: Promise<{ readonly endpoint: Endpoint; readonly inProcess: InProcess }> | undefined;

  async function open() {
    // Loaded on the first request, because the MCP package is slow to load.
    const secret = await orUnavailable(deriveSecret('mcp sessions'));
    const [{ createEndpoint }, inProcess] = await Promise.all([import('#mcp/endpoint.ts'), openInProcess(faces())]);
    const clientFor = ({ authorization, address, requestId }: HttpCaller) =>
      createClient({
        urls: inProcess.urls,
        fetch: inProcess.fetch,
        // No retries, so that rate limits are reported to the caller.
        retries: 0,
        headers: { [CLIENT_IP_HEADER]: address, 'x-request-id': requestId, ...(authorization && { authorization }) },
      });
    const store = state.isShared ? state.brief : undefined;
    const onError = (error: unknown) => log.error({ err: error }, 'an MCP tool failed');
    return { inProcess, endpoint: createEndpoint({ version, clientFor, onError, secret, store }) };
  }

  return {
    routes(face) {
      mcpRoutes(face, {
        endpoint: async () => {
          opened ??= open().catch((error: unknown) => {
            opened = undefined;
            throw error;
          });
          return (await opened).endpoint;
        },
        async keyOf(request: FastifyRequest) {
          const caller = await accessHooks.identify(ACCESS, request);
          return caller.kind === 'key' ? caller.key.id : undefined;
        },
        isForeign: ({ headers }) => isCrossSite(headers, ownNames),
      });
    },
    async close() {
      if (!opened) return;
      const { endpoint, inProcess } = await opened;
      await endpoint.close();
      await inProcess.close();
    },
  };
}
