// Bundles src/ into a few files, because opening a thousand modules takes longer than reading a page. Modules loaded on
// demand stay in separate chunks. Packages loaded on demand stay in node_modules. Each entry point also gets a one-line
// file under its own name, such as `dist/main.js` or `dist/reader/worker.js`.
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { PACKAGES as DATA_PACKAGES } from './models-package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = path.join(root, 'src');

/** Modules that are started as processes or threads, or that are imported by other packages. */
export const ENTRIES = [
  'main',
  'flow/index',
  'flow/process/host',
  'concurrency/process-host',
  'documents/worker',
  'ocr/engines/pp-ocr/worker',
  'models/media/worker',
  'ocr/worker',
  'models/onnx/process',
  'models/onnx/thread',
  'reader/engines/browser/install',
  'reader/worker',
  'search/index/thread',
];
/** Packages that cannot be bundled, because they look for files next to their own or depend on class names. */
const EXTERNAL = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@napi-rs/canvas',
  '@photostructure/sqlite',
  'piscina',
  'proxy-chain',
  'sharp',
];
/**
 * Packages that are imported dynamically but bundled: one that every server loads, and one that holds many times more
 * than the four vocabularies in use. Of CommonJS packages, only the default export is retained.
 */
const BUNDLED = ['@fastify/compress', 'gpt-tokenizer'];
const isBundled = (name) => BUNDLED.some((bundled) => name === bundled || name.startsWith(`${bundled}/`));
const CHUNKS = 'chunks';
/** The folder of code that Node has compiled. */
const COMPILED = '.compiled';
/**
 * Files of a package that come along, because it holds many times more than is needed: the WebAssembly build of
 * onnxruntime. Binaries are compressed as `.br`.
 */
const FILES = [
  { from: 'onnxruntime-web', name: 'ort.wasm.bundle.min.mjs', to: 'onnx/ort.wasm.bundle.min.mjs' },
  { from: 'onnxruntime-web', name: 'ort-wasm-simd-threaded.wasm', to: 'onnx/ort-wasm-simd-threaded.wasm.br' },
];
/** Higher levels take many times longer for a few percent. */
const BROTLI_LEVEL = 6;
/** Parts of PDF.js: the build for all versions of Node, and what it loads from files. */
const PDF_JS = [
  'LICENSE',
  'cmaps',
  'iccs',
  'legacy/build/pdf.min.mjs',
  'legacy/build/pdf.worker.min.mjs',
  'standard_fonts',
  'wasm',
];
const BROTLI_OPTIONS = {
  params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL, [constants.BROTLI_PARAM_LGWIN]: 24 },
};

/** Options shared by all builds. */
const COMMON = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // A module with a character outside Latin-1 is kept in memory with two bytes for each character.
  charset: 'ascii',
  conditions: ['source'],
  legalComments: 'none',
  logLevel: 'warning',
  sourcemap: true,
  sourcesContent: false,
};

/**
 * Writes the bundle and the licenses of the bundled packages. `out` must be inside the project, because the program
 * finds its assets and pages by relative paths.
 */
export async function bundle(out) {
  const chunks = path.join(out, CHUNKS);
  for (const folder of [chunks, path.join(out, COMPILED)]) await rm(folder, { recursive: true, force: true });
  const { metafile, outputFiles } = await buildChunks(chunks);
  await mkdir(chunks, { recursive: true });
  for (const { path: file, text } of outputFiles) await writeFile(file, withRequire(text));
  for (const entry of ENTRIES) await writeEntry(out, entry, metafile);
  await copyFiles(out);
  await writeVocabulary(out);
  await writeFile(path.join(out, 'licences.txt'), await collectLicenses(Object.keys(metafile.inputs)));
}

const buildChunks = (outdir) =>
  build({
    ...COMMON,
    entryPoints: ENTRIES.map((entry) => ({ in: path.join(source, `${entry}.ts`), out: entry.replaceAll('/', '-') })),
    outdir,
    // Without spaces, the archive is 0.3 MB smaller. Node shows the line of an error that ends it, so lines stay short.
    minifyWhitespace: true,
    lineLimit: 160,
    splitting: true,
    chunkNames: '[name]-[hash]',
    external: EXTERNAL.flatMap((name) => [name, `${name}/*`]),
    plugins: [externalOnDemand, sourceUrls],
    metafile: true,
    write: false,
  });

/** Folders of the packages that the bundle contains, relative to the project. */
const foldersOf = (inputs) =>
  [...new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean))].sort();

/**
 * Returns the places in the lock file of the packages of which the built program, or `lectern-models`, contains code or
 * files.
 */
export async function bundledPackages() {
  const { metafile } = await buildChunks(path.join(root, 'dist', CHUNKS));
  const copied = [...FILES.map(({ from }) => from), 'pdfjs-dist', ...DATA_PACKAGES];
  const places = copied.map((name) => `node_modules/${name}`);
  return [...new Set([...foldersOf(Object.keys(metafile.inputs)), ...places])].sort();
}

