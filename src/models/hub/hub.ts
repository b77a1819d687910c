/**
 * Model files: from the operator's folder, or downloaded from the hub. Each repository has a folder with a record of
 * its complete files; a file that is not in the record counts as missing.
 */
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { unlessAborted } from '#concurrency/deadline.ts';
import { Problem } from '#errors.ts';
import type { ModelFiles } from '../onnx/backends.ts';
import type { ModelRow } from '../registry/catalogue.ts';
import { downloadModel } from './download.ts';
import { filesIn, findDownload, findOperatorFolder, neededFiles, type OnnxRuns, onnxRuns } from './folder.ts';
import { type HubAccess, type HubFetch, hubFailure } from './transfer.ts';

export interface HubOptions {
  /** Folder of downloaded models. */
  readonly dir: string;
  /** Default: https://huggingface.co */
  readonly url?: string | undefined;
  /** Access token for gated models. */
  readonly token?: string | undefined;
  readonly fetch: HubFetch;
  /** `off`: only models that are already on this machine are used. */
  readonly download: 'on' | 'off';
  readonly log: { info(facts: object, message: string): void };
  readonly stallMs?: number | undefined;
  readonly retryMs?: number | undefined;
  readonly lockStaleMs?: number | undefined;
}

/** The files that a pull will download, reported before it starts. */
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
  /** Total progress over all files. */
  readonly bytes: number;
  readonly total: number;
}

export interface PullOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPlan?: ((plan: PullPlan) => void) | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

export interface StoredModel {
  readonly folder: string;
  readonly bytes: number;
  /** The commit of the repository; empty for an operator's folder. */
  readonly commit: string;
}

/** Failures are DownstreamServiceFailureError, with advice for the operator, or the signal's reason. */
export interface Hub {
  /** Returns the files of a local model. Downloads missing files if downloads are allowed. */
  files(row: ModelRow): Promise<ModelFiles>;
  /** Downloads missing files. Concurrent pulls of the same model share one download. */
  pull(row: ModelRow, options?: PullOptions): Promise<StoredModel>;
  /** Returns undefined if a file is missing. */
  onDisk(row: ModelRow): Promise<StoredModel | undefined>;
  /** Returns whether the model was on disk. An operator's folder is never removed. */
  remove(row: ModelRow): Promise<boolean>;
  /** Aborts downloads; the next pull resumes them. */
  close(): Promise<void>;
}

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
  const pulls = new Map<string, Promise<StoredModel>>();

  const folderOf = (runs: OnnxRuns, repository: string) =>
    path.resolve(dir, `${repository.replace('/', '--')}@${runs.revision ?? 'main'}`);

  async function onDisk(row: ModelRow): Promise<StoredModel | undefined> {
    const runs = onnxRuns(row);
    if (!runs) return undefined;
    const needed = neededFiles(runs).filter(({ optional }) => !optional);
    if (runs.folder !== undefined) return findOperatorFolder(path.resolve(runs.folder), needed);
    return findDownload(folderOf(runs, repositoryOf(row, runs)), needed);
  }

  const hub: Hub = {
    onDisk,
    async files(row) {
      const runs = requireRuns(row);
      const present = await onDisk(row);
      if (present) return filesIn(present.folder, runs);
      if (runs.folder !== undefined) throw hubFailure(`The folder of model ${row.id} is missing or incomplete`);
      if (download === 'off') throw notOnDisk(row);
      const { folder } = await hub.pull(row);
      return filesIn(folder, runs);
    },
    async pull(row, given = {}) {
      const runs = requireRuns(row);
      const present = await onDisk(row);
      if (present) return present;
      if (runs.folder !== undefined) throw hubFailure(`The folder of model ${row.id} is missing or incomplete`);
      if (runs.unpublished)
        throw hubFailure(
          `No repository publishes the graph of ${row.id}. Export it into a folder, and add an entry to \`models\` with that folder and this id`,
        );
      const repository = repositoryOf(row, runs);
      const folder = folderOf(runs, repository);
      let work = pulls.get(folder);
      if (!work) {
        // A pull with a signal is aborted by it. A pull started by a request continues, because later requests need it.
        const signal = given.signal ? AbortSignal.any([given.signal, ending.signal]) : ending.signal;
        work = downloadModel({ ...given, row, runs, repository, folder, signal }, { access, lockStaleMs, log, onDisk })
          .catch((error: unknown) => {
            throw signal.aborted ? signal.reason : downloadFailure(row, error);
          })
          .finally(() => pulls.delete(folder));
        pulls.set(folder, work);
      }
      return given.signal ? unlessAborted(given.signal, work) : work;
    },
    async remove(row) {
      const runs = onnxRuns(row);
      if (!runs || runs.folder !== undefined) return false;
      const folder = folderOf(runs, repositoryOf(row, runs));
      const exists = (await stat(folder).catch(() => undefined)) !== undefined;
      await rm(folder, { recursive: true, force: true });
      return exists;
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

const notOnDisk = (row: ModelRow) =>
  hubFailure(`Model ${row.id} is not on this machine. The operator can download it with ${pullLine(row)}`);

/** Builds the error with advice for the operator. It never contains a local path or a URL. */
function downloadFailure({ id }: ModelRow, error: unknown): unknown {
  if (!(error instanceof Problem))
    return hubFailure(`Could not download model ${id}: its folder on this machine is not writable`, error);
  if (error.message.startsWith('A service needed'))
    return hubFailure(
      `Model ${id} is not on this machine, and the hub cannot be reached. The operator can copy the models folder from a machine that has downloaded it`,
      error,
    );
  return hubFailure(`Could not download model ${id}: ${error.message}`, error);
}
