/** Creates all APIs, opens their ports, and closes all of them together. */
import type { Server } from 'node:http';
import { createHostServer, serveEuHosts } from '#api/hosts.ts';
import { createMetricsServer } from '#api/metrics.ts';
import { createTracing } from '#api/trace.ts';
import type { Config } from '#config.ts';
import { MAX_HEADER_BYTES } from '#http/server.ts';
import { trackUnusedConnections } from '#http/unused-connections.ts';
import { portOf } from '#net/guard/guard.ts';
import type { CloseStack } from './close-stack.ts';
import { drain, httpServers, waitForLoadBalancers } from './drain.ts';
import {
  createAdminServer,
  createCompatFace,
  createEuFaces,
  createModelFace,
  createReaderFace,
  createSearchFace,
  type FaceContext,
  type FaceModules,
  type ServerFaces,
} from './face-servers.ts';
import { type FaceUrl, listenAll, openPort } from './listen.ts';
import { createMcpEndpoint } from './mcp.ts';

export interface Faces {
  readonly faces: ServerFaces;
  /** The reader's ports: its own, and the port shared by all APIs. */
  readonly readerPorts: () => readonly number[];
  /** Opens the configured ports. If a port is already in use, throws an error that names it. */
  listen(): Promise<FaceUrl[]>;
  /** Accepts no more requests, and gives those in flight at most the drain time to finish. */
  close(): Promise<void>;
}

export async function createFaces(config: Config, modules: FaceModules, resources: CloseStack): Promise<Faces> {
  const { accounts, accessHooks, state, network, flow, metrics, version, log } = modules;
  const { ownNames, ownPorts, spanExport } = network;
  let isDraining = false;
  let flowPort = 0;
  const ownHosts = config.publicUrl ? [new URL(config.publicUrl).host] : [];
  const context: FaceContext = {
    config,
    modules,
    mcp: resources.use(
      createMcpEndpoint({
        ...{ accessHooks, state, version, ownNames, log },
        deriveSecret: accounts.deriveSecret,
        faces: () => ({ ...faces, flow }),
      }),
    ),
    tracing: createTracing({ accessHooks, spanExport }),
    health: { ...modules.health, ready: () => !isDraining },
    ownHosts,
    portOf: (face) => openPort(faces[face].server),
    flowPort: () => flowPort,
    readerPorts: () => [openPort(faces.reader.server), ...(hostServer ? [openPort(hostServer)] : [])],
  };
  const faces: ServerFaces = {
    reader: await createReaderFace(context),
    search: await createSearchFace(context),
    model: await createModelFace(context),
    compat: await createCompatFace(context),
  };
  const admin = await createAdminServer(config, modules);
  const metricsServer = config.metricsPort === undefined ? undefined : createMetricsServer(metrics);
  if (admin || metricsServer) await metrics.watchProcess();
  const hostServer: Server | undefined =
    config.port === undefined ? undefined : createHostServer({ ...faces, flow }, MAX_HEADER_BYTES);
  let euFaces: ReturnType<typeof createEuFaces> | undefined;
  const openEuFaces = () => {
    euFaces ??= modules.openEu().then((eu) => {
      const tracing = createTracing({ accessHooks, spanExport: eu.spanExport });
      return createEuFaces({ ...context, tracing }, eu);
    });
    return euFaces;
  };
  for (const server of [faces.reader.server, faces.search.server, hostServer]) {
    if (server) serveEuHosts(server, openEuFaces);
  }
  const hasEuPort = config.euReaderPort !== undefined || config.euSearchPort !== undefined;
  const servers = { faces, eu: hasEuPort ? await openEuFaces() : undefined, flow, admin, metricsServer, hostServer };
  const unused = httpServers(servers).map(trackUnusedConnections);

  return {
    faces,
    readerPorts: context.readerPorts,
    async listen() {
      const urls = await listenAll(config, servers);
      for (const { name, url } of urls) {
        if (name === 'flow') flowPort = portOf(new URL(url));
        ownPorts.add(portOf(new URL(url)));
        ownHosts.push(new URL(url).host);
      }
      return urls;
    },
    async close() {
      isDraining = true;
      await waitForLoadBalancers(servers, config.drainDelayMs);
      await drain(servers, unused, config.drainMs);
      const eu = await euFaces?.catch(() => undefined);
      await Promise.all([eu?.reader.close(), eu?.search.close()]);
    },
  };
}
