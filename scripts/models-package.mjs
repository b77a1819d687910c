// The package `lectern-models`, which holds files that seldom change. `npm run build` copies into it the WebAssembly build
// of Tesseract, and Tesseract's data of one language for each script (`src/ocr/combine/script.ts`). `contents.json` lists its files for one version: with
// `--write` (`npm run models:contents`), the list is renewed, which requires another version if a file changed.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../packages/models', import.meta.url));
const listFile = path.join(root, 'contents.json');
const FOLDERS = ['lectern-static-v2', 'tessdata', 'tesseract'];
/** Files that are copied, by package. Each of these packages holds many times more. */
const COPIES = [
  ...['eng', 'jpn', 'kor', 'ukr', 'bel', 'ell', 'ara'].map((language) => ({
    from: `@tesseract.js-data/${language}`,
    files: [`4.0.0_best_int/${language}.traineddata.gz`],
    to: 'tessdata',
  })),
  {
    from: 'tesseract.js-core',
    files: ['LICENSE', 'tesseract-core-simd-lstm.js', 'tesseract-core-simd-lstm.wasm'],
    to: 'tesseract',
  },
];
/** The packages whose files are copied. */
export const PACKAGES = COPIES.map(({ from }) => from);

function copyFiles() {
  const require = createRequire(import.meta.url);
  for (const { from, files, to } of COPIES) {
    const source = path.dirname(require.resolve(`${from}/package.json`));
    mkdirSync(path.join(root, to), { recursive: true });
    for (const file of files) copyFileSync(path.join(source, file), path.join(root, to, path.basename(file)));
  }
}

/** The version in package.json, and the SHA-256 of each file in its folders. */
export function contents() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
  const digest = (name) =>
    createHash('sha256')
      .update(readFileSync(path.join(root, name)))
      .digest('hex');
  return { version, files: Object.fromEntries(names.map((name) => [name, digest(name)])) };
}

/** Returns what is wrong with the recorded list; `undefined` if it agrees with the files. */
export function contentsProblem() {
  const recorded = existsSync(listFile) ? JSON.parse(readFileSync(listFile, 'utf8')) : { version: '', files: {} };
  const found = contents();
  const changed = JSON.stringify(recorded.files) !== JSON.stringify(found.files);
  if (changed && recorded.version === found.version)
    return 'files of packages/models changed: raise its version and the dependency in package.json, then npm run models:contents';
  if (changed || recorded.version !== found.version)
    return 'packages/models/contents.json is outdated: npm run models:contents';
  return undefined;
}

// `node scripts/models-package.mjs [--write]`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  copyFiles();
  const problem = contentsProblem();
  if (process.argv.includes('--write') && problem !== undefined) {
    if (problem.includes('raise its version')) {
      console.error(`models: ${problem}`);
      process.exit(1);
    }
    writeFileSync(listFile, `${JSON.stringify(contents(), undefined, 2)}\n`);
  }
}
