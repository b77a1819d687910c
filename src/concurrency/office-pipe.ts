/**
 * The socket that LibreOffice creates for its profile, and leaves behind if it is killed. It is always in /tmp; its
 * name is derived from the URL of the profile (LibreOffice, desktop/source/app/officeipcthread.cxx).
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Path of the profile for a LibreOffice process that uses this folder. */
export const officeProfile = (folder: string): string => path.join(folder, 'profile');

/** Path of the socket of that process; undefined on systems without process owners (Windows). */
export function officePipe(folder: string): string | undefined {
  if (!process.getuid) return undefined;
  const profileUrl = pathToFileURL(officeProfile(folder)).href;
  const digest = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  // LibreOffice writes a byte below 16 as a single digit.
  const name = Array.from(digest, (byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid()}_SingleOfficeIPC_${name}`;
}

export async function removeOfficePipe(folder: string): Promise<void> {
  const pipe = officePipe(folder);
  if (pipe !== undefined) await rm(pipe, { force: true });
}
