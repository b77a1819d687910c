/** Downloads the missing files of a model from the hub into its folder, under a lock shared with other processes. */
import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { ModelRow } from '../registry/catalogue.ts';
import { isNonCommercial } from '../registry/known-models.ts';
import { type FolderRecord, neededFiles, type OnnxRuns, readRecord, sizeOf, writeRecord } from './folder.ts';
import type { HubOptions, PullOptions, PullPlan, StoredModel } from './hub.ts';
import { withLock } from './lock.ts';
import { fetchFile, fetchFileInfo, type HubAccess, hubFailure, type RemoteFile } from './transfer.ts';

/** Disk space that a download must leave free. */
const SPARE_BYTES = 64 * 1024 * 1024;

export interface Download {
  readonly row: ModelRow;
  readonly runs: OnnxRuns;
  readonly repository: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onPlan?: PullOptions['onPlan'];
  readonly onProgress?: PullOptions['onProgress'];
}

export interface DownloadTools {
  readonly access: HubAccess;
  readonly lockStaleMs: number;
  readonly log: HubOptions['log'];
  /** The model on disk; `undefined` if a file is missing. */
  readonly onDisk: (row: ModelRow) => Promise<StoredModel | undefined>;
}

export async function downloadModel(download: Download, tools: DownloadTools): Promise<StoredModel> {
  const { row, folder, signal } = download;
  await mkdir(folder, { recursive: true });
  return withLock(`${folder}.lock`, { staleMs: tools.lockStaleMs, signal }, async () => {
    // Another process may have downloaded the file while this one waited for the lock.
    const present = await tools.onDisk(row);
    if (present) return present;
    await downloadMissing(download, tools);
    const done = await tools.onDisk(row);
    if (!done) throw hubFailure('The downloaded model was removed from this machine');
    return done;
  });
}

async function downloadMissing(download: Download, { access, log }: DownloadTools): Promise<void> {
  const { row, runs, repository, folder, signal } = download;
  const record = await readRecord(folder);
  const { remote, commit } = await describeFiles(access, { repository, runs, signal });
  const missing: RemoteFile[] = [];
  for (const file of remote) if (!(await isComplete(folder, file, record))) missing.push(file);
  const plan = planOf(row, { repository, revision: runs.revision ?? 'main', missing });
  download.onPlan?.(plan);
  log.info({ model: row.id, bytes: plan.bytes, licence: plan.licence }, 'downloading a model');
  await requireSpace(folder, plan.bytes);
  const files = { ...record?.files };
  let before = 0;
  for (const file of missing) {
    const sha256 = await fetchFile(access, file, {
      target: path.join(folder, file.name),
      expected: runs.sha256?.[file.name],
      signal,
      onBytes: (bytes) =>
        download.onProgress?.({
          file: file.name,
          fileBytes: bytes,
          fileTotal: file.bytes,
          bytes: before + bytes,
          total: plan.bytes,
        }),
    });
    files[file.name] = { bytes: file.bytes, sha256 };
    before += file.bytes;
    // Saved after each file, so that complete files are not downloaded again after a crash.
    await writeRecord(folder, { repository, commit, licence: row.licence, files });
  }
  log.info({ model: row.id, bytes: plan.bytes }, 'downloaded a model');
}

/** Fetches the metadata of all files at one commit, so that versions are not mixed if the repository changes. */
async function describeFiles(
  access: HubAccess,
  { repository, runs, signal }: { repository: string; runs: OnnxRuns; signal: AbortSignal },
): Promise<{ remote: RemoteFile[]; commit: string }> {
  let revision = runs.revision ?? 'main';
  const remote: RemoteFile[] = [];
  for (const { name, optional } of neededFiles(runs)) {
    const file = await fetchFileInfo(access, { repository, revision, name }, signal);
    if (!file && optional) continue;
    if (!file) throw hubFailure(`The hub has no file ${name} in ${repository} at ${revision}`);
    if (file.commit && /^[0-9a-f]{40}$/.test(file.commit)) revision = file.commit;
    remote.push(file);
  }
  return { remote, commit: revision };
}

/** True if an earlier pull of the same commit has already downloaded the file. */
async function isComplete(folder: string, file: RemoteFile, record: FolderRecord | undefined): Promise<boolean> {
  const recorded = record?.files[file.name];
  const isSame = recorded !== undefined && recorded.bytes === file.bytes && recorded.sha256 === file.checksum;
  return isSame && (await sizeOf(path.join(folder, file.name))) === file.bytes;
}

function planOf(
  row: ModelRow,
  { repository, revision, missing }: { repository: string; revision: string; missing: readonly RemoteFile[] },
): PullPlan {
  return {
    id: row.id,
    repository,
    revision,
    bytes: missing.reduce((sum, { bytes }) => sum + bytes, 0),
    files: missing.map(({ name, bytes }) => ({ name, bytes })),
    licence: row.licence,
    nonCommercial: isNonCommercial(row.licence),
  };
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < bytes + SPARE_BYTES)
    throw hubFailure(
      `Not enough disk space for the model: it needs ${megabytes(bytes)}, and ${megabytes(free)} are free`,
    );
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
