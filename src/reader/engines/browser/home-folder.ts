/**
 * The home folder of a browser: a separate one, so that it neither reads nor writes the server user's home, such as its
 * certificate database. It contains only links to the user's fonts, which pages need.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where fontconfig looks below the home folder (fonts.conf(5)). */
const DATA = '.local/share';
const FONTS = '.fonts';

/** Creates the folder `home` in `folder` and returns its path. Removing it leaves the fonts in place. */
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
