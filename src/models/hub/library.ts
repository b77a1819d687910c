/** Lists, finds, downloads and removes local models for the operator's commands. */
import path from 'node:path';
import type { Config } from '#config.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import type { ModelRow } from '../registry/catalogue.ts';
import { inPrecision, isNonCommercial, KNOWN_MODELS } from '../registry/known-models.ts';
import { readModelRows } from '../registry/operator-models.ts';
import { createHub, type PullOptions, type StoredModel } from './hub.ts';

export type LibrarySettings = Pick<
  Config,
  'dataDir' | 'models' | 'modelHubUrl' | 'modelHubToken' | 'modelPrecision' | 'region' | 'euHosts'
>;

export interface LibraryModel {
  readonly row: ModelRow;
  readonly nonCommercial: boolean;
  readonly onDisk: StoredModel | undefined;
}

export interface ModelLibrary {
  list(): Promise<LibraryModel[]>;
  /** Finds a model by its id or repository. */
  find(name: string): Promise<LibraryModel | undefined>;
  pull(row: ModelRow, options: PullOptions): Promise<StoredModel>;
  remove(row: ModelRow): Promise<boolean>;
  close(): Promise<void>;
}

/** Folder of downloaded models. */
export const modelsDir = (dataDir: string): string => path.join(dataDir, 'models');

const silent = { info() {}, warn() {} };

export function openLibrary(settings: LibrarySettings): ModelLibrary {
  const fetch = createTrustedFetch({ region: settings.region, euHosts: settings.euHosts, log: silent });
  const hub = createHub({
    dir: modelsDir(settings.dataDir),
    url: settings.modelHubUrl,
    token: settings.modelHubToken,
    fetch,
    download: 'on',
    log: silent,
  });
  const rows = new Map<string, ModelRow>();
  const known = KNOWN_MODELS.map((row) => inPrecision(row, settings.modelPrecision));
  for (const row of [...known, ...readModelRows(settings.models)]) if (row.runs.on === 'onnx') rows.set(row.id, row);

  const describe = async (row: ModelRow): Promise<LibraryModel> => ({
    row,
    nonCommercial: isNonCommercial(row.licence),
    onDisk: await hub.onDisk(row),
  });

  return {
    list: () => Promise.all(Array.from(rows.values(), describe)),
    async find(name) {
      const row = rows.get(name) ?? [...rows.values()].find(({ hub: repository }) => repository === name);
      return row && (await describe(row));
    },
    pull: hub.pull,
    remove: hub.remove,
    async close() {
      await hub.close();
      await fetch.close();
    },
  };
}
