/** A process that runs Chromium for servers on other machines, which connect to it over the DevTools protocol. */
import { type Config, ConfigError } from '#config.ts';
import type { Guard } from '#net/guard/guard.ts';
import { refusal } from '#net/guard/guard.ts';
import { createEgressProxy } from '#net/proxy/egress-proxy.ts';
import { createBrowserGateway, createPool } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { createMetrics, METRICS_TYPE } from '#telemetry/metrics.ts';
import { chosenBrowser } from './browser.ts';
import { CloseStack } from './close-stack.ts';
import { formatUrl, openPort } from './listen.ts';
import { registerBrowserMetrics } from './metrics.ts';

export interface BrowserWorker {
  readonly url: string;
  /** Whether pages run inside the browser's own sandbox. */
  readonly sandboxed: boolean | undefined;
  /** Opens no more pages, waits at most the drain time for the open ones, and closes everything. */
  close(): Promise<void>;
}

/** Connections beyond this are refused. Each server has one. */
const MAX_SERVERS = 64;
/** Age at which a browser is replaced. */
const MAX_AGE_MS = 30 * 60_000;

/** Pages use the egress proxy of their server. Without one, they reach nothing. */
const REFUSE_ALL: Guard = {
  allowed: () => false,
  checkUrl() {
    throw refusal();
  },
  blocks: () => false,
  resolve: () => Promise.reject(refusal()),
};

export async function createBrowserWorker(config: Config, version: string, log: Log): Promise<BrowserWorker> {
  const { browserToken: token, browserWorkerHost: host, browserWorkerProxies: proxyHosts } = config;
  if (token === undefined) throw new ConfigError('LECTERN_BROWSER_TOKEN: must be set for `lectern browser-worker`');
  const found = chosenBrowser(config);
  if (!found) throw new ConfigError('LECTERN_BROWSER: no browser was found; run `lectern browser install`');
  const resources = new CloseStack();
  try {
    const egress = resources.use(await createEgressProxy({ guard: REFUSE_ALL }));
    const pool = createPool({
      found,
      openEgress: async () => egress,
      dataDir: config.dataDir,
      maxPages: MAX_SERVERS,
      maxWaiting: 0,
      recycle: { pages: Number.POSITIVE_INFINITY, ageMs: MAX_AGE_MS },
      rendererBytes: config.pageMemoryMb * 1024 * 1024,
      forServers: { proxyHosts: proxyHosts.length ? proxyHosts : undefined },
      log: (message, facts) => log.info(facts ?? {}, message),
    });
    const metrics = createMetrics();
    await metrics.watchProcess();
    const gateway = createBrowserGateway({
      pool,
      token,
      maxAgeMs: MAX_AGE_MS,
      metrics: async () => ({ type: METRICS_TYPE, text: await metrics.text() }),
    });
    resources.defer(() => gateway.close(config.drainMs));
    metrics.read('lectern_build_info', () => [[[version, process.versions.node], 1]]);
    metrics.read('lectern_browser_servers', () => [[[], gateway.status().connections]]);
    registerBrowserMetrics(metrics, () => {
      const { contexts: pages, opened } = gateway.status();
      return { ...pool.status(), pages, opened };
    });
    const { sandboxed } = await pool.warm();
    const { server } = gateway;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(config.browserWorkerPort, host, resolve);
    });
    return { url: formatUrl(host, openPort(server)), sandboxed, close: () => resources.closeAll(log) };
  } catch (error) {
    await resources.closeAll(log);
    throw error;
  }
}
