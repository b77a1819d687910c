/** Opens the ports of all servers, and drains and closes them. */
import type { Server } from 'node:http';
import type { EuFaceName, FaceName } from '#api/hosts.ts';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import type { Config } from '#config.ts';
import type { Face } from '#http/server.ts';
import type { UnusedConnections } from '#http/unused-connections.ts';
import type { FlowFace } from './flow.ts';

/** The URL under which a face can be reached. */
export interface FaceUrl {
  readonly name: FaceName | 'eu-reader' | 'eu-search' | 'grpc' | 'all' | 'admin' | 'metrics';
  readonly url: string;
}

export interface Servers {
  readonly faces: Readonly<Record<Exclude<FaceName, 'flow'>, Face>>;
  /** The faces inside the EU; `undefined` if they have no port. */
  readonly eu: Readonly<Record<EuFaceName, Face>> | undefined;
  readonly flow: FlowFace;
  readonly admin: Face | undefined;
  readonly metricsServer: Server | undefined;
  /** The server of the port that all faces share. */
  readonly hostServer: Server | undefined;
}

/** How often idle connections are closed while draining. */
const CLOSE_IDLE_MS = 50;

/** Opens the ports of the configuration, in a fixed order. Throws an error that names a port already in use. */
export async function listenAll(
  config: Config,
  { faces, eu, flow, admin, metricsServer, hostServer }: Servers,
): Promise<FaceUrl[]> {
  const { host } = config;
  const urls: FaceUrl[] = [];
  const ports = [
    ['reader', config.readerPort],
    ['search', config.searchPort],
    ['model', config.modelPort],
  ] as const;
  for (const [name, port] of ports) {
    await faces[name].listen({ host, port });
    urls.push({ name, url: urlOf(faces[name].server, host) });
  }
  const euPorts = [
    ['reader', config.euReaderPort],
    ['search', config.euSearchPort],
  ] as const;
  for (const [name, port] of euPorts) {
    if (!eu || port === undefined) continue;
    await eu[name].listen({ host, port });
    urls.push({ name: `eu-${name}`, url: urlOf(eu[name].server, host) });
  }
  const { url: flowUrl, grpcUrl } = await flow.listen();
  urls.push({ name: 'flow', url: flowUrl }, { name: 'grpc', url: grpcUrl });
  if (admin) {
    await admin.listen({ host: config.adminHost, port: config.adminPort });
    urls.push({ name: 'admin', url: urlOf(admin.server, config.adminHost) });
  }
  if (metricsServer) {
    await listen(metricsServer, config.metricsPort!, config.metricsHost);
    urls.push({ name: 'metrics', url: urlOf(metricsServer, config.metricsHost) });
  }
  if (hostServer) {
    await listen(hostServer, config.port!, host);
    urls.push({ name: 'all', url: urlOf(hostServer, host) });
  }
  return urls;
}

/** The HTTP servers except that of the flow, which closes its own. */
export const httpServers = ({ faces, eu, admin, metricsServer, hostServer }: Servers): Server[] =>
  [
    ...Object.values({ ...faces, ...euServers(eu) }).map((face) => face.server),
    admin?.server,
    hostServer,
    metricsServer,
  ].filter((server) => server !== undefined);

/** Accepts no more requests, lets those in flight finish within `drainMs`, then closes all connections. */
export async function drain(all: Servers, unused: readonly UnusedConnections[], drainMs: number): Promise<void> {
  const { faces, eu, flow, admin, metricsServer, hostServer } = all;
  const closable = [...Object.values({ ...faces, ...euServers(eu) }), ...(admin ? [admin] : [])];
  const bare = [hostServer, metricsServer].filter((server) => server !== undefined);
  const servers = httpServers(all);
  // A client keeps a connection alive after its last response, so connections are closed as soon as they are idle.
  const closingIdle = setInterval(() => {
    for (const server of servers) server.closeIdleConnections();
    for (const connections of unused) connections.close();
  }, CLOSE_IDLE_MS);
  const closing = Promise.all([
    ...closable.map((face) => face.close()),
    flow.close(drainMs),
    ...bare.map((server) => new Promise((done) => (server.listening ? server.close(done) : done(undefined)))),
  ]);
  await within(drainMs, closing).catch((error: unknown) => {
    if (!(error instanceof DeadlineExceededError)) throw error;
  });
  clearInterval(closingIdle);
  for (const server of servers) server.closeAllConnections();
}

const euServers = (eu: Servers['eu']) => (eu ? { euReader: eu.reader, euSearch: eu.search } : {});

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

const urlOf = (server: Server, host: string): string => formatUrl(host, openPort(server));

export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The port that a server listens on; 0 before it listens. */
export function openPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
