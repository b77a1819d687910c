/** Creates the servers of the APIs, each with its routes. The servers do not listen yet. */
import type { AccountsModule } from '#accounts/index.ts';
import type { AccessHooks } from '#api/access-hooks.ts';
import { adminRoutes, writeAdminError } from '#api/admin/admin.ts';
import { createSecretHook } from '#api/admin/secret-hook.ts';
import { CRAWL_PATHS, crawlRoutes } from '#api/crawl/crawl.ts';
import { bareModelError } from '#api/envelopes/model.ts';
import { errorBody, writeReaderError } from '#api/envelopes/reader.ts';
import { HEALTH_PATHS, type Health, healthRoutes } from '#api/health.ts';
import type { EuFaceName, FaceName } from '#api/hosts.ts';
import { metricsRoute, requestCounter } from '#api/metrics.ts';
import { DOCUMENTATION_PATHS, documentationRoutes } from '#api/pages/documentation.ts';
import { type FrontPage, serveFrontPage } from '#api/pages/front-page.ts';
import { PLAYGROUND_PATHS, playgroundRoutes } from '#api/pages/playground.ts';
import { STATIC_PATHS, staticRoutes } from '#api/pages/static.ts';
import type { IndexPage } from '#api/reader/index-answer.ts';
import { DESCRIPTION_PATHS, descriptionRoutes } from '#api/reader/openapi.ts';
import { READER_PATHS, readerRoutes } from '#api/reader/reader.ts';
import { searchDescriptionRoutes } from '#api/search/openapi.ts';
import { SEARCH_PATHS, searchRoutes } from '#api/search/search.ts';
import { combineObservers, type Tracing } from '#api/trace.ts';
import type { BatchModule } from '#batch/index.ts';
import type { ClassifyModule } from '#classify/index.ts';
import { plainError } from '#compat/errors.ts';
import type { Config } from '#config.ts';
import type { CrawlModule } from '#crawl/index.ts';
import { createLazyFace, type LazyFace } from '#http/lazy-face.ts';
import { createServer, type Face, type ServerOptions } from '#http/server.ts';
import type { Completions, ModelHost, Models } from '#models/index.ts';
import type { Plans } from '#plans.ts';
import type { Reader } from '#reader/index.ts';
import type { Search } from '#search/index.ts';
import type { Counters } from '#storage/counters/counters.ts';
import type { Pictures } from '#storage/pictures.ts';
import type { SharedState } from '#storage/shared/open.ts';
import type { HostTimes } from '#telemetry/host-times.ts';
import type { Log } from '#telemetry/log.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { type EuModules, refuseAtEuHost } from './eu.ts';
import type { FlowFace } from './flow.ts';
import { formatUrl } from './listen.ts';
import { MCP_PATHS, type McpEndpoint } from './mcp.ts';
import type { Network } from './network.ts';

/** The APIs served by Fastify. The flow gateway has its own server. */
export type ServerFace = Exclude<FaceName, 'flow'>;

/** The servers of the APIs. Those that only programs call are opened by their first request. */
export interface ServerFaces extends Readonly<Record<ServerFace, Face | LazyFace>> {
  readonly reader: Face;
  readonly search: Face;
}

/** The modules that the APIs serve. */
export interface FaceModules {
  readonly accounts: AccountsModule;
  readonly plans: Plans;
  readonly counters: Counters;
  readonly state: SharedState;
  readonly accessHooks: AccessHooks;
  readonly network: Network;
  readonly reader: Reader;
  readonly crawl: CrawlModule;
  readonly search: Search;
  /** Opens the reader and the search that use only services inside the EU. */
  readonly openEu: () => Promise<EuModules>;
  /** Generative models on remote servers. */
  readonly models: Models;
  readonly modelHost: ModelHost;
  readonly completions: Completions;
  readonly batch: BatchModule;
  readonly classify: ClassifyModule;
  readonly flow: FlowFace;
  readonly pictures: Pictures;
  readonly metrics: Metrics;
  readonly hostTimes: HostTimes;
  /** The full health state, except whether the server is draining. */
  readonly health: Omit<Health, 'ready'>;
  readonly temporaryDir: string;
  readonly version: string;
  readonly log: Log;
}

