/**
 * The socket that each LibreOffice makes beside its profile, and leaves behind when it is killed: whatever its folder for
 * temporary files is, in /tmp, under a name made of the address of the profile (desktop/source/app/officeipcthread.cxx).
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The profile of a LibreOffice that works in this folder. */
export const officeProfile = (folder: string): string => path.join(folder, 'profile');

/** Where the socket of a LibreOffice that works in this folder is; undefined where the system has none. */
export function officePipe(folder: string): string | undefined {
  if (!process.getuid) return undefined;
  const address = pathToFileURL(officeProfile(folder)).href;
  const digest = createHash('md5').update(Buffer.from(address, 'utf16le')).digest();
  // A byte below 16 is one digit there.
  const name = Array.from(digest, (byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid()}_SingleOfficeIPC_${name}`;
}

export async function removeOfficePipe(folder: string): Promise<void> {
  const pipe = officePipe(folder);
  if (pipe !== undefined) await rm(pipe, { force: true });
}
