/**
 * The home folder of a browser: one of its own, so that it neither finds nor leaves anything in that of the server's
 * user, such as a database of certificates. Only the user's fonts are in it, since pages are drawn with them.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where fontconfig looks below a home folder (fonts.conf(5)). */
const DATA = '.local/share';
const FONTS = '.fonts';

/** Makes the folder `home` in `folder`, and gives its path. Removing it leaves the fonts where they are. */
export function makeHome(folder: string): string {
  const home = path.join(folder, 'home');
  mkdirSync(path.join(home, DATA), { recursive: true, mode: 0o700 });
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), DATA);
  // A link may lead to nothing: then there are no such fonts.
  if (process.platform === 'linux') {
    symlinkSync(path.join(data, 'fonts'), path.join(home, DATA, 'fonts'));
    symlinkSync(path.join(os.homedir(), FONTS), path.join(home, FONTS));
  }
  return home;
}
