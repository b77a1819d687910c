/** The model host on a separate port, with test models and with API keys that need no database. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Account, type Charge, createAccessControl } from '#accounts/index.ts';
import { createAccessHooks } from '#api/access-hooks.ts';
import type { BatchEndpointOptions } from '#api/batch/batch.ts';
import type { ClassifyEndpointOptions } from '#api/classify/classify.ts';
import { bareModelError, writeModelError } from '#api/envelopes/model.ts';
import { modelHealthRoutes } from '#api/models/health.ts';
import { modelHostRoutes } from '#api/models/host.ts';
import type { Prices } from '#api/models/models.ts';
import { createTracing } from '#api/trace.ts';
import { readConfig } from '#config.ts';
import { createServer } from '#http/server.ts';
import {
  type BackendFactory,
  type Completions,
  createCompletions,
  createRegistry,
  type ModelHost,
  type ModelRow,
  type ModelRuntime,
  openModelHost,
  openModelRuntime,
} from '#models/index.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { PLANS, type PlanName } from '#plans.ts';
import { createMemoryCounters } from '#storage/counters/memory.ts';
import { createLog } from '#telemetry/log.ts';

interface ServingSetup {
  /** Opens pictures, PDFs and clips. */
  readonly media?: Parameters<typeof openModelHost>[1]['media'];
  readonly maxBodyBytes?: number;
  /** Folder for models from the hub. Default: a temporary folder. */
  readonly modelsDir?: string;
  readonly prices?: Prices;
  /** `off`: no keys are needed and no usage is counted. */
  readonly auth?: 'on' | 'off';
  /** Default: completions without any engine. */
  readonly completions?: Completions;
  /** Opens the batch module, which is closed with the host. */
  readonly batch?: (host: Pick<ModelHost, 'registry' | 'models'>) => Promise<BatchEndpointOptions>;
  /** Opens the classification module, which is closed with the host. */
  readonly classify?: (host: Pick<ModelHost, 'registry' | 'models'>) => Promise<ClassifyEndpointOptions>;
  /** Accounts, keyed by API key. `test-key` has the premium plan. */
  readonly accounts?: Readonly<Record<string, { plan: PlanName; balance: number | null }>>;
}

export interface ModelHostSetup extends ServingSetup {
  readonly rows: readonly ModelRow[];
  readonly opening: BackendFactory;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly away?: readonly string[];
  readonly maxBytes?: number;
  readonly deadlineMs?: number;
  readonly warm?: readonly ModelRow[];
}

export interface TestModelHost {
  readonly url: string;
  readonly models: ModelRuntime;
  readonly charges: readonly Charge[];
  /** Posts JSON with the test API key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Posted>;
  close(): Promise<void>;
}

export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  readonly body: any;
}

/** Starts a model host with the given test models. */
export async function startModelHost(setup: ModelHostSetup): Promise<TestModelHost> {
  const models = openModelRuntime({
    backends: setup.opening,
    maxBytes: setup.maxBytes ?? 1e9,
    deadlineMs: setup.deadlineMs ?? 60_000,
    log: createLog('silent'),
  });
  const registry = createRegistry({
    rows: setup.rows,
    aliases: setup.aliases ?? {},
    availabilityCheck: { availability: ({ id }) => (setup.away?.includes(id) ? 'away' : 'here'), look: async () => {} },
  });
  if (setup.warm) models.warm(setup.warm);
  return serve({ registry, models, close: () => models.close() }, setup);
}

/** Starts a model host with the built-in models and the models named in the settings. */
export async function startRealModelHost(
  settings: Record<string, unknown> = {},
  serving: ServingSetup = {},
): Promise<TestModelHost> {
  const log = createLog('silent');
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-models-'));
  const trusted = createTrustedFetch({ region: 'any', euHosts: [], log });
  const tokens = { load: async () => {}, count: (text: string) => text.length, keep: (text: string) => text };
  const config = readConfig({ environment: {}, flags: { modelDownload: 'off', ...settings } });
  const { media } = serving;
  const host = await openModelHost(config, { dir: serving.modelsDir ?? dir, fetch: trusted, tokens, log, media });
  const close = async () => {
    await host.close();
    await trusted.close();
    await rm(dir, { recursive: true, force: true });
  };
  return serve({ ...host, close }, serving);
}

async function serve({ registry, models, close }: ModelHost, setup: ServingSetup): Promise<TestModelHost> {
  const log = createLog('silent');
  const temporaryDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-models-'));
  const known = { 'test-key': { plan: 'premium', balance: null }, ...setup.accounts } as const;
  const charges: Charge[] = [];
  const counters = createMemoryCounters();
  const gate = createAccessControl({
    accounts: {
      identify: async (key) =>
        Object.hasOwn(known, key) ? identity(key, known[key as keyof typeof known]) : undefined,
    },
    usage: {
      hold: async (accountId, { wanted }) => ({ id: 'hold', accountId, tokens: wanted }),
      journal: (_, written) => written?.(),
      charge: (charge) => charges.push(charge),
    },
    counters,
    plans: PLANS,
    auth: setup.auth ?? 'on',
    keylessRpm: 20,
    keylessFeatures: [],
    refusedRpm: 1_000,
  });
  const face = await createServer({
    name: 'model',
    log,
    maxBodyBytes: setup.maxBodyBytes ?? 64 * 1024 * 1024,
    temporaryDir,
    writeError: writeModelError,
    malformedBody: bareModelError,
    servesPrograms: true,
  });
  modelHealthRoutes(face, { models, draining: () => false, fullDisks: async () => [] });
  const accessHooks = createAccessHooks(gate);
  const tracing = createTracing({ accessHooks });
  const batch = await setup.batch?.({ registry, models });
  const classify = await setup.classify?.({ registry, models });
  const prices = setup.prices ?? {};
  const completions = setup.completions ?? noCompletions(temporaryDir);
  modelHostRoutes(face, { registry, models, completions, accessHooks, tracing, prices, batch, classify });
  const url = await face.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    models,
    charges,
    async post(place, body, headers = {}) {
      const answer = await fetch(`${url}${place}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer test-key', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    async close() {
      await batch?.batch.close();
      await classify?.classify.close();
      await close();
      face.server.closeAllConnections();
      await face.close();
      await counters.close();
      await rm(temporaryDir, { recursive: true, force: true });
    },
  };
}

const noCompletions = (temporaryDir: string): Completions =>
  createCompletions({
    documents: { read: unused, picture: unused },
    fetch: Object.assign(unused, { close: async () => {} }),
    temporaryDir,
    tokens: { load: async () => {}, count: (text) => text.length, keep: (text, tokens) => text.slice(0, tokens) },
    deadlineMs: 60_000,
    generatingMs: 60_000,
  });

async function unused(): Promise<never> {
  throw new Error('nothing is read here');
}

function identity(key: string, { plan, balance }: { plan: PlanName; balance: number | null }) {
  const account: Account = { id: `account of ${key}`, name: key, plan, balance, createdAt: 0 };
  const record = { id: key, accountId: account.id, name: key, shown: key, createdAt: 0 };
  return { account, key: { ...record, expiresAt: null, revokedAt: null, lastUsedAt: null } };
}
