/** Opens the ports of all servers. */
import type { Server } from 'node:http';
import type { EuFaceName, FaceName } from '#api/hosts.ts';
import type { Config } from '#config.ts';
import type { LazyFace } from '#http/lazy-face.ts';
import { openServer } from '#http/open-server.ts';
import type { Face } from '#http/server.ts';
import type { FlowFace } from './flow.ts';

/** The URL at which an API can be reached. */
export interface FaceUrl {
  readonly name: FaceName | 'eu-reader' | 'eu-search' | 'grpc' | 'all' | 'admin' | 'metrics';
  readonly url: string;
}

export interface Servers {
  readonly faces: Readonly<Record<Exclude<FaceName, 'flow'>, Face | LazyFace>>;
  /** The EU APIs; `undefined` if they have no port. */
  readonly eu: Readonly<Record<EuFaceName, Face>> | undefined;
  readonly flow: FlowFace;
  readonly admin: Face | undefined;
  readonly metricsServer: Server | undefined;
  /** The server for the port that all APIs share. */
  readonly hostServer: Server | undefined;
}

/** Opens the configured ports in a fixed order. If a port is already in use, throws an error that names it. */
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
    ['compat', config.compatPort],
  ] as const;
  for (const [name, port] of ports) {
    await openServer(faces[name].server, { host, port });
    urls.push({ name, url: urlOf(faces[name].server, host) });
  }
  const euPorts = [
    ['reader', config.euReaderPort],
    ['search', config.euSearchPort],
  ] as const;
  for (const [name, port] of euPorts) {
    if (!eu || port === undefined) continue;
    await openServer(eu[name].server, { host, port });
    urls.push({ name: `eu-${name}`, url: urlOf(eu[name].server, host) });
  }
  const { url: flowUrl, grpcUrl } = await flow.listen();
  urls.push({ name: 'flow', url: flowUrl }, { name: 'grpc', url: grpcUrl });
  if (admin) {
    await openServer(admin.server, { host: config.adminHost, port: config.adminPort });
    urls.push({ name: 'admin', url: urlOf(admin.server, config.adminHost) });
  }
  if (metricsServer) {
    await openServer(metricsServer, { host: config.metricsHost, port: config.metricsPort! });
    urls.push({ name: 'metrics', url: urlOf(metricsServer, config.metricsHost) });
  }
  if (hostServer) {
    await openServer(hostServer, { host, port: config.port! });
    urls.push({ name: 'all', url: urlOf(hostServer, host) });
  }
  return urls;
}

const urlOf = (server: Server, host: string): string => formatUrl(host, openPort(server));

export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The port that a server listens on; 0 until it listens. */
export function openPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
