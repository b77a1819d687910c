/** Creates the components that all APIs share: accounts and limits, network access, file conversion, remote models. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type AccountsModule, createAccessControl, openAccounts } from '#accounts/index.ts';
import { type AccessHooks, createAccessHooks } from '#api/access-hooks.ts';
import { openServerFolder } from '#concurrency/programs.ts';
import type { Config } from '#config.ts';
import { createFolder } from '#create-folder.ts';
import { createDocuments, type Documents } from '#documents/documents.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { createRemoteDocuments } from '#documents/remote/documents.ts';
import { createModels, type Models } from '#models/index.ts';
import type { Lookup } from '#net/connect/dns.ts';
import { createOcr, createRemoteOcr, type Ocr } from '#ocr/index.ts';
import { type Plans, plansWith } from '#plans.ts';
import type { SharedBlobs } from '#storage/blobs/open.ts';
import type { Counters } from '#storage/counters/counters.ts';
import { openCounters } from '#storage/counters/open.ts';
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import { openPictures, type Pictures } from '#storage/pictures.ts';
import { openSharedState, type SharedState } from '#storage/shared/open.ts';
import { openSharedPictures } from '#storage/shared-pictures.ts';
import type { WorkQueue } from '#storage/work-queue/server.ts';
import type { Log } from '#telemetry/log.ts';
import { createMetrics, type Metrics } from '#telemetry/metrics.ts';
import type { CloseStack } from './close-stack.ts';
import { createObservers } from './metrics.ts';
import { type Network, openNetwork } from './network.ts';
import { isRemote, openConfiguredWorkQueue } from './remote-work.ts';
import { openConfiguredBlobs } from './shared-blobs.ts';

export interface Foundation {
  /** A folder for temporary files, which is removed when the process exits. */
  readonly temporaryDir: string;
  readonly metrics: Metrics;
  readonly observe: ReturnType<typeof createObservers>;
  readonly plans: Plans;
  readonly accounts: AccountsModule;
  /** Creates the first key of a new installation; `undefined` if there are keys already, or if none are required. */
  readonly mintFirstKey: () => Promise<string | undefined>;
  readonly counters: Counters;
  /** Small state of all modules, which other servers share. */
  readonly state: SharedState;
  readonly accessHooks: AccessHooks;
  readonly pictures: Pictures;
  /** `undefined` without a database that several servers could share. */
  readonly sharedBlobs: SharedBlobs | undefined;
  readonly network: Network;
  /** `undefined` if this process does all work itself. */
  readonly workQueue: WorkQueue | undefined;
  readonly documents: Documents;
  readonly ocr: Ocr | undefined;
  /** Generative models on remote servers. */
  readonly models: Models;
}

export interface FoundationOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Log;
  /** Resolves host names that come from callers. Default: the name servers of the machine. */
  readonly lookup?: Lookup | undefined;
}

export async function openFoundation(
  { config, version, log, lookup }: FoundationOptions,
  resources: CloseStack,
): Promise<Foundation> {
  const { dataDir, databaseUrl, redisUrl } = config;
  await createFolder(dataDir, 0o700);
  // Also removes folders left behind by killed servers.
  const temporaryDir = await openServerFolder(path.join(dataDir, 'tmp'));
  resources.defer(() => rm(temporaryDir, { recursive: true, force: true }));

  const metrics = createMetrics();
  const observe = createObservers(metrics);
  const plans = plansWith(config.plans);
  const accounts = resources.use(
    await openAccounts({
      dataDir,
      databaseUrl,
      keyGraceMs: config.keyGraceS * 1000,
      usageKeepDays: config.usageKeepDays,
      log,
    }),
  );
  const mintFirstKey = async () => (config.auth === 'on' ? firstKeyOf(accounts, log) : undefined);
  const limits = { store: config.limitStore, redisUrl, databaseUrl, file: path.join(dataDir, 'limits.db') };
  const counters = resources.use(await openCounters(limits, { log }));
  const state = resources.use(await openSharedState({ dataDir, databaseUrl, redisUrl, log }));
  const accessControl = createAccessControl({
    ...accounts,
    counters,
    plans,
    auth: config.auth,
    keylessRpm: config.keylessRpm === 'none' ? undefined : config.keylessRpm,
    keylessFeatures: config.keylessFeatures,
    refusedRpm: config.refusedRpm,
  });
  const accessHooks = createAccessHooks(accessControl, { onTokensSpent: observe.onSpent });
  const network = await openNetwork(config, { lookup, version, log }, resources);
  const sharedBlobs = await openConfiguredBlobs(config, log);
  if (sharedBlobs) resources.use(sharedBlobs);
  const { mayServeCached } = network;
  const pictures = resources.use(
    sharedBlobs
      ? await openSharedPictures(dataDir, {
          db: sharedBlobs.pictureTables,
          blobs: sharedBlobs.blobs,
          mayServeCached,
          log,
        })
      : await openPictures(dataDir, { mayServeCached }),
  );
  const workQueue = await openConfiguredWorkQueue(config, { sharedBlobs, observe, log });
  if (workQueue) resources.use(workQueue);
  const documents = resources.use(
    workQueue && isRemote(config, 'documents')
      ? createRemoteDocuments(workQueue.work('documents'))
      : createDocuments({
          processes: config.documentWorkers,
          memoryMb: config.documentMemoryMb,
          timeoutMs: config.documentTimeoutMs,
          libreoffice: createLibreOffice({ program: config.libreoffice, temporaryDir }),
        }),
  );
  const ocr =
    workQueue && isRemote(config, 'ocr')
      ? createRemoteOcr(workQueue.work('ocr'))
      : createOcr({
          tesseract: config.tesseract,
          modelDir: config.ocrModelDir,
          languages: config.ocrLanguages,
          temporaryDir,
          timeoutMs: config.documentTimeoutMs,
        });
  if (ocr) resources.use(ocr);

  const models = createModels(config, { fetch: network.trusted });
  return {
    ...{ temporaryDir, metrics, observe, plans, accounts, mintFirstKey, counters, state, accessHooks },
    ...{ pictures, sharedBlobs, network, workQueue, documents, ocr, models },
  };
}

/**
 * Creates the first key of a new installation. Does nothing if there are keys already or the database is unreachable.
 */
async function firstKeyOf({ accounts }: AccountsModule, log: Log): Promise<string | undefined> {
  try {
    if (!(await accounts.hasNoKeys())) return undefined;
    const { id } = await accounts.defaultAccount();
    return (await accounts.mintKey({ accountId: id, name: 'first key' })).key;
  } catch (error) {
    if (!(error instanceof DatabaseUnavailableError)) throw error;
    log.warn({ err: error }, 'the database is unreachable; keys cannot be verified until it answers');
    return undefined;
  }
}
