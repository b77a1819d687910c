/**
 * The files that a model needs, and their folders on this machine. The folder of a downloaded model contains a record
 * that lists its complete files.
 */

import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ModelFiles } from '../onnx/backends.ts';
import type { ModelRow, Runs, Towers } from '../registry/catalogue.ts';
import type { StoredModel } from './hub.ts';

export type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

export interface NeededFile {
  /** Path in the repository. */
  readonly name: string;
  /** True if the model works without the file, because some repositories lack it. */
  readonly optional: boolean;
}

const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';
const PICTURES_CONFIG = 'preprocessor_config.json';

/** Undefined if the model does not run from local files. */
export const onnxRuns = (row: ModelRow): OnnxRuns | undefined => (row.runs.on === 'onnx' ? row.runs : undefined);

export function neededFiles({ file, data, towers }: OnnxRuns): NeededFile[] {
  const needed = (name: string): NeededFile => ({ name, optional: false });
  const graphs = new Set([file, ...towerFiles(towers)]);
  return [
    needed(TOKENIZER),
    { name: TOKENIZER_CONFIG, optional: true },
    ...(towers?.image && !towers.image.rule ? [needed(PICTURES_CONFIG)] : []),
    ...[...graphs].flatMap((graph) => [graph, ...(data?.[graph] ?? [])].map(needed)),
  ];
}

const towerFiles = (towers: Towers | undefined): string[] =>
  [towers?.image, towers?.audio].flatMap((tower) => (tower ? [tower.file] : []));

export const filesIn = (folder: string, { file, towers }: OnnxRuns): ModelFiles => ({
  graph: path.join(folder, file),
  imageGraph: towers?.image && path.join(folder, towers.image.file),
  audioGraph: towers?.audio && path.join(folder, towers.audio.file),
  picturesConfig: path.join(folder, PICTURES_CONFIG),
  tokenizer: path.join(folder, TOKENIZER),
  tokenizerConfig: path.join(folder, TOKENIZER_CONFIG),
});

export interface FileRecord {
  readonly bytes: number;
  readonly sha256: string;
}

export interface FolderRecord {
  readonly repository: string;
  readonly commit: string;
  readonly licence: string;
  readonly files: Readonly<Record<string, FileRecord>>;
}

const RECORD = 'lectern-model.json';

export const sizeOf = async (file: string): Promise<number | undefined> =>
  (await stat(file).catch(() => undefined))?.size;

/** Reads a folder provided by the operator. Returns `undefined` if a needed file is missing. */
export async function findOperatorFolder(
  folder: string,
  needed: readonly NeededFile[],
): Promise<StoredModel | undefined> {
  const sizes = await Promise.all(needed.map(({ name }) => sizeOf(path.join(folder, name))));
  if (sizes.includes(undefined)) return undefined;
  return { folder, bytes: sizes.reduce((sum: number, size) => sum + size!, 0), commit: '' };
}

/**
 * Reads the folder of a download. Returns `undefined` if a needed file is missing or its size differs from the record.
 */
export async function findDownload(folder: string, needed: readonly NeededFile[]): Promise<StoredModel | undefined> {
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

export async function readRecord(folder: string): Promise<FolderRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(path.join(folder, RECORD), 'utf8')) as FolderRecord;
    return typeof record.files === 'object' ? record : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRecord(folder: string, record: FolderRecord): Promise<void> {
  const file = path.join(folder, RECORD);
  try {
    await writeFile(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { flush: true });
    await rename(`${file}.new`, file);
  } catch (error) {
    await rm(`${file}.new`, { force: true });
    throw error;
  }
}
