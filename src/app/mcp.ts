/** The MCP deps of the reader's host, whose tools ask the faces of this process as their callers would. */
import type { FastifyRequest } from 'fastify';
import type { AccessRule } from '#accounts/index.ts';
import { isCrossSite } from '#api/cross-site.ts';
import type { Gatekeeper } from '#api/gatekeeper.ts';
import type { HostFaces } from '#api/hosts.ts';
import { createClient } from '#client/index.ts';
import type { Face } from '#http/server.ts';
import type { Endpoint, HttpCaller } from '#mcp/endpoint.ts';
import { mcpRoutes } from '#mcp/http.ts';
import type { Log } from '#telemetry/log.ts';
import { CLIENT_IP_HEADER, type InProcess, openInProcess } from './in-process.ts';

export { MCP_PATHS } from '#mcp/http.ts';

export interface McpEndpointOptions {
  readonly gatekeeper: Pick<Gatekeeper, 'identify'>;
  readonly version: string;
  /** Names under which a browser may know this server, beside addresses and localhost. */
  readonly ownNames: readonly string[];
  readonly log: Log;
  /** Asked once somebody has come, by when they are ready. */
  readonly faces: () => HostFaces;
}

export interface McpEndpoint {
  routes(face: Face): void;
  close(): Promise<void>;
}

/** The tools' own calls are limited; here only wrong keys are. */
const ACCESS: AccessRule = { face: 'reader', endpoint: 'reader', authorization: 'any key', keyless: 'limited' };

export function createMcpEndpoint({ gatekeeper, version, ownNames, log, faces }: McpEndpointOptions): McpEndpoint {
  let opened: Promise<{ readonly endpoint: Endpoint; readonly inside: InProcess }> | undefined;

  async function open() {
    // The protocol's package takes long to load.
    const [{ createEndpoint }, inside] = await Promise.all([import('#mcp/endpoint.ts'), openInProcess(faces())]);
    const clientFor = ({ authorization, address, requestId }: HttpCaller) =>
      createClient({
        urls: inside.urls,
        fetch: inside.fetch,
        // A caller who has to wait is told so.
        retries: 0,
        headers: { [CLIENT_IP_HEADER]: address, 'x-request-id': requestId, ...(authorization && { authorization }) },
      });
    const onError = (error: unknown) => log.error({ err: error }, 'an MCP tool failed');
    return { inside, endpoint: createEndpoint({ version, clientFor, onError }) };
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
          const caller = await gatekeeper.identify(ACCESS, request);
          return caller.kind === 'key' ? caller.key.id : undefined;
        },
        isForeign: ({ headers }) => isCrossSite(headers, ownNames),
      });
    },
    async close() {
      if (!opened) return;
      const { endpoint, inside } = await opened;
      await endpoint.close();
      await inside.close();
    },
  };
}
