/**
 * The whole server, wired by hand: each room is built once, in order, and closed in reverse. Everybody's needs are in
 * plain sight here, and nothing is built anywhere else.
 */
import { mkdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import path from 'node:path';
import { type AccountsRoom, createGate, openAccounts } from '#accounts/index.ts';
import { adminRoutes, writeAdminError } from '#api/admin.ts';
import { signIn } from '#api/admin-sign-in.ts';
import { CRAWL_PATHS, crawlRoutes } from '#api/crawl.ts';
import { DOCUMENTATION_PATHS, documentationRoutes } from '#api/documentation.ts';
import { bareModelError, writeModelError } from '#api/envelopes/model.ts';
import { errorBody, writeReaderError } from '#api/envelopes/reader.ts';
import { createGatekeeper } from '#api/gatekeeper.ts';
import type { BrowserHealth } from '#api/health.ts';
import { HEALTH_PATHS, healthRoutes } from '#api/health.ts';
import { createHostServer, type FaceName } from '#api/hosts.ts';
import { createMetricsServer, metricsRoute, requestCounter } from '#api/metrics.ts';
import { modelHostRoutes } from '#api/model-host.ts';
import { modelProbes } from '#api/models-probes.ts';
import { DESCRIPTION_PATHS, descriptionRoutes } from '#api/openapi.ts';
import { PLAYGROUND_PATHS, playgroundRoutes } from '#api/playground.ts';
import { READER_PATHS, readerRoutes } from '#api/reader.ts';
import { SEARCH_PATHS, searchRoutes } from '#api/search.ts';
import { searchDescriptionRoutes } from '#api/search-openapi.ts';
import { STATIC_PATHS, staticRoutes } from '#api/static.ts';
import { allOf, createTracing } from '#api/trace.ts';
import { createBatch } from '#app/batch.ts';
import { createCollections } from '#app/collections.ts';
import { createCrawl } from '#app/crawl.ts';
import { type FlowFace, openFlowFace } from '#app/flow.ts';
import { createMcpDoor, MCP_PATHS } from '#app/mcp.ts';
import { observers, readRooms } from '#app/metrics.ts';
import { indexEmbedder, passageReranker } from '#app/model-tools.ts';
import { TimeUp, within } from '#concurrency/deadline.ts';
import { openServerFolder } from '#concurrency/programs.ts';
import { type Config, ConfigError } from '#config.ts';
import { createDocuments } from '#documents/documents.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { createServer, type Face, MAX_HEADER_BYTES, type ServerOptions } from '#http/server.ts';
import { createCompletions, createModels, createOcr, modelNames, modelsDir, openModelHost } from '#models/index.ts';
import type { Lookup } from '#net/dns.ts';
import { createEgress } from '#net/egress.ts';
import { createFetch } from '#net/fetch.ts';
import { createGuard, portOf } from '#net/guard.ts';
import { createOwnPlaces } from '#net/own-places.ts';
import { createProxyTable } from '#net/proxies.ts';
import { createRegion } from '#net/region.ts';
import { createRobots } from '#net/robots.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { plansWith } from '#plans.ts';
import {
  countTokens,
  createAbuse,
  createBrowserEngine,
  createCaptioner,
  createDirectEngine,
  createPictureFitter,
  createPool,
  createReader,
  createRefusalLog,
  createRemoteEngine,
  createRenderer,
  createScriptFetcher,
  defaultUserAgent,
  describeImage,
  findBrowser,
  keepTokens,
  loadTokens,
  openCache,
  openSites,
  PICTURE_INSTRUCTION,
  type PoolStatus,
  type Reader,
} from '#reader/index.ts';
import { openIndexOf, openSearch, rememberingReader } from '#search/index.ts';
import { openCounters } from '#storage/counters/open.ts';
import { DatabaseAway } from '#storage/database/away.ts';
import { openPictures } from '#storage/pictures.ts';
import type { Log } from '#telemetry/log.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { openSpanExport } from '#telemetry/otlp.ts';

/** Faces that are servers of the framework; the flow gateway has its own. */
type ServerFace = Exclude<FaceName, 'flow'>;

/** Where a face can be reached. */
export interface Place {
  readonly name: FaceName | 'grpc' | 'all' | 'admin' | 'metrics';
  readonly url: string;
}

export interface App {
  readonly reader: Reader;
  readonly accounts: AccountsRoom;
  readonly faces: Readonly<Record<ServerFace, Face>>;
  readonly flow: FlowFace;
  /** The first key of a new installation, to be shown this once. */
  readonly firstKey: string | undefined;
  readonly browser: () => BrowserHealth;
  /** Opens the ports of the configuration; a port that is taken is an error that names it. */
  listen(): Promise<Place[]>;
  /** Stops taking requests, lets those in flight finish within the drain time, and ends everything that was started. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Log;
  /** What the file of a flow may refer to. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Who tells the addresses of names that callers chose; the name servers of the machine unless given. */
  readonly lookup?: Lookup | undefined;
}

const IDLE_CUT_MS = 50;
const MAX_ADMIN_BODY_BYTES = 1_000_000;

/** Builds everything; what was started before a part failed to is ended again. */
export async function createApp(options: AppOptions): Promise<App> {
  const started: (() => unknown)[] = [];
  try {
    return await build(options, started);
  } catch (error) {
    await endAll(started, options.log);
    throw error;
  }
}

/** Ends what was started, last first. */
async function endAll(started: readonly (() => unknown)[], log: Log): Promise<void> {
  for (const end of started.toReversed()) {
    await (async () => end())().catch((error: unknown) => log.warn({ err: error }, 'a part did not close cleanly'));
  }
}

async function build(
  { config, version, log, environment, lookup }: AppOptions,
  started: (() => unknown)[],
): Promise<App> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  // Left by a server that was killed: nothing in it outlives a start.
  const temporaryDir = await openServerFolder(path.join(config.dataDir, 'tmp'));
  started.push(() => rm(temporaryDir, { recursive: true, force: true }));

  const metrics = createMetrics();
  const observe = observers(metrics);
  const plans = plansWith(config.plans);
  const room = await openAccounts({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    keyGraceMs: config.keyGraceS * 1000,
    usageKeepDays: config.usageKeepDays,
    log,
  });
  started.push(() => room.close());
  const firstKey = config.auth === 'on' ? await firstKeyOf(room, log) : undefined;
  const { limitStore: store, redisUrl, databaseUrl } = config;
  const file = path.join(config.dataDir, 'limits.db');
  const counters = await openCounters({ store, redisUrl, databaseUrl, file }, { log });
  started.push(() => counters.close());
  const gatekeeper = createGatekeeper(
    createGate({
      ...room,
      counters,
      plans,
      auth: config.auth,
      keylessRpm: config.keylessRpm === 'none' ? undefined : config.keylessRpm,
      keylessFeatures: config.keylessFeatures,
      refusedRpm: config.refusedRpm,
    }),
    { onSpent: observe.onSpent },
  );
  const pictures = await openPictures(config.dataDir);
  started.push(() => pictures.close());

  const ownHost = config.publicUrl && new URL(config.publicUrl).hostname;
  const isOwnHost = (name: string) => name === ownHost;
  const ownPlaces = createOwnPlaces();
  const guard = createGuard({ allow: config.allowNetworks, isOwnHost, ownPlaces, ...(lookup && { lookup }) });
  const regionRules = { region: config.region, euHosts: config.euHosts, log };
  const region = createRegion(regionRules);
  const fetch = createFetch({ guard, region });
  started.push(() => fetch.close());
  const trusted = createTrustedFetch(regionRules);
  started.push(() => trusted.close());
  const { otlpUrl } = config;
  if (otlpUrl !== undefined && !region.allows(new URL(otlpUrl))) throw new ConfigError('otlpUrl: is not in euHosts');
  const spanExport =
    otlpUrl === undefined
      ? undefined
      : await openSpanExport({
          url: otlpUrl,
          headers: config.otlpHeaders,
          sampleRatio: config.otlpSampleRatio,
          service: config.otlpService,
          version,
          log,
        });
  if (spanExport) started.push(() => spanExport.close());
  const tracing = createTracing({ gatekeeper, spanExport });
  const proxies = createProxyTable(config.proxies, { region });
  const refusals = createRefusalLog();
  const egress = await createEgress({ guard, region, onRefused: refusals.note });
  started.push(() => egress.close());
  ownPlaces.add(egress.port);

  const renderer = createRenderer({
    threads: config.workers,
    memoryMb: config.workerMemoryMb,
    timeoutMs: config.renderTimeoutMs,
  });
  started.push(() => renderer.close());
  const direct = createDirectEngine({
    fetch,
    version,
    maxFileBytes: config.maxFileBytes,
    decodeAside: renderer.decode,
  });
  started.push(() => direct.close());

  const abuse = createAbuse({ refusalMs: config.hostRefusalS * 1000 });
  const found = config.browser === 'none' ? null : findBrowser({ configured: config.browser, dataDir: config.dataDir });
  const pool =
    found &&
    createPool({
      found,
      egress,
      dataDir: config.dataDir,
      maxPages: config.browserPages,
      maxWaiting: config.browserQueue,
      log: (message, facts) => log.info(facts ?? {}, message),
    });
  const browser =
    pool &&
    createBrowserEngine({
      pool,
      guard,
      refusals,
      version,
      fetchScript: createScriptFetcher(fetch),
      hasContent: renderer.hasContent,
      direct,
      fetch,
      isOwnHost,
      onAbuse: abuse.add,
      limits: {
        maxRequests: config.pageMaxRequests,
        maxDocuments: config.pageMaxDocuments,
        maxDomains: config.pageMaxDomains,
        maxParallel: config.pageMaxParallel,
      },
    });
  if (browser) started.push(() => browser.close());
  const libreoffice = createLibreOffice({ program: config.libreoffice, temporaryDir });
  const documents = createDocuments({
    processes: config.documentWorkers,
    memoryMb: config.documentMemoryMb,
    timeoutMs: config.documentTimeoutMs,
    libreoffice,
  });
  started.push(() => documents.close());
  const ocr = createOcr({
    tesseract: config.tesseract,
    modelDir: config.ocrModelDir,
    languages: config.ocrLanguages.length ? config.ocrLanguages : ['eng'],
    temporaryDir,
    timeoutMs: config.documentTimeoutMs,
  });
  if (ocr) started.push(() => ocr.close());
  const models = createModels(config, { fetch: trusted });
  const { vision } = models;
  const modelHost = await openModelHost(config, {
    media: { fetch, documents, ocr, temporaryDir },
    dir: modelsDir(config.dataDir),
    fetch: trusted,
    tokens: { load: loadTokens, count: countTokens, keep: keepTokens },
    log,
    onBatch: observe.onBatch,
  });
  started.push(() => modelHost.close());
  const completions = createCompletions({
    ocr,
    models,
    names: modelNames(config),
    ocrPrompt: config.ocrPrompt,
    documents,
    fetch,
    temporaryDir,
    tokens: { load: loadTokens, count: countTokens, keep: keepTokens },
    deadlineMs: config.modelDeadlineMs,
    generatingMs: config.modelTimeoutMs,
  });
  const batch = await createBatch(config, { accounts: room, modelHost, fetch, log });
  started.push(() => batch.close());
  const cache = await openCache({
    dir: path.join(config.dataDir, 'cache'),
    maxBytes: config.cacheMaxBytes,
    freshMs: config.cacheFreshS * 1000,
    keepMs: config.cacheKeepS * 1000,
    keepsNoStore: config.cacheNoStore === 'ignore',
    log,
    onRead: observe.onCacheRead,
  });
  started.push(() => cache.close());
  const sites = await openSites({ file: path.join(config.dataDir, 'sites.db'), log });
  started.push(() => sites.close());
  const remote =
    config.cfAccount && config.cfToken
      ? createRemoteEngine({
          url: config.cfUrl,
          account: config.cfAccount,
          token: config.cfToken,
          fetch: trusted,
          guard,
          version,
        })
      : undefined;
  const fitPicture = createPictureFitter(documents, temporaryDir);
  const embedder = await indexEmbedder(modelHost, config.searchEmbedder);
  const rerank = await passageReranker(modelHost, config.searchReranker);
  const pageIndex = config.indexMaxBytes > 0 ? await openIndexOf(config, { embedder, log }) : undefined;
  if (pageIndex) started.push(() => pageIndex.close());
  const robots = createRobots({ fetch, userAgent: config.userAgent ?? defaultUserAgent() });
  const bareReader = createReader({
    direct,
    browser: browser ?? undefined,
    remote,
    renderer,
    abuse,
    sites,
    pickProxy: proxies.pick,
    cache,
    robots,
    files: {
      documents,
      ocr,
      ocrMaxPages: config.ocrMaxPages,
      describe:
        vision &&
        ((picture, { instruction }, signal) =>
          describeImage(picture, { vision, instruction: instruction ?? PICTURE_INSTRUCTION, signal })),
    },
    writers: { models, ocr, ocrMaxPages: config.ocrMaxPages, renderer, chargeFactor: config.chargeModelFactor },
    captioner: vision && createCaptioner({ vision, fetch, fitPicture }),
    limits: {
      maxDepth: config.maxDepth,
      maxElements: config.maxElements,
      maxElementsKeyless: config.maxElementsKeyless,
      proxyFactor: config.chargeProxyFactor,
      readerlmTokens: config.readerlmTokens,
      visionTokens: config.visionTokens,
    },
    temporaryDir,
  });

  const reader = pageIndex
    ? rememberingReader(bareReader, { index: pageIndex, keepsNoStore: config.cacheNoStore === 'ignore', log })
    : bareReader;
  const crawl = await createCrawl(config, { accounts: room, reader, robots, fetch, log });
  started.push(() => crawl.close());
  const search = await openSearch(config, {
    reader,
    trusted,
    fetch,
    fitPicture,
    index: pageIndex,
    embedder,
    rerank,
    version,
    log,
    onAsked: observe.onAsked,
  });
  started.push(() => search.close());

  const ownNames = [config.host, ...(ownHost ? [ownHost] : [])];
  const collections = createCollections({
    dir: path.join(config.dataDir, 'collections'),
    maxBytes: config.flowIndexMaxBytes,
    embedder,
    log,
  });
  started.push(() => collections.close());
  const { userAgent } = config;
  const flow = await openFlowFace(config, {
    reader,
    modelHost,
    ocr,
    collections,
    userAgent,
    ownNames,
    version,
    observe: observe.flow,
    log,
    environment,
  });
  started.push(() => flow.close(0));

  let draining = false;
  const browserHealth = (): BrowserHealth =>
    pool ? { available: true, ...shownStatus(pool.status()) } : { available: false };
  const stores = () => ({
    accounts: room.healthy ? ('ok' as const) : ('away' as const),
    limits: counters.healthy ? ('ok' as const) : ('away' as const),
    batches: batch.healthy ? ('ok' as const) : ('away' as const),
  });
  readRooms(metrics, {
    version,
    accounts: room,
    counters,
    ...(pool && { pool }),
    renderer,
    documents,
    models: modelHost.models,
    batch,
  });
  const health = { ready: () => !draining, version, browser: browserHealth, stores };

  const face = async (
    name: ServerFace,
    options: Pick<ServerOptions, 'writeError' | 'malformedBody' | 'paths'> & Partial<ServerOptions>,
    routes: (face: Face) => void,
  ) => {
    const { maxBodyBytes, trustedProxies } = config;
    const made = await createServer({
      name,
      log,
      temporaryDir,
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
  const readerPaths = new Set([
    ...READER_PATHS,
    ...CRAWL_PATHS,
    ...HEALTH_PATHS,
    ...STATIC_PATHS,
    ...DESCRIPTION_PATHS,
    ...PLAYGROUND_PATHS,
    ...MCP_PATHS,
    ...DOCUMENTATION_PATHS,
  ]);
  const searchPaths = new Set([...SEARCH_PATHS, ...HEALTH_PATHS, ...STATIC_PATHS, ...DESCRIPTION_PATHS]);
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
  const openPorts = () => ({
    reader: openPort(faces.reader.server),
    search: openPort(faces.search.server),
    model: openPort(faces.model.server),
  });
  const mcp = createMcpDoor({ gatekeeper, version, ownNames, log, faces: () => ({ ...faces, flow }) });
  started.push(() => mcp.close());
  const faces: Record<ServerFace, Face> = {
    reader: await face('reader', { ...readerErrors, paths: readerPaths }, (made) => {
      healthRoutes(made, health);
      descriptionRoutes(made, version);
      mcp.routes(made);
      documentationRoutes(made);
      playgroundRoutes(made, {
        version,
        publicUrl: config.publicUrl,
        ports: openPorts,
        searchNeedsKey: config.auth === 'on' && config.searchKeyless === 'refused',
        modelsNeedKey: config.auth === 'on',
      });
      crawlRoutes(made, {
        room: crawl,
        gatekeeper,
        guard,
        guardsNetworks: config.allowNetworks.length > 0,
        ownNames,
        publicUrl: config.publicUrl,
        userAgent: config.userAgent,
      });
      readerRoutes(made, {
        reader,
        gatekeeper,
        tracing,
        guardsNetworks: config.allowNetworks.length > 0,
        ownNames,
        pictures,
        index,
        publicUrl: config.publicUrl,
        userAgent: config.userAgent,
      });
    }),
    search: await face('search', { ...readerErrors, paths: searchPaths }, (made) => {
      healthRoutes(made, health);
      searchDescriptionRoutes(made, version);
      searchRoutes(made, {
        search,
        gatekeeper,
        tracing,
        keyless: config.auth === 'off' ? 'limited' : config.searchKeyless,
        guardsNetworks: config.allowNetworks.length > 0,
        ownNames,
        ownPages,
        pictures,
        index,
        readerUrl: () => config.publicUrl?.replace(/\/$/, '') ?? urlOf(faces.reader.server, config.host),
        ownHosts: () => ownHosts,
        userAgent: config.userAgent,
      });
    }),
    model: await face('model', modelErrors, (made) => {
      modelProbes(made, { models: modelHost.models, draining: () => draining });
      modelHostRoutes(made, {
        ...modelHost,
        completions,
        gatekeeper,
        tracing,
        prices: config.modelPrices,
        version,
        batch: { room: batch, guard },
      });
    }),
  };
  const { adminSecret } = config;
  const admin =
    adminSecret === undefined
      ? undefined
      : await createServer({
          name: 'admin',
          log,
          temporaryDir,
          maxBodyBytes: MAX_ADMIN_BODY_BYTES,
          trustedProxies: config.trustedProxies,
          writeError: writeAdminError,
          malformedBody: errorBody,
        });
  if (admin && adminSecret !== undefined) {
    adminRoutes(admin, { ...room, plans, secret: adminSecret, counters, version });
    metricsRoute(admin, metrics, signIn(adminSecret, counters));
    await admin.ready();
  }
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
      ownPlaces.add(portOf(new URL(url)));
      ownHosts.push(new URL(url).host);
    }
    return places;
  }

  async function close(): Promise<void> {
    if (draining) return;
    draining = true;
    const all = [...Object.values(faces), ...(admin ? [admin] : [])];
    const servers = [
      ...all.map((made) => made.server),
      ...[hostServer, metricsServer].filter((server) => server !== undefined),
    ];
    // A connection that was busy when the closing began is kept alive by its client: it must be cut when it rests.
    const cutting = setInterval(() => {
      for (const server of servers) server.closeIdleConnections();
    }, IDLE_CUT_MS);
    const closing = Promise.all([
      ...all.map((made) => made.close()),
      flow.close(config.drainMs),
      ...[hostServer, metricsServer].map(
        (server) => server && new Promise((done) => (server.listening ? server.close(done) : done(undefined))),
      ),
    ]);
    await within(config.drainMs, closing).catch((error: unknown) => {
      if (!(error instanceof TimeUp)) throw error;
    });
    clearInterval(cutting);
    for (const server of servers) server.closeAllConnections();
    await endAll(started, log);
  }

  return { reader, accounts: room, faces, flow, firstKey, browser: browserHealth, listen, close };
}

/** The key of a new installation. A database that is away is asked by whoever needs it. */
async function firstKeyOf({ accounts }: AccountsRoom, log: Log): Promise<string | undefined> {
  try {
    if (!(await accounts.empty())) return undefined;
    const { id } = await accounts.defaultAccount();
    return (await accounts.mintKey({ accountId: id, name: 'first key' })).key;
  } catch (error) {
    if (!(error instanceof DatabaseAway)) throw error;
    log.warn({ err: error }, 'the database is away: keys are verified when it is back');
    return undefined;
  }
}

/** What a probe may show: where the browser lies and its process are nobody's business. */
const shownStatus = ({ version, sandboxed, pages, waiting, healthy }: PoolStatus) => ({
  version,
  sandboxed,
  pages,
  waiting,
  healthy,
});

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
