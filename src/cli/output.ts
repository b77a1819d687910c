/** Where answers go: the standard output, a file, or a folder with a file for each. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';

/** Resolves when it is taken; also when nobody reads any more, which the process hears of elsewhere. */
export const write = (output: Writable, data: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    output.write(data, () => resolve());
  });

/**
 * Whole or not at all: whoever stops in the middle leaves no half of it. A link stays one, and a device or a pipe is written
 * to as it is.
 */
export const writeFileAtomically = (name: string, data: string | Uint8Array): Promise<void> =>
  writeAtomically(name, (file) => writeFile(file, data));

/** The same for what comes piece by piece: `write` is told where, and what stands there is put in its place at the end. */
export async function writeAtomically(name: string, write: (file: string) => Promise<void>): Promise<void> {
  const file = await realpath(name).catch(() => name);
  await mkdir(path.dirname(path.resolve(file)), { recursive: true });
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
 * The name of the file for what was read: readable, the same each time, never outside of its folder, and different for
 * addresses that differ in what names cannot show.
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

/** The ending of a file with an answer of these formats. */
export function extensionOf(formats: string | undefined, isJson: boolean): string {
  if (isJson) return 'json';
  const format = (formats ?? '').trim().toLowerCase();
  if (isPicture(format)) return 'png';
  return format === 'html' ? 'html' : format === 'text' ? 'txt' : 'md';
}

export const isPicture = (format: string | undefined): boolean => format === 'screenshot' || format === 'pageshot';