/** Copies files of packages to where `src/onnx-runtime.ts` and `src/documents/pdf/` look for them. */
async function copyFiles(out) {
  for (const folder of ['onnx', 'pdfjs']) await rm(path.join(out, folder), { recursive: true, force: true });
  const require = createRequire(import.meta.url);
  for (const { from, name, to } of FILES) {
    const bytes = await readFile(path.join(path.dirname(require.resolve(from)), name));
    const target = path.join(out, to);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, to.endsWith('.br') ? brotliCompressSync(bytes, BROTLI_OPTIONS) : bytes);
  }
  const pdfJs = path.dirname(require.resolve('pdfjs-dist/package.json'));
  // Node always runs WebAssembly, so PDF.js never loads the builds for browsers without it.
  const filter = (name) => !name.endsWith('_nowasm_fallback.js');
  for (const part of PDF_JS)
    await cp(path.join(pdfJs, part), path.join(out, 'pdfjs', part), { recursive: true, filter });
}

/** Packs the vocabulary of `src/reader/tokens.ts`, so that it need not be parsed at each start. */
async function writeVocabulary(out) {
  const { outputFiles } = await build({
    ...COMMON,
    sourcemap: false,
    entryPoints: [path.join(source, 'reader/vocabulary.ts')],
    write: false,
  });
  const { packVocabulary } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const tiktoken = createRequire(import.meta.url).resolve('gpt-tokenizer/data/cl100k_base.tiktoken');
  await mkdir(path.join(out, 'reader'), { recursive: true });
  await writeFile(path.join(out, 'reader/cl100k_base.bin'), packVocabulary(await readFile(tiktoken, 'latin1')));
}

/** Bundles the client, which must also run outside Node. */
export async function bundleClient(out) {
  const client = path.join(out, 'client');
  await build({ ...COMMON, platform: 'neutral', entryPoints: [path.join(source, 'client/index.ts')], outdir: client });
}

/** Excludes dynamically imported packages from the bundle. */
const externalOnDemand = {
  name: 'external on demand',
  setup({ onResolve }) {
    onResolve({ filter: /^[@a-z]/ }, ({ kind, path: name, importer }) =>
      kind === 'dynamic-import' && !importer.includes('node_modules') && !isBundled(name)
        ? { path: name, external: true }
        : undefined,
    );
  },
};

/** Sets `import.meta.url` of each bundled module to the URL that its own file would have. */
const sourceUrls = {
  name: 'source urls',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path: file }) => {
      const place = path.relative(source, file).replaceAll(path.sep, '/').replace(/\.ts$/, '.js');
      const text = await readFile(file, 'utf8');
      const contents = text.replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`);
      return { contents, loader: 'ts' };
    });
  },
};

/** Defines `require` for bundled CommonJS packages that load Node modules with it. */
function withRequire(text) {
  if (!/var __require ?= ?/.test(text)) return text;
  // Inserted in the first line, so that the source map remains valid.
  return `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url); ${text}`;
}

/** Writes the one-line file by which an entry point is started. */
async function writeEntry(out, entry, { outputs }) {
  const chunk = `${CHUNKS}/${entry.replaceAll('/', '-')}.js`;
  const file = path.join(out, `${entry}.js`);
  const from = `./${path.posix.relative(path.posix.dirname(entry), chunk)}`;
  const { exports } = outputs[path.relative(root, path.join(out, chunk)).replaceAll(path.sep, '/')];
  const lines =
    entry === 'main'
      ? programLines(from, exports)
      : [`export * from '${from}';`, ...(exports.includes('default') ? [`export { default } from '${from}';`] : [])];
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o755 });
}

/**
 * The program checks the version of Node before it loads the rest, which an older Node could not even link. Node 22 and
 * later keep the compiled code in a folder beside the program, for its threads too; Node ignores a folder that it cannot
 * write. A server writes it once it has started, because it may be killed later.
 */
function programLines(from, exports) {
  const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number);
  return [
    '#!/usr/bin/env node',
    "import module from 'node:module';",
    "import { fileURLToPath } from 'node:url';",
    "const [major, minor] = process.versions.node.split('.').map(Number);",
    `if (major < ${major} || (major === ${major} && minor < ${minor})) {`,
    `  console.error('lectern: Node ${major}.${minor} or later is required; this is ' + process.versions.node);`,
    '  process.exit(1);',
    '}',
    `process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('./${COMPILED}', import.meta.url));`,
    'module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);',
    'setTimeout(() => module.flushCompileCache?.(), 5_000).unref();',
    `export const { ${exports.join(', ')} } = await import('${from}');`,
  ];
}

/** Collects the license texts of all bundled packages. `inputs` are paths relative to the project. */
export async function collectLicenses(inputs) {
  const require = createRequire(import.meta.url);
  const texts = [];
  for (const folder of foldersOf(inputs)) {
    const { name, version, license } = require(path.join(root, folder, 'package.json'));
    const files = (await readdir(path.join(root, folder))).filter((file) =>
      /^(?:licen[cs]e|notice|copying)/i.test(file),
    );
    const own = await Promise.all(files.sort().map((file) => readFile(path.join(root, folder, file), 'utf8')));
    texts.push([`${name} ${version} (${license})`, ...own.map((text) => text.trim())].join('\n\n'));
  }
  return `Packages that are part of the files in this folder.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

// `node scripts/bundle.mjs [folder]`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = path.resolve(root, process.argv[2] ?? 'dist');
  await bundle(out);
  await bundleClient(out);
}
