/** Bundles the source of a test process into one file: compiling its modules at each start takes seconds. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Within the project, so that packages are found. `program-build.ts` removes old files there.
const FOLDER = path.join(ROOT, '.program');

/** Returns the path of the bundle. Its `import.meta.url` is the bundle's own. */
export async function bundleProcess(source: string): Promise<string> {
  // Loaded here, since the bundles contain this module too.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    bundle: true,
    packages: 'external',
    conditions: ['source'],
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    write: false,
  });
  const [{ hash, contents }] = outputFiles as [(typeof outputFiles)[0]];
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, `${path.basename(source, '.ts')}-${hash.replace(/\W/g, '')}.mjs`);
  // Other test processes may be writing or starting the same file.
  const making = `${file}.${process.pid}`;
  await writeFile(making, contents);
  await rename(making, file);
  return file;
}
