/**
 * Helpers shared by the tests in this folder: a site, an egress proxy that can reach it, a browser, and short functions
 * to read pages.
 */
import os from 'node:os';
import { vi } from 'vitest';
import { createLookup, type Lookup } from '#net/connect/dns.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import {
  createEgressProxy,
  type EgressProxy,
  type EgressProxyOptions,
  type EgressRequest,
} from '#net/proxy/egress-proxy.ts';
import { createTemporaryFolder } from '#storage/temporary.ts';
import { type Pages, type Site, startSite } from '../../../../test/site/site.ts';
import { OPTIONS } from '../../options/options.ts';
import { type Options, resolve } from '../../options/resolve.ts';
import type { Snapshot } from '../../snapshot.ts';
import { createDirectEngine } from '../direct.ts';
import type { Engine, Visit } from '../engine.ts';
import { type BrowserEngineConfig, createBrowserEngine } from './engine.ts';
import { findBrowser } from './find.ts';
import { createPool, type PagePool, type PoolConfig, type PoolStatus } from './pool.ts';
import { createRefusalLog } from './refusals.ts';

export interface Bench {
  readonly site: Site;
  readonly engine: Engine;
  /** The engine for targets that a browser cannot display. */
  readonly direct: Engine;
  readonly pool: BenchPool;
  readonly egress: EgressProxy;
  /** All requests to the egress proxy, including refused ones. */
  readonly requests: EgressRequest[];
  /** Returns all snapshots of a read; `given` contains options as in a request body. */
  read(path: string, given?: Record<string, unknown>, limitMs?: number): Promise<Snapshot[]>;
  last(path: string, given?: Record<string, unknown>, limitMs?: number): Promise<Snapshot>;
  /** Starts a visit as `choose.ts` does; `more` contains values that options cannot set. */
  visit(path: string, given?: Record<string, unknown>, more?: Partial<Visit>): Promise<Snapshot[]>;
  close(): Promise<void>;
}

export interface BenchPool extends PagePool {
  warm(): Promise<PoolStatus>;
}

// The tests read several pages each, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Time limit; longer than a page needs even on a busy machine. */
const LIMIT_MS = 40_000;

export const dataDir = process.env.LECTERN_DATA_DIR ?? '.lectern';

export function foundBrowser() {
  const found = findBrowser({ configured: process.env.LECTERN_BROWSER, dataDir });
  if (!found) throw new Error('these tests need a browser: run node scripts/browser.mjs');
  return found;
}

export interface BenchSetting extends Partial<PoolConfig> {
  readonly pages?: Pages;
  readonly allow?: readonly string[];
  /** Additional host names, with the IP address of each. */
  readonly names?: Readonly<Record<string, string>>;
  readonly tools?: Partial<BrowserEngineConfig>;
  /** A second address of the egress proxy, and the pool that uses it. */
  readonly remote?: EgressProxyOptions['remote'];
  readonly openPool?: (egress: EgressProxy) => BenchPool;
}

export async function startBench(setting: BenchSetting = {}): Promise<Bench> {
  const { pages, allow = [], names = {}, tools, remote, openPool, ...config } = setting;
  const site = await startSite(pages);
  const others = createLookup();
  const lookup: Lookup = async (name) => (names[name] ? [{ address: names[name], family: 4 }] : others(name));
  const guard = createGuard({ allow: [...site.allow, ...allow], lookup });
  const refusals = createRefusalLog();
  const requests: EgressRequest[] = [];
  const egress = await createEgressProxy({
    guard,
    onRefused: refusals.note,
    onFailed: refusals.noteFailure,
    onRequest: (request) => requests.push(request),
    remote,
  });
  const fetch = createFetch({ guard });
  const folder = createTemporaryFolder(os.tmpdir());
  const direct = createDirectEngine({ fetch });
  const limits = { maxPages: 4, maxWaiting: 20 };
  const pool =
    openPool?.(egress) ??
    createPool({ found: foundBrowser(), openEgress: async () => egress, dataDir, ...limits, ...config });
  const engine = createBrowserEngine({
    pool,
    guard,
    refusals,
    fetchScript: async (url) => `globalThis.fetchedFrom = ${JSON.stringify(url)}`,
    hasContent: (html) => html.includes('first word'),
    fetch,
    direct,
    ...tools,
  });
  const visit = async (path: string, given: Record<string, unknown> = {}, more: Partial<Visit> = {}) => {
    const snapshots: Snapshot[] = [];
    for await (const snapshot of engine.visit({
      url: /^\w+:/.test(path) ? path : site.origin + path,
      options: options(given),
      html: given.html as string | undefined,
      deadline: performance.now() + LIMIT_MS,
      keyed: true,
      folder: folder.path,
      signal: new AbortController().signal,
      ...more,
    }))
      snapshots.push(snapshot);
    return snapshots;
  };
  const read = (path: string, given: Record<string, unknown> = {}, limitMs = LIMIT_MS) =>
    visit(path, given, { deadline: performance.now() + limitMs });
  return {
    site,
    engine,
    direct,
    pool,
    egress,
    requests,
    read,
    visit,
    last: async (...args) => (await read(...args)).at(-1)!,
    async close() {
      await engine.close();
      await egress.close();
      await fetch.close();
      await folder.remove();
      await site.close();
    },
  };
}

/** Resolves options that are written as in a request body. */
export function options(given: Record<string, unknown> = {}): Options {
  const parsed = Object.entries(given).map(([name, value]) => [
    name,
    OPTIONS[name as keyof typeof OPTIONS].schema.parse(value),
  ]);
  return resolve(Object.fromEntries(parsed));
}

/** The approximate text of HTML, for word searches. */
export const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** A placeholder for tests with pages that are not files. */
export const noFolder = async (): Promise<string> => {
  throw new Error('no folder is needed');
};
