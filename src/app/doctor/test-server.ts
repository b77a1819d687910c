/** The server that is examined: all its rooms with the settings of the operator, in a folder that is thrown away. */
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
  /** Must stay silent. */
  readonly listeners: readonly Listener[];
  /** Where one of them is. */
  readonly listenerPort: number;
  /** Whether there is a listener behind the name that changes. */
  readonly hasChanging: boolean;
  /** Names that lead to this machine in ways that strangers have tried. */
  readonly names: typeof NAMES;
  browser(): ReturnType<Awaited<ReturnType<typeof createApp>>['browser']>;
  close(): Promise<void>;
}

/** How many requests a minute callers without a key have. */
export const KEYLESS_RPM = 3;

const NAMES = {
  /** Its address is of this machine. */
  private: 'private.doctor.test',
  /** One of its addresses is public, the other is of this machine. */
  mixed: 'mixed.doctor.test',
  /** Its address may be read at first, and is another of this machine afterwards. */
  changing: 'changing.doctor.test',
} as const;

/** Of a block for examples that is routed as any other: nothing is sent there, since the other address forbids it. */
const PUBLIC = { address: '9.9.9.9', family: 4 };
const HERE = { address: '127.0.0.1', family: 4 };

const refused = () => Object.assign(new Error('there is no such name'), { code: 'ENOTFOUND' });

export async function startTestServer(
  config: Config,
  version: string,
  closers: (() => Promise<unknown>)[],
): Promise<TestServer> {
  const secret = await openListener('127.0.0.1');
  const listeners = [secret];
  closers.push(() => Promise.all(listeners.map((listener) => listener.close())));
  const six = await openListener('::1', secret.port).catch(() => undefined);
  if (six) listeners.push(six);
  const inside = [
    `http://127.0.0.1:${secret.port}/`,
    `http://localhost:${secret.port}/`,
    `http://[::1]:${secret.port}/`,
  ];
  const pages = await openPages(() => inside);
  closers.push(() => pages.close());
  // The same port at another address of this machine: only the address tells them apart.
  const other = (await changingPlace(pages.port)) ?? undefined;
  if (other) listeners.push(other.listener);

  let asked = 0;
  const lookup: Lookup = async (name) => {
    if (name === NAMES.private) return [HERE];
    if (name === NAMES.mixed) return [PUBLIC, HERE];
    if (name === NAMES.changing) return asked++ === 0 || !other ? [HERE] : [other.address];
    throw refused();
  };

  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-doctor-'));
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  const browser = path.join(config.dataDir, 'browser');
  if (existsSync(browser)) await symlink(browser, path.join(dataDir, 'browser'));
  const examined: Config = {
    ...config,
    ...ALONE,
    dataDir,
    allowNetworks: [`127.0.0.1:${pages.port}`],
    cacheMaxBytes: Math.min(config.cacheMaxBytes, SMALL_BYTES),
    indexMaxBytes: Math.min(config.indexMaxBytes, SMALL_BYTES),
  };
  const app = await createApp({ config: examined, version, log: createLog('silent'), lookup });
  closers.push(() => app.close());
  const opened = await openInProcess({ ...app.faces, flow: app.flow });
  closers.push(() => opened.close());
  return {
    key: app.firstKey ?? '',
    fetch: opened.fetch,
    urls: opened.urls,
    pages,
    listeners,
    listenerPort: secret.port,
    hasChanging: other !== undefined,
    names: NAMES,
    browser: app.browser,
    async close() {
      for (const close of closers.splice(0).toReversed()) await close().catch(() => {});
    },
  };
}

const SMALL_BYTES = 50_000_000;

/** Nothing that others share is touched, and nobody else is let in. */
const ALONE = {
  host: '127.0.0.1',
  port: undefined,
  publicUrl: undefined,
  auth: 'on',
  keylessRpm: KEYLESS_RPM,
  plans: {},
  limitStore: 'memory',
  redisUrl: undefined,
  databaseUrl: undefined,
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

async function changingPlace(port: number) {
  for (const [address, family] of [
    ['127.0.0.2', 4],
    ['::1', 6],
  ] as const) {
    const listener = await openListener(address, port).catch(() => undefined);
    if (listener) return { listener, address: { address, family } };
  }
  return undefined;
}
