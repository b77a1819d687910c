/**
 * The home folder of a browser. It is separate from the server user's home, so that the browser does not read or write
 * files there, such as the certificate database. It contains only links to the user's fonts, which pages need.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The folder in which fontconfig looks for fonts, relative to the home folder (fonts.conf(5)). */
const DATA = '.local/share';
const FONTS = '.fonts';

/** Creates the folder `home` in `folder` and returns its path. Removing the folder does not remove the fonts. */
export function createHomeFolder(folder: string): string {
  const home = path.join(folder, 'home');
  mkdirSync(path.join(home, DATA), { recursive: true, mode: 0o700 });
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), DATA);
  // If the link has no target, the user has no such fonts.
  if (process.platform === 'linux') {
    symlinkSync(path.join(data, 'fonts'), path.join(home, DATA, 'fonts'));
    symlinkSync(path.join(os.homedir(), FONTS), path.join(home, FONTS));
  }
  return home;
}
