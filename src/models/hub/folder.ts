/**
 * Folders of models on this machine. The folder of a downloaded model contains a record that lists its complete files.
 */
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { NeededFile } from './files.ts';
import type { StoredModel } from './hub.ts';

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
