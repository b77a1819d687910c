/**
 * Builds the program from the current sources, as users install it, because starting from sources would spend seconds
 * on compiling. Each version of the sources has a separate folder, which later runs reuse.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { bundle, bundleClient } from '../../scripts/bundle.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILDS = path.join(ROOT, '.program');
/** Files and folders that the program expects next to itself. */
const BESIDE = ['package.json', 'assets', 'dist/playground', 'dist/docs'];
/** Old builds are removed after this time, which is longer than any test run takes. */
const MAX_AGE_MS = 3 * 3_600_000;

/** Returns the path of the program to start. Builds it if there is no build of these sources yet. */
export async function buildProgram(): Promise<string> {
  const folder = path.join(BUILDS, await digestOfSources());
  if (existsSync(folder)) await utimes(folder, new Date(), new Date());
  else await build(folder);
  await removeOld();
  return path.join(folder, 'dist/main.js');
}

/**
 * Builds into a temporary folder and renames it at the end, because other processes may build the same sources at the
 * same time.
 */
async function build(folder: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true });
  const unfinished = await mkdtemp(`${folder}.`);
  await mkdir(path.join(unfinished, 'dist'));
  for (const name of BESIDE) await symlink(path.join(ROOT, name), path.join(unfinished, name));
  await bundle(path.join(unfinished, 'dist'));
  await bundleClient(path.join(unfinished, 'dist'));
  await rename(unfinished, folder).catch(async (error: unknown) => {
    if (!existsSync(folder)) throw error;
    await rm(unfinished, { recursive: true });
  });
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    const folder = path.join(BUILDS, name);
    const stats = await stat(folder).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > MAX_AGE_MS) await rm(folder, { recursive: true, force: true });
  }
}

async function digestOfSources(): Promise<string> {
  const listed = await readdir(path.join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  const sources = listed
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(?:test|suite)\.ts$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256').update(process.platform + process.arch);
  const others = ['package.json', 'package-lock.json', 'scripts/bundle.mjs'].map((name) => path.join(ROOT, name));
  for (const file of [...others, ...sources]) hash.update(file).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}