export interface FaceContext {
  readonly config: Config;
  readonly modules: FaceModules;
  readonly mcp: McpEndpoint;
  readonly tracing: Tracing;
  readonly health: Health;
  /** All host names by which callers are known to reach this server. The list is complete once the server listens. */
  readonly ownHosts: readonly string[];
  /** The port of an API; 0 until it listens. */
  readonly portOf: (face: ServerFace) => number;
  /** The port of the flow gateway; 0 until it listens. */
  readonly flowPort: () => number;
  /** The reader's ports: its own, and the port shared by all APIs. */
  readonly readerPorts: () => readonly number[];
}

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
const READER_ERRORS = { writeError: writeReaderError, malformedBody: errorBody };

type FaceServerOptions = Pick<ServerOptions, 'writeError' | 'malformedBody' | 'paths'> & Partial<ServerOptions>;

const serverOptions = (name: ServerFace, { config, modules }: FaceContext) => ({
  name,
  log: modules.log,
  temporaryDir: modules.temporaryDir,
  maxBodyBytes: config.maxBodyBytes,
  trustedProxies: config.trustedProxies,
});

export async function createFace(
  name: ServerFace,
  context: FaceContext,
  options: FaceServerOptions,
  addRoutes: (face: Face) => void | Promise<void>,
): Promise<Face> {
  const { modules, tracing } = context;
  const face = await createServer({
    ...serverOptions(name, context),
    observe: combineObservers(requestCounter(modules.metrics, name), tracing.observer),
    ...options,
  });
  face.addHook('onSend', modules.accessHooks.beforeResponse);
  staticRoutes(face);
  await addRoutes(face);
  await face.ready();
  return face;
}

/** Options shared by the reader and search endpoints. */
export function commonOptions({ config, modules }: FaceContext) {
  const { accessHooks, network, pictures } = modules;
  const publicUrl = config.publicUrl ?? `http://${config.host}:${config.readerPort}`;
  const index: IndexPage = {
    usage1: `${publicUrl}/YOUR_URL`,
    usage2: `http://${config.host}:${config.searchPort}/YOUR_SEARCH_QUERY`,
    homepage: `${publicUrl}/docs`,
  };
  return {
    accessHooks,
    refusesCrossSite: config.allowNetworks.length > 0,
    ownNames: network.ownNames,
    publicUrl: config.publicUrl,
    userAgent: config.userAgent,
    describesImages: modules.models.vision !== undefined,
    pictures,
    index,
  };
}

const FRONT_PAGES = {
  reader: { title: 'Lectern reader', example: (origin: string) => `curl ${origin}/https://example.com` },
  search: {
    title: 'Lectern search',
    example: (origin: string) => `curl '${origin}/your%20question' -H 'Authorization: Bearer YOUR_KEY'`,
  },
  model: { title: 'Lectern models', example: (origin: string) => `curl ${origin}/v1/models` },
} as const;

export const frontPageOf = ({ config, health, portOf }: FaceContext, name: keyof typeof FRONT_PAGES): FrontPage => ({
  ...FRONT_PAGES[name],
  health,
  publicUrl: config.publicUrl,
  readerPort: () => portOf('reader'),
});

export function createReaderFace(context: FaceContext): Promise<Face> {
  const { config, modules, mcp, tracing, health, portOf, flowPort } = context;
  const { version, network, reader, crawl } = modules;
  const common = commonOptions(context);
  return createFace('reader', context, { ...READER_ERRORS, paths: READER_HOST_PATHS }, (face) => {
    serveFrontPage(face, frontPageOf(context, 'reader'));
    healthRoutes(face, health);
    descriptionRoutes(face, version);
    mcp.routes(face);
    documentationRoutes(face);
    playgroundRoutes(face, {
      version,
      publicUrl: config.publicUrl,
      ports: () => ({
        ...{ reader: portOf('reader'), search: portOf('search'), model: portOf('model') },
        ...{ compat: portOf('compat'), flow: flowPort() },
      }),
      searchNeedsKey: config.auth === 'on' && config.searchKeyless === 'refused',
      modelsNeedKey: config.auth === 'on',
    });
    crawlRoutes(face, { ...common, crawls: crawl, guard: network.guard });
    readerRoutes(face, { ...common, reader, tracing });
  });
}

