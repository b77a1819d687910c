/** Starts the server that the doctor tests: all modules with the operator's settings, in a temporary data folder. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type InProcess, openInProcess } from '#app/in-process.ts';
import { createApp } from '#app.ts';
import type { Config } from '#config.ts';
import type { Lookup } from '#net/connect/dns.ts';
import { createLog } from '#telemetry/log.ts';
import { type Listener, openListener, openPages, type Pages } from './listeners.ts';

export interface TestServer {
  readonly key: string;
  readonly fetch: InProcess['fetch'];
  readonly urls: InProcess['urls'];
  readonly pages: Pages;
  /** Listeners that must never receive a connection. */
  readonly listeners: readonly Listener[];
  /** The port of the first listener. */
  readonly listenerPort: number;
  /** Whether a second local address was available for the name `changing`. */
  readonly canRebind: boolean;
  /** Host names that resolve to this machine, as in known attacks. */
  readonly names: typeof NAMES;
  browser(): ReturnType<Awaited<ReturnType<typeof createApp>>['browser']>;
  close(): Promise<void>;
}

/** The test server's rate limit without a key, in requests per minute. */
export const KEYLESS_RPM = 3;

const NAMES = {
  /** Resolves to this machine. */
  private: 'private.doctor.test',
  /** Resolves to a public address and to this machine. */
  mixed: 'mixed.doctor.test',
  /** Resolves to an allowed local address first, then to a forbidden one (DNS rebinding). */
  changing: 'changing.doctor.test',
} as const;

/** A public IP address. Nothing is sent to it, because the other address of the name is forbidden. */
const PUBLIC = { address: '9.9.9.9', family: 4 };
const HERE = { address: '127.0.0.1', family: 4 };

const notFound = () => Object.assign(new Error('unknown host name'), { code: 'ENOTFOUND' });

export async function startTestServer(
  config: Config,
  version: string,
  closers: (() => Promise<unknown>)[],
): Promise<TestServer> {
  const secret = await openListener('127.0.0.1');
  const listeners = [secret];
  closers.push(() => Promise.all(listeners.map((listener) => listener.close())));
  const ipv6Listener = await openListener('::1', secret.port).catch(() => undefined);
  if (ipv6Listener) listeners.push(ipv6Listener);
  const forbiddenUrls = [
    `http://127.0.0.1:${secret.port}/`,
    `http://localhost:${secret.port}/`,
    `http://[::1]:${secret.port}/`,
  ];
  const pages = await openPages(() => forbiddenUrls);
  closers.push(() => pages.close());
  // Listens on the same port as the pages but at another local address, so that only the address differs.
  const other = await openOtherAddress(pages.port);
  if (other) listeners.push(other.listener);

  let lookups = 0;
  const lookup: Lookup = async (name) => {
    if (name === NAMES.private) return [HERE];
    if (name === NAMES.mixed) return [PUBLIC, HERE];
    if (name === NAMES.changing) return lookups++ === 0 || !other ? [HERE] : [other.address];
    throw notFound();
  };

  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-doctor-'));
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  const browser = path.join(config.dataDir, 'browser');
  if (existsSync(browser)) await symlink(browser, path.join(dataDir, 'browser'));
  const examined: Config = {
    ...config,
    ...ISOLATED,
    dataDir,
    allowNetworks: [`127.0.0.1:${pages.port}`],
    cacheMaxBytes: Math.min(config.cacheMaxBytes, SMALL_BYTES),
    indexMaxBytes: Math.min(config.indexMaxBytes, SMALL_BYTES),
  };
  const app = await createApp({ config: examined, version, log: createLog('silent'), lookup });
  closers.push(() => app.close());
  const inProcess = await openInProcess({ ...app.faces, flow: app.flow });
  closers.push(() => inProcess.close());
  return {
    key: (await app.mintFirstKey()) ?? '',
    fetch: inProcess.fetch,
    urls: inProcess.urls,
    pages,
    listeners,
    listenerPort: secret.port,
    canRebind: other !== undefined,
    names: NAMES,
    browser: app.browser,
    async close() {
      for (const close of closers.splice(0).toReversed()) await close().catch(() => {});
    },
  };
}

const SMALL_BYTES = 50_000_000;

/** Settings that isolate the test server, so that it uses no shared store and accepts no other callers. */
const ISOLATED = {
  host: '127.0.0.1',
  port: undefined,
  publicUrl: undefined,
  auth: 'on',
  keylessRpm: KEYLESS_RPM,
  plans: {},
  limitStore: 'memory',
  redisUrl: undefined,
  remoteWork: [],
  databaseUrl: undefined,
  indexUrl: undefined,
  adminSecret: undefined,
  metricsPort: undefined,
  otlpUrl: undefined,
  flow: undefined,
  flowToken: undefined,
  searchProviders: [],
  modelDownload: 'off',
  modelsWarm: [],
  batchJobs: 0,
  drainMs: 0,
} satisfies Partial<Config>;

async function openOtherAddress(port: number) {
  for (const [address, family] of [
    ['127.0.0.2', 4],
    ['::1', 6],
  ] as const) {
    const listener = await openListener(address, port).catch(() => undefined);
    if (listener) return { listener, address: { address, family } };
  }
  return undefined;
}
