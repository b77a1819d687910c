/** The doors of the server: each face with its routes, the ports that are opened, and how all of it ends. */
import type { Server } from 'node:http';
import type { AccountsModule } from '#accounts/index.ts';
import { adminRoutes, writeAdminError } from '#api/admin/admin.ts';
import { signIn } from '#api/admin/sign-in.ts';
import { CRAWL_PATHS, crawlRoutes } from '#api/crawl/crawl.ts';
import { bareModelError, writeModelError } from '#api/envelopes/model.ts';
import { errorBody, writeReaderError } from '#api/envelopes/reader.ts';
import type { Gatekeeper } from '#api/gatekeeper.ts';
import { HEALTH_PATHS, type Health, healthRoutes } from '#api/health.ts';
import { createHostServer, type FaceName } from '#api/hosts.ts';
import { createMetricsServer, metricsRoute, requestCounter } from '#api/metrics.ts';
import { modelHostRoutes } from '#api/models/host.ts';
import { modelProbes } from '#api/models/probes.ts';
import { DOCUMENTATION_PATHS, documentationRoutes } from '#api/pages/documentation.ts';
import { PLAYGROUND_PATHS, playgroundRoutes } from '#api/pages/playground.ts';
import { STATIC_PATHS, staticRoutes } from '#api/pages/static.ts';
import { DESCRIPTION_PATHS, descriptionRoutes } from '#api/reader/openapi.ts';
import { READER_PATHS, readerRoutes } from '#api/reader/reader.ts';
import { searchDescriptionRoutes } from '#api/search/openapi.ts';
import { SEARCH_PATHS, searchRoutes } from '#api/search/search.ts';
import { allOf, createTracing } from '#api/trace.ts';
import type { BatchModule } from '#batch/index.ts';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import type { Config } from '#config.ts';
import type { CrawlModule } from '#crawl/index.ts';
import { createServer, type Face, MAX_HEADER_BYTES, type ServerOptions } from '#http/server.ts';
import type { Completions, ModelHost } from '#models/index.ts';
import { portOf } from '#net/guard/guard.ts';
import type { Plans } from '#plans.ts';
import type { Reader } from '#reader/index.ts';
import type { Search } from '#search/index.ts';
import type { Counters } from '#storage/counters/counters.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { Log } from '#telemetry/log.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { FlowFace } from './flow.ts';
import { createMcpDoor, MCP_PATHS } from './mcp.ts';
import type { Network } from './network.ts';
import type { Started } from './started.ts';

/** Faces that are servers of the framework; the flow gateway has its own. */
export type ServerFace = Exclude<FaceName, 'flow'>;

/** Where a face can be reached. */
export interface Place {
  readonly name: FaceName | 'grpc' | 'all' | 'admin' | 'metrics';
  readonly url: string;
}

/** What the doors lead to. */
export interface FaceModules {
  readonly accounts: AccountsModule;
  readonly plans: Plans;
  readonly counters: Counters;
  readonly gatekeeper: Gatekeeper;
  readonly network: Network;
  readonly reader: Reader;
  readonly crawl: CrawlModule;
  readonly search: Search;
  readonly modelHost: ModelHost;
  readonly completions: Completions;
  readonly batch: BatchModule;
  readonly flow: FlowFace;
  readonly pictures: Pictures;
  readonly metrics: Metrics;
  /** All of it but whether the server drains. */
  readonly health: Omit<Health, 'ready'>;
  readonly temporaryDir: string;
  readonly version: string;
  readonly log: Log;
}

export interface Faces {
  readonly faces: Readonly<Record<ServerFace, Face>>;
  /** Opens the ports of the configuration; a port that is taken is an error that names it. */
  listen(): Promise<Place[]>;
  /** Takes no more requests, and lets those in flight finish within the drain time. */
  close(): Promise<void>;
}

const IDLE_CUT_MS = 50;
const MAX_ADMIN_BODY_BYTES = 1_000_000;

