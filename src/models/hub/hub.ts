/**
 * Model files: from the operator's folder, or downloaded from the hub. Each repository has a folder with a record of
 * its complete files; a file without a record counts as missing.
 */
import { mkdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { unlessAborted } from '#concurrency/deadline.ts';
import { Problem } from '#errors.ts';
import type { ModelFiles } from '../backends/onnx.ts';
import type { ModelRow } from '../registry/catalogue.ts';
import { isNonCommercial } from '../registry/known-models.ts';
import { filesIn, neededFiles, type OnnxRuns, onnxRuns } from './files.ts';
import { withLock } from './lock.ts';
import { askForFile, fetchFile, type HubAccess, type HubFetch, hubFailure, type RemoteFile } from './transfer.ts';

export interface HubOptions {
  /** Folder of downloaded models. */
  readonly dir: string;
  /** Default: https://huggingface.co */
  readonly url?: string | undefined;
  /** Access token for gated models. */
  readonly token?: string | undefined;
  readonly fetch: HubFetch;
  /** `off`: use only models that are on this machine. */
  readonly download: 'on' | 'off';
  readonly log: { info(facts: object, message: string): void };
  readonly stallMs?: number | undefined;
  readonly retryMs?: number | undefined;
  readonly lockStaleMs?: number | undefined;
}

/** What a pull will download, reported before it starts. */
export interface PullPlan {
  readonly id: string;
  readonly repository: string;
  readonly revision: string;
  /** Size of the missing files. */
  readonly bytes: number;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly licence: string;
  readonly nonCommercial: boolean;
}

export interface PullProgress {
  readonly file: string;
  readonly fileBytes: number;
  readonly fileTotal: number;
  /** Progress of all files together. */
  readonly bytes: number;
  readonly total: number;
}

export interface PullOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPlan?: ((plan: PullPlan) => void) | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

export interface OnDisk {
  readonly folder: string;
  readonly bytes: number;
  /** The commit of the repository; empty for an operator's folder. */
  readonly commit: string;
}

/** Failures are DownstreamServiceFailureError, with advice for the operator, or the reason of a signal. */
export interface Hub {
  /** The files of a local model, downloaded if missing and allowed. */
  files(row: ModelRow): Promise<ModelFiles>;
  /** Downloads missing files. Concurrent pulls of the same model share one download. */
  pull(row: ModelRow, options?: PullOptions): Promise<OnDisk>;
  /** Undefined if a file is missing. */
  onDisk(row: ModelRow): Promise<OnDisk | undefined>;
  /** Returns whether the model was on disk. An operator's folder is never removed. */
  remove(row: ModelRow): Promise<boolean>;
  /** Aborts downloads; the next pull resumes them. */
  close(): Promise<void>;
}

interface FileRecord {
  readonly bytes: number;
  readonly sha256: string;
}

interface FolderRecord {
  readonly repository: string;
  readonly commit: string;
  readonly licence: string;
  readonly files: Readonly<Record<string, FileRecord>>;
}

const RECORD = 'lectern-model.json';
/** Disk space that a download must leave free. */
const SPARE_BYTES = 64 * 1024 * 1024;

export function createHub(options: HubOptions): Hub {
  const { dir, download, log, lockStaleMs = 20_000 } = options;
  const access: HubAccess = {
    fetch: options.fetch,
    url: options.url ?? 'https://huggingface.co',
    token: options.token,
    stallMs: options.stallMs ?? 60_000,
    retryMs: options.retryMs ?? 1_000,
  };
  const ending = new AbortController();
  const pulls = new Map<string, Promise<OnDisk>>();

  const folderOf = (runs: OnnxRuns, repository: string) =>
    path.resolve(dir, `${repository.replace('/', '--')}@${runs.revision ?? 'main'}`);

  async function onDisk(row: ModelRow): Promise<OnDisk | undefined> {
    const runs = onnxRuns(row);
    if (!runs) return undefined;
    const needed = neededFiles(runs).filter(({ optional }) => !optional);
    if (runs.folder !== undefined) {
      const folder = path.resolve(runs.folder);
      const sizes = await Promise.all(needed.map(({ name }) => sizeOf(path.join(folder, name))));
      if (sizes.includes(undefined)) return undefined;
      return { folder, bytes: sizes.reduce((sum: number, size) => sum + size!, 0), commit: '' };
    }
    const folder = folderOf(runs, repositoryOf(row, runs));
    const record = await readRecord(folder);
    if (!record) return undefined;
    let bytes = 0;
    for (const { name } of needed) {
      const size = await sizeOf(path.join(folder, name));
      if (size === undefined || size !== record.files[name]?.bytes) return undefined;
      bytes += size;
    }
    return { folder, bytes, commit: record.commit };
  }

  async function pullNow(row: ModelRow, runs: OnnxRuns, given: PullOptions, signal: AbortSignal): Promise<OnDisk> {
    const repository = repositoryOf(row, runs);
    const folder = folderOf(runs, repository);
    await mkdir(folder, { recursive: true });
    return withLock(`${folder}.lock`, { staleMs: lockStaleMs, signal }, async () => {
      // Another process may have downloaded it while this process waited for the lock.
      const there = await onDisk(row);
      if (there) return there;
      const known = await readRecord(folder);
      const { remote, commit } = await describeFiles(access, { repository, runs, signal });
      const missing: RemoteFile[] = [];
      for (const file of remote) if (!(await isComplete(folder, file, known))) missing.push(file);
      const plan = planOf(row, { repository, revision: runs.revision ?? 'main', missing });
      given.onPlan?.(plan);
      log.info({ model: row.id, bytes: plan.bytes, licence: plan.licence }, 'downloading a model');
      await requireSpace(folder, plan.bytes);
      const files = { ...known?.files };
      let before = 0;
      for (const file of missing) {
        const sha256 = await fetchFile(access, file, {
          target: path.join(folder, file.name),
          expected: runs.sha256?.[file.name],
          signal,
          onBytes: (bytes) =>
            given.onProgress?.({
              file: file.name,
              fileBytes: bytes,
              fileTotal: file.bytes,
              bytes: before + bytes,
              total: plan.bytes,
            }),
        });
        files[file.name] = { bytes: file.bytes, sha256 };
        before += file.bytes;
        // Saved after each file, so that a crash does not repeat complete downloads.
        await writeRecord(folder, { repository, commit, licence: row.licence, files });
      }
      log.info({ model: row.id, bytes: plan.bytes }, 'downloaded a model');
      const done = await onDisk(row);
      if (!done) throw hubFailure('The downloaded model was removed from this machine');
      return done;
    });
  }

  const hub: Hub = {
    onDisk,
    async files(row) {
      const runs = requireRuns(row);
      const there = await onDisk(row);
      if (there) return filesIn(there.folder, runs);
      if (runs.folder !== undefined) throw hubFailure(`The folder of model ${row.id} is missing or incomplete`);
      if (download === 'off') throw notHere(row);
      const { folder } = await hub.pull(row);
      return filesIn(folder, runs);
    },
    async pull(row, given = {}) {
      const runs = requireRuns(row);
      const there = await onDisk(row);
      if (there) return there;
      if (runs.folder !== undefined) throw hubFailure(`The folder of model ${row.id} is missing or incomplete`);
      const key = folderOf(runs, repositoryOf(row, runs));
      let work = pulls.get(key);
      if (!work) {
        // A pull with a signal ends with it. One started by a request continues, because later requests need it.
        const signal = given.signal ? AbortSignal.any([given.signal, ending.signal]) : ending.signal;
        work = pullNow(row, runs, given, signal)
          .catch((error: unknown) => {
            throw signal.aborted ? signal.reason : notFetched(row, error);
          })
          .finally(() => pulls.delete(key));
        pulls.set(key, work);
      }
      return given.signal ? unlessAborted(given.signal, work) : work;
    },
    async remove(row) {
      const runs = onnxRuns(row);
      if (!runs || runs.folder !== undefined) return false;
      const folder = folderOf(runs, repositoryOf(row, runs));
      const isThere = (await stat(folder).catch(() => undefined)) !== undefined;
      await rm(folder, { recursive: true, force: true });
      return isThere;
    },
    async close() {
      ending.abort(hubFailure('The server is shutting down'));
      await Promise.allSettled(pulls.values());
    },
  };
  return hub;
}

function requireRuns(row: ModelRow): OnnxRuns {
  const runs = onnxRuns(row);
  if (!runs) throw hubFailure(`${row.id} does not run from local files`);
  return runs;
}

const repositoryOf = (row: ModelRow, { repository }: OnnxRuns) => repository ?? row.hub;

const pullLine = (row: ModelRow) => `\`lectern models pull ${row.id}\``;

const notHere = (row: ModelRow) =>
  hubFailure(`Model ${row.id} is not on this machine. The operator can download it with ${pullLine(row)}`);

/** The failure with advice for the operator. Never contains a local path or a URL. */
function notFetched({ id }: ModelRow, error: unknown): unknown {
  if (!(error instanceof Problem))
    return hubFailure(`Could not download model ${id}: its folder on this machine is not writable`, error);
  if (error.message.startsWith('A service needed'))
    return hubFailure(
      `Model ${id} is not on this machine, and the hub cannot be reached. The operator can copy the models folder from a machine that has downloaded it`,
      error,
    );
  return hubFailure(`Could not download model ${id}: ${error.message}`, error);
}

/** Describes all files at one commit, so that versions are not mixed if the repository changes. */
async function describeFiles(
  access: HubAccess,
  { repository, runs, signal }: { repository: string; runs: OnnxRuns; signal: AbortSignal },
): Promise<{ remote: RemoteFile[]; commit: string }> {
  let revision = runs.revision ?? 'main';
  const remote: RemoteFile[] = [];
  for (const { name, optional } of neededFiles(runs)) {
    const file = await askForFile(access, { repository, revision, name }, signal);
    if (!file && optional) continue;
    if (!file) throw hubFailure(`The hub has no file ${name} in ${repository} at ${revision}`);
    if (file.commit && /^[0-9a-f]{40}$/.test(file.commit)) revision = file.commit;
    remote.push(file);
  }
  return { remote, commit: revision };
}

/** Whether a pull of the same commit has already downloaded the file. */
async function isComplete(folder: string, file: RemoteFile, known: FolderRecord | undefined): Promise<boolean> {
  const kept = known?.files[file.name];
  const isSame = kept !== undefined && kept.bytes === file.bytes && kept.sha256 === file.checksum;
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

const sizeOf = async (file: string): Promise<number | undefined> => (await stat(file).catch(() => undefined))?.size;

async function readRecord(folder: string): Promise<FolderRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(path.join(folder, RECORD), 'utf8')) as FolderRecord;
    return typeof record.files === 'object' ? record : undefined;
  } catch {
    return undefined;
  }
}

async function writeRecord(folder: string, record: FolderRecord): Promise<void> {
  const file = path.join(folder, RECORD);
  try {
    await writeFile(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { flush: true });
    await rename(`${file}.new`, file);
  } catch (error) {
    await rm(`${file}.new`, { force: true });
    throw error;
  }
}