/** Creates the APIs that use only services inside the EU. They can read and search; everything else is refused. */
export async function createEuFaces(context: FaceContext, eu: EuModules): Promise<Record<EuFaceName, Face>> {
  const { health } = context;
  const modules = { ...context.modules, reader: eu.reader, search: eu.search, models: eu.models };
  const inside = { ...context, modules };
  const paths = new Set([...READER_PATHS, ...HEALTH_PATHS, ...STATIC_PATHS, ...DESCRIPTION_PATHS]);
  const reader = await createFace('reader', inside, { ...READER_ERRORS, paths }, (face) => {
    face.addHook('onRequest', async ({ originalUrl }) => refuseAtEuHost(originalUrl, eu));
    healthRoutes(face, health);
    descriptionRoutes(face, modules.version);
    readerRoutes(face, { ...commonOptions(inside), reader: modules.reader, tracing: context.tracing });
  });
  const guarded = (face: Face) => face.addHook('onRequest', async () => refuseAtEuHost('/', eu));
  return { reader, search: await createSearchFace(inside, guarded) };
}

/** `prepare` runs before the routes are added. */
export function createSearchFace(context: FaceContext, prepare: (face: Face) => void = () => {}): Promise<Face> {
  const { config, modules, tracing, health, ownHosts, portOf, readerPorts } = context;
  return createFace('search', context, { ...READER_ERRORS, paths: SEARCH_HOST_PATHS }, (face) => {
    prepare(face);
    serveFrontPage(face, frontPageOf(context, 'search'));
    healthRoutes(face, health);
    searchDescriptionRoutes(face, modules.version);
    searchRoutes(face, {
      ...commonOptions(context),
      search: modules.search,
      tracing,
      keyless: config.auth === 'off' ? 'limited' : config.searchKeyless,
      // The playground sends requests to this host from the reader's origin.
      ownPages: { publicOrigin: config.publicUrl && new URL(config.publicUrl).origin, ports: readerPorts },
      readerUrl: () => config.publicUrl?.replace(/\/$/, '') ?? formatUrl(config.host, portOf('reader')),
      ownHosts: () => ownHosts,
    });
  });
}

export const modelServerOptions = (config: Config) => ({
  malformedBody: bareModelError,
  servesPrograms: true,
  takesAnyJson: true,
  maxBodyBytes: config.modelMaxBodyBytes,
});

export function createModelFace(context: FaceContext): Promise<LazyFace> {
  return createLazyFace({
    server: { ...serverOptions('model', context), ...modelServerOptions(context.config) },
    open: async () => (await import('./program-faces.ts')).openModelFace(context),
  });
}

export const COMPAT_SERVER_OPTIONS = { malformedBody: plainError, servesPrograms: true, takesAnyJson: true };

/** The API for clients of other products. */
export function createCompatFace(context: FaceContext): Promise<LazyFace> {
  return createLazyFace({
    server: { ...serverOptions('compat', context), ...COMPAT_SERVER_OPTIONS },
    takesUpgrades: true,
    open: async () => (await import('./program-faces.ts')).openCompatFace(context),
  });
}

/** The server of the admin API; `undefined` without an admin secret. */
export async function createAdminServer(
  { adminSecret: secret, trustedProxies }: Config,
  { accounts, plans, counters, metrics, hostTimes, temporaryDir, log }: FaceModules,
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
  adminRoutes(admin, { ...accounts, plans, hostTimes, secret, counters });
  metricsRoute(admin, metrics, createSecretHook(secret, counters));
  await admin.ready();
  return admin;
}