const READER_HOST_PATHS = new Set([
  ...READER_PATHS,
  ...CRAWL_PATHS,
  ...HEALTH_PATHS,
  ...STATIC_PATHS,
  ...DESCRIPTION_PATHS,
  ...PLAYGROUND_PATHS,
  ...MCP_PATHS,
  ...DOCUMENTATION_PATHS,
]);
const SEARCH_HOST_PATHS = new Set([...SEARCH_PATHS, ...HEALTH_PATHS, ...STATIC_PATHS, ...DESCRIPTION_PATHS]);

export async function openFaces(config: Config, rooms: FaceModules, started: Started): Promise<Faces> {
  const { gatekeeper, network, flow, pictures, metrics, version, log } = rooms;
  const { guard, ownNames } = network;
  const { maxBodyBytes, trustedProxies, userAgent } = config;
  let draining = false;
  const health: Health = { ...rooms.health, ready: () => !draining };
  const tracing = createTracing({ gatekeeper, spanExport: network.spanExport });

  const face = async (
    name: ServerFace,
    options: Pick<ServerOptions, 'writeError' | 'malformedBody' | 'paths'> & Partial<ServerOptions>,
    routes: (face: Face) => void,
  ) => {
    const made = await createServer({
      name,
      log,
      temporaryDir: rooms.temporaryDir,
      maxBodyBytes,
      trustedProxies,
      observe: allOf(requestCounter(metrics, name), tracing.observer),
      ...options,
    });
    staticRoutes(made);
    routes(made);
    await made.ready();
    return made;
  };
  const publicUrl = config.publicUrl ?? `http://${config.host}:${config.readerPort}`;
  const index = {
    usage1: `${publicUrl}/YOUR_URL`,
    usage2: `http://${config.host}:${config.searchPort}/YOUR_SEARCH_QUERY`,
    homepage: `${publicUrl}/docs`,
  };
  /** Under which callers reach this server, as far as it knows. */
  const ownHosts = config.publicUrl ? [new URL(config.publicUrl).host] : [];
  const readerErrors = { writeError: writeReaderError, malformedBody: errorBody };
  const modelErrors = {
    writeError: writeModelError,
    malformedBody: bareModelError,
    servesPrograms: true,
    maxBodyBytes: config.modelMaxBodyBytes,
  };
  /** The playground asks the other faces from the reader's origin. */
  const ownPages = {
    publicOrigin: config.publicUrl && new URL(config.publicUrl).origin,
    ports: () => [openPort(faces.reader.server), ...(hostServer ? [openPort(hostServer)] : [])],
  };
  /** What every door of the reader and search hosts wants. */
  const common = {
    gatekeeper,
    guardsNetworks: config.allowNetworks.length > 0,
    ownNames,
    publicUrl: config.publicUrl,
    userAgent,
  };
  const mcp = started.keep(createMcpDoor({ gatekeeper, version, ownNames, log, faces: () => ({ ...faces, flow }) }));
  const faces: Record<ServerFace, Face> = {
    reader: await face('reader', { ...readerErrors, paths: READER_HOST_PATHS }, (made) => {
      healthRoutes(made, health);
      descriptionRoutes(made, version);
      mcp.routes(made);
      documentationRoutes(made);
      playgroundRoutes(made, {
        version,
        publicUrl: config.publicUrl,
        ports: () => ({
          reader: openPort(faces.reader.server),
          search: openPort(faces.search.server),
          model: openPort(faces.model.server),
        }),
        searchNeedsKey: config.auth === 'on' && config.searchKeyless === 'refused',
        modelsNeedKey: config.auth === 'on',
      });
      crawlRoutes(made, { ...common, room: rooms.crawl, guard });
      readerRoutes(made, { ...common, reader: rooms.reader, tracing, pictures, index });
    }),
    search: await face('search', { ...readerErrors, paths: SEARCH_HOST_PATHS }, (made) => {
      healthRoutes(made, health);
      searchDescriptionRoutes(made, version);
      searchRoutes(made, {
        ...common,
        search: rooms.search,
        tracing,
        keyless: config.auth === 'off' ? 'limited' : config.searchKeyless,
        ownPages,
        pictures,
        index,
        readerUrl: () => config.publicUrl?.replace(/\/$/, '') ?? urlOf(faces.reader.server, config.host),
        ownHosts: () => ownHosts,
      });
    }),
    model: await face('model', modelErrors, (made) => {
      modelProbes(made, { models: rooms.modelHost.models, draining: () => draining, fullDisks: health.fullDisks });
      modelHostRoutes(made, {
        ...rooms.modelHost,
        completions: rooms.completions,
        gatekeeper,
        tracing,
        prices: config.modelPrices,
        version,
        batch: { room: rooms.batch, guard },
      });
    }),
  };
  const admin = await openAdmin(config, rooms);
  const metricsServer = config.metricsPort === undefined ? undefined : createMetricsServer(metrics);
  if (admin || metricsServer) await metrics.watchProcess();
  const hostServer = config.port === undefined ? undefined : createHostServer({ ...faces, flow }, MAX_HEADER_BYTES);

  async function listen(): Promise<Place[]> {
    const { host } = config;
    const places: Place[] = [];
    const ports: [ServerFace, number][] = [
      ['reader', config.readerPort],
      ['search', config.searchPort],
      ['model', config.modelPort],
    ];
    for (const [name, port] of ports) {
      await faces[name].listen({ host, port });
      places.push({ name, url: urlOf(faces[name].server, host) });
    }
    const { url: flowUrl, grpcUrl } = await flow.listen();
    places.push({ name: 'flow', url: flowUrl }, { name: 'grpc', url: grpcUrl });
    if (admin) {
      await admin.listen({ host: config.adminHost, port: config.adminPort });
      places.push({ name: 'admin', url: urlOf(admin.server, config.adminHost) });
    }
    if (metricsServer) {
      await listening(metricsServer, config.metricsPort!, config.metricsHost);
      places.push({ name: 'metrics', url: urlOf(metricsServer, config.metricsHost) });
    }
    if (hostServer) {
      await listening(hostServer, config.port!, host);
      places.push({ name: 'all', url: urlOf(hostServer, host) });
    }
    for (const { url } of places) {
      network.ownPorts.add(portOf(new URL(url)));
      ownHosts.push(new URL(url).host);
    }
    return places;
  }

  async function close(): Promise<void> {
    draining = true;
    const all = [...Object.values(faces), ...(admin ? [admin] : [])];
    const bare = [hostServer, metricsServer].filter((server) => server !== undefined);
    const servers = [...all.map((made) => made.server), ...bare];
    // A connection that was busy when the closing began is kept alive by its client: it must be cut when it rests.
    const cutting = setInterval(() => {
      for (const server of servers) server.closeIdleConnections();
    }, IDLE_CUT_MS);
    const closing = Promise.all([
      ...all.map((made) => made.close()),
      flow.close(config.drainMs),
      ...bare.map((server) => new Promise((done) => (server.listening ? server.close(done) : done(undefined)))),
    ]);
    await within(config.drainMs, closing).catch((error: unknown) => {
      if (!(error instanceof DeadlineExceededError)) throw error;
    });
    clearInterval(cutting);
    for (const server of servers) server.closeAllConnections();
  }

  return { faces, listen, close };
}

/** Undefined without a secret. */
async function openAdmin(
  { adminSecret: secret, trustedProxies }: Config,
  { accounts, plans, counters, metrics, temporaryDir, version, log }: FaceModules,
): Promise<Face | undefined> {
  if (secret === undefined) return undefined;
  const admin = await createServer({
    name: 'admin',
    log,
    temporaryDir,
    maxBodyBytes: MAX_ADMIN_BODY_BYTES,
    trustedProxies,
    writeError: writeAdminError,
    malformedBody: errorBody,
  });
  adminRoutes(admin, { ...accounts, plans, secret, counters, version });
  metricsRoute(admin, metrics, signIn(secret, counters));
  await admin.ready();
  return admin;
}

const listening = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

const urlOf = (server: Server, host: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${openPort(server)}`;

/** 0 before it listens. */
function openPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
