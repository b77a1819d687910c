/** Finds installed programs, as a shell does. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

export interface FindProgramOptions {
  readonly searchPath?: string | undefined;
  readonly platform?: NodeJS.Platform;
}

/** Paths at which a program may be: below each folder of PATH, or `name` itself if it is a path. */
export function programPaths(
  name: string,
  { searchPath = process.env.PATH, platform = process.platform }: FindProgramOptions = {},
): string[] {
  const isWindows = platform === 'win32';
  const { join, delimiter } = isWindows ? path.win32 : path.posix;
  const file = isWindows && !/\.(?:exe|com)$/i.test(name) ? `${name}.exe` : name;
  if (name.includes('/') || (isWindows && name.includes('\\'))) return [file];
  return (searchPath ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, file));
}

/** Path of the first of these programs that can be executed; `undefined` if there is none. */
export const findProgram = (...names: readonly string[]): string | undefined =>
  names.flatMap((name) => programPaths(name)).find(isExecutable);

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
