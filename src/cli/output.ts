/** Writes results to standard output, a file, or a folder with one file per target. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { createFolder } from '#create-folder.ts';

/** Resolves when the stream has accepted the data. A closed stream is not an error here; it is handled elsewhere. */
export const write = (output: Writable, data: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    output.write(data, () => resolve());
  });

/**
 * Writes a file completely or not at all, so an interrupted run leaves no partial file. Follows symbolic links and
 * writes directly to devices and pipes.
 */
export const writeFileAtomically = (name: string, data: string | Uint8Array): Promise<void> =>
  writeAtomically(name, (file) => writeFile(file, data));

/**
 * Like `writeFileAtomically` for streams: `write` gets the path of a temporary file, which replaces the target at the
 * end.
 */
export async function writeAtomically(name: string, write: (file: string) => Promise<void>): Promise<void> {
  const file = await realpath(name).catch(() => name);
  await createFolder(path.dirname(path.resolve(file)));
  const place = await stat(file).catch(() => undefined);
  if (place && !place.isFile()) return write(file);
  const part = `${file}.${process.pid}.part`;
  try {
    await write(part);
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const MAX_NAME_CHARACTERS = 100;

/**
 * Returns a file name for a source. The name is readable and stable, and never refers to a path outside the folder. A
 * hash distinguishes sources that differ only in characters that are not allowed in file names.
 */
export function fileNameFor(source: string, extension: string): string {
  const readable = source
    .replace(/^[a-z][a-z0-9+.-]*:\/+/i, '')
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, MAX_NAME_CHARACTERS)
    .replace(/[-.]+$/, '');
  const mark = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return `${readable || 'page'}-${mark}.${extension}`;
}

export const fileExists = existsSync;

/** Returns the file extension for a result in these formats. */
export function extensionOf(formats: string | undefined, isJson: boolean): string {
  if (isJson) return 'json';
  const format = (formats ?? '').trim().toLowerCase();
  if (isPicture(format)) return 'png';
  return format === 'html' ? 'html' : format === 'text' ? 'txt' : 'md';
}

export const isPicture = (format: string | undefined): boolean => format === 'screenshot' || format === 'pageshot';
