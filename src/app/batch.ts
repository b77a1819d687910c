/** Creates the module of batch jobs, for a server or a worker process. */
import type { AccountsModule } from '#accounts/index.ts';
import { modelFailure } from '#api/envelopes/model.ts';
import { type BatchModule, INVALID_LINE, type Job, openBatch } from '#batch/index.ts';
import type { Config } from '#config.ts';
import type { ModelHost } from '#models/index.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { SharedBlobs } from '#storage/blobs/open.ts';
import type { OnJobRun } from '#storage/jobs/workers.ts';
import type { Log } from '#telemetry/log.ts';

export interface BatchParts {
  readonly accounts: Pick<AccountsModule, 'usage'>;
  readonly modelHost: ModelHost;
  readonly sharedBlobs: Pick<SharedBlobs, 'bucket'> | undefined;
  readonly fetch: GuardedFetch;
  readonly onRun?: OnJobRun | undefined;
  readonly log: Log;
}

export async function createBatch(
  { dataDir, databaseUrl, redisUrl, batchJobs }: Pick<Config, 'dataDir' | 'databaseUrl' | 'redisUrl' | 'batchJobs'>,
  { accounts: { usage }, modelHost: { registry, models }, sharedBlobs, fetch, onRun, log }: BatchParts,
): Promise<BatchModule> {
  return openBatch({
    dataDir,
    databaseUrl,
    bucket: sharedBlobs?.bucket,
    redisUrl,
    registry,
    models,
    fetch,
    failureOf: (failure) => {
      const { code, detail } = modelFailure(failure);
      return { code: code ?? INVALID_LINE, message: detail };
    },
    charge: (job) => charge(usage, job),
    jobs: batchJobs,
    onRun,
    log,
  });
}

/** Charges a job once. The job id is the idempotency key. */
async function charge(usage: AccountsModule['usage'], job: Job): Promise<void> {
  if (job.account === null) return;
  const at = job.completedAt ?? job.createdAt;
  usage.charge({
    id: job.id,
    at,
    accountId: job.account,
    keyId: job.owner,
    face: 'model',
    endpoint: 'embeddings',
    model: job.model,
    tokens: job.tokens,
    status: 200,
    durationMs: at - job.createdAt,
  });
  await usage.flush();
}
