/**
 * The program as users get it, made of the sources as they are: what starts from sources spends seconds on compiling. Each
 * state of the sources has a folder of its own, which is kept for the next run.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { bundle, bundleClient } from '../../scripts/bundle.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILDS = path.join(ROOT, '.program');
/** What the program looks for beside itself. */
const BESIDE = ['package.json', 'assets', 'dist/playground', 'dist/docs'];
/** Longer than a run of tests takes. */
const KEPT_MS = 3 * 3_600_000;

/** The path of the program to start, built when there is none of these sources. */
export async function buildProgram(): Promise<string> {
  const folder = path.join(BUILDS, await digestOfSources());
  if (existsSync(folder)) await utimes(folder, new Date(), new Date());
  else await build(folder);
  await removeOld();
  return path.join(folder, 'dist/main.js');
}

/** Whole or not there: others, in this process too, may be building the same. */
async function build(folder: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true });
  const making = await mkdtemp(`${folder}.`);
  await mkdir(path.join(making, 'dist'));
  for (const name of BESIDE) await symlink(path.join(ROOT, name), path.join(making, name));
  await bundle(path.join(making, 'dist'));
  await bundleClient(path.join(making, 'dist'));
  await rename(making, folder).catch(async (error: unknown) => {
    if (!existsSync(folder)) throw error;
    await rm(making, { recursive: true });
  });
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    const folder = path.join(BUILDS, name);
    const facts = await stat(folder).catch(() => undefined);
    if (facts && Date.now() - facts.mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true });
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
