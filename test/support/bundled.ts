/**
 * Bundles the source of a test process into one file, because compiling its modules at each start would take seconds.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Inside the project folder, so that packages can be resolved. `program-build.ts` removes old files from it.
const FOLDER = path.join(ROOT, '.program');

/** Keeps the folder of each source, from which it may find other files. */
const SOURCE_FOLDERS: Plugin = {
  name: 'source-folders',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/](?:bench|test)[\\/].*\.ts$/ }, async ({ path: source }) => ({
      contents: (await readFile(source, 'utf8')).replaceAll(
        'import.meta.dirname',
        JSON.stringify(path.dirname(source)),
      ),
      loader: 'ts',
    })),
};

/**
 * Returns the path of the bundle. `import.meta.url` in the bundled code is the URL of the bundle; in benchmarks and
 * tests, `import.meta.dirname` is still the folder of the source.
 */
export async function bundleProcess(source: string): Promise<string> {
  // Imported lazily, because the bundles contain this module too.
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
    plugins: [SOURCE_FOLDERS],
  });
  const [{ hash, contents }] = outputFiles as [(typeof outputFiles)[0]];
  await mkdir(FOLDER, { recursive: true });
  const file = path.join(FOLDER, `${path.basename(source, '.ts')}-${hash.replace(/\W/g, '')}.mjs`);
  // Other test processes may be writing or starting the same file at this moment.
  const making = `${file}.${process.pid}`;
  await writeFile(making, contents);
  await rename(making, file);
  return file;
}
