/** Makes the browser that the set-up unpacked available in a data folder. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/** The data folder of the set-up. */
export const SETUP_DATA_DIR = path.resolve(
  process.env.LECTERN_DATA_DIR ?? path.join(import.meta.dirname, '../../.lectern'),
);

export function shareBrowser(dataDir: string): void {
  const unpacked = path.join(SETUP_DATA_DIR, 'browser');
  if (!existsSync(unpacked)) return;
  mkdirSync(dataDir, { recursive: true });
  symlinkSync(unpacked, path.join(dataDir, 'browser'));
}
